/* The page: signs the user in, loads their account, and shows the view that the URL names. */

import * as address from "./address.js";
import * as api from "./api.js";
import { replace } from "./dom.js";
import { Freshness } from "./freshness.js";
import { failure } from "./parts/states.js";
import * as session from "./session.js";
import { shell } from "./shell.js";
import { tick } from "./ticker.js";
import { job } from "./views/job.js";
import { jobs } from "./views/jobs.js";
import { lookup } from "./views/lookup.js";
import { emptyLedger, unknownView } from "./views/empty_ledger.js";
import { overview } from "./views/overview.js";
import { pass } from "./views/pass.js";
import { pools } from "./views/pools.js";
import { reconciler } from "./views/reconciler.js";
import { repositories } from "./views/repositories.js";
import { repository } from "./views/repository.js";
import { run } from "./views/run.js";
import { signIn } from "./views/sign_in.js";

const VIEWS = { overview, jobs, job, run, lookup, repositories, repository, pools, reconciler, pass };

let account = null;
let leaving = new AbortController();

async function start() {
  if (!session.token()) return showSignIn();
  try {
    const [me, { items }] = await Promise.all([api.get("v1/me"), api.get("v1/installations")]);
    account = { me, installations: items };
    return show();
  } catch (error) {
    if (session.token()) replace(document.body, failure(error, start));
    return null;
  }
}

function showSignIn(message) {
  leave();
  account = null;
  document.title = "Sign in · Runledger";
  replace(document.body, signIn({ message, done: start }));
}

function show() {
  if (!account) return;
  const at = address.read();
  const chosen = at.installation || String(defaultInstallation(account.installations)?.installation_id ?? "");
  if (chosen && !at.view) {
    address.redirect(address.link(chosen, "overview"));
    return;
  }
  leave();
  const view = chosen ? (VIEWS[at.view] ?? unknownView) : emptyLedger;
  const context = {
    ...account,
    ...at,
    installation: chosen,
    signal: leaving.signal,
    freshness: new Freshness(leaving.signal),
  };
  const title = view.title(context);
  document.title = `${title} · Runledger`;
  const sameView = document.querySelector("main")?.dataset.view === at.view;
  const focused = document.activeElement?.id;
  replace(document.body, shell(context, view, title));
  if (sameView) document.getElementById(focused)?.focus({ preventScroll: true });
  else window.scrollTo(0, 0);
}

/** The default installation is an App's, if there is one. */
function defaultInstallation(installations) {
  return installations.find((each) => each.installation_id && each.status !== "deleted") ?? installations[0];
}

/** Cancels the requests of the previous view. */
function leave() {
  leaving.abort();
  leaving = new AbortController();
}

window.addEventListener("hashchange", show);
window.addEventListener("runledger:signed-out", () =>
  showSignIn("This token isn't valid. Sign in again."),
);
window.addEventListener("runledger:sign-out", () => {
  session.end();
  showSignIn();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea, dialog"))
    return;
  event.preventDefault();
  document.getElementById("search")?.focus();
});
setInterval(tick, 1000);
start();
