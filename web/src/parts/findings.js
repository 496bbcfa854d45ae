/* A finding of a pass as text, with links to the jobs, runs, runners and installations that it names. */

import { link } from "../address.js";
import { el, userText } from "../dom.js";
import { time } from "../format.js";
import { shortRunner } from "./runner.js";

const WORDS = {
  job_completed: "its job has completed",
  no_job: "it has no job",
  never_registered: "it never registered with GitHub",
  instance_gone: "its machine is gone",
  instance_stopped: "its machine is stopped",
  in_progress: "in progress",
};
const NAMED = new RegExp(
  [
    String.raw`\bjob (?<job>\d+)(?: of installation (?<of>\d+))?`,
    String.raw`\brun (?<run>\d+)`,
    String.raw`\brunner (?<runner>i-\w+|arn:\S*[^\s:;,])`,
    String.raw`\binstallation (?<installation>\d+)`,
    String.raw`(?<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z)`,
    String.raw`\b(?<word>${Object.keys(WORDS).join("|")})\b`,
  ].join("|"),
  "g",
);

export function finding(text, context) {
  const nodes = [];
  let end = 0;
  for (const match of String(text).matchAll(NAMED)) {
    nodes.push(plain(text.slice(end, match.index)), part(match, context));
    end = match.index + match[0].length;
  }
  return [...nodes, plain(text.slice(end))];
}

/** Shown among the orphans, if it still is one. */
export function runnerLink(id, { installation }) {
  const href = link(installation, "reconciler", undefined, { runner: id });
  return el("a", { href }, userText(shortRunner(id), { title: id }));
}

function part({ 0: text, groups }, context) {
  const { installation } = context;
  if (groups.job && groups.of) return to(text, link(groups.of, "job", groups.job));
  // A finding doesn't name the installation of a job or run, so it is searched for.
  if (groups.job || groups.run) return to(text, link(installation, "lookup", undefined, { q: text }));
  if (groups.runner) return ["runner ", runnerLink(groups.runner, context)];
  if (groups.installation) return to(text, link(groups.installation, "overview"));
  return groups.time ? time(groups.time) : WORDS[groups.word];
}

function to(text, href) {
  return el("a", { href }, text);
}

/** May contain names from outside, such as that of a repository. */
function plain(text) {
  return text && userText(text, { title: null });
}
