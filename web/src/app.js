/* The page: signs the user in, loads their account, and shows the view that the URL names. */

import * as address from "./address.js";
import * as api from "./api.js";
import { el, replace } from "./dom.js";
import { Freshness } from "./freshness.js";
import { defaultInstallation, isKnown } from "./installations.js";
import { failure, loading } from "./parts/states.js";
import * as positions from "./positions.js";
import * as session from "./session.js";
import { shell } from "./shell.js";
import { tick } from "./ticker.js";
import { branch } from "./views/branch.js";
import { build } from "./views/build.js";
import { environment } from "./views/environment.js";
import { environments } from "./views/environments.js";
import { heads } from "./views/heads.js";
import { job } from "./views/job.js";
import { jobs } from "./views/jobs.js";
import { lookup } from "./views/lookup.js";
import { message } from "./views/message.js";
import { notifications } from "./views/notifications.js";
import { emptyLedger, unknownInstallation, unknownView } from "./views/empty_ledger.js";
import { overview } from "./views/overview.js";
import { packages } from "./views/packages.js";
import { pass } from "./views/pass.js";
import { pools } from "./views/pools.js";
import { reconciler } from "./views/reconciler.js";
import { release } from "./views/release.js";
import { releases } from "./views/releases.js";
import { repositories } from "./views/repositories.js";
import { repository } from "./views/repository.js";
import { run } from "./views/run.js";
import { signIn } from "./views/sign_in.js";
import { subscription } from "./views/subscription.js";

const VIEWS = {
  overview, jobs, job, run, lookup, repositories, repository, pools, reconciler, pass, notifications, subscription, message,
  heads, branch, environments, environment, releases, release, build, packages,
};

// Installations that the list didn't have even after it was loaded again.
const missing = new Set();
let account = null;
let leaving = new AbortController();

async function start() {
  if (!session.token()) return showSignIn();
  if (!document.querySelector("main")) showLoading();
  try {
    const [me, { items }] = await Promise.all([api.get("v1/me"), api.get("v1/installations")]);
    account = { me, installations: items };
    return show();
  } catch (error) {
    if (session.token()) showFailure(error);
    return null;
  }
}

/** A reloaded page: the sign-in form stays while it is sent, and a view while its installation is looked for. */
function showLoading() {
  replace(document.body, el("main", { class: "sign-in" }, el("div", { class: "box" }, el("h1", {}, "Runledger"), loading())));
}

/** Neither the account nor its installations are known, so there is no view to go to. */
function showFailure(error) {
  document.title = "Error · Runledger";
  const signOut = () => window.dispatchEvent(new Event("runledger:sign-out"));
  replace(
    document.body,
    el(
      "main",
      { class: "sign-in" },
      el(
        "div",
        { class: "box" },
        el("h1", {}, "Runledger"),
        failure(error, start),
        el("button", { type: "button", class: "plain", click: signOut }, "Sign out"),
      ),
    ),
  );
}

function showSignIn(reason) {
  leave();
  account = null;
  document.title = "Sign in · Runledger";
  replace(document.body, signIn({ message: reason, done: start }));
}

function show() {
  if (!account) return;
  const at = address.read();
  const chosen = at.installation || defaultInstallation(account.installations);
  if (chosen && !at.view) {
    address.redirect(address.link(chosen, "overview"));
    return;
  }
  const known = isKnown(account.installations, chosen);
  if (chosen && !known && !missing.has(chosen)) {
    loadInstallations(chosen);
    return;
  }
  leave();
  const context = {
    ...account,
    ...at,
    installation: chosen,
    home: known ? chosen : defaultInstallation(account.installations),
    signal: leaving.signal,
    freshness: new Freshness(leaving.signal),
    onInstallations,
  };
  const view = choose(context);
  const title = view.title(context);
  document.title = `${title} · Runledger`;
  const before = document.querySelector("main")?.dataset.view;
  const focused = document.activeElement?.id;
  positions.leave();
  replace(document.body, shell(context, view, title));
  goTo(document.getElementById("main"), { focused, before, at, signal: leaving.signal });
}

/** A new view gets the focus, so that the keyboard and screen readers continue there. */
function goTo(main, { focused, before, at, signal }) {
  const position = positions.arrive();
  if (position) positions.restore(main, position, signal);
  else if (before === at.view) document.getElementById(focused)?.focus({ preventScroll: true });
  else {
    window.scrollTo(0, 0);
    if (before) main.focus({ preventScroll: true });
  }
}

function choose(context) {
  if (!context.home) return emptyLedger;
  if (context.home !== context.installation) return unknownInstallation;
  const view = VIEWS[context.view] ?? unknownView;
  return view.isComplete?.(context) === false ? unknownView : view;
}

/** An installation that isn't in the list may be newer than the list. */
async function loadInstallations(wanted) {
  missing.add(wanted);
  document.querySelector("main")?.setAttribute("aria-busy", "true");
  try {
    const { items } = await api.get("v1/installations");
    account = { ...account, installations: items };
  } catch {
    // The view shows what is wrong.
  }
  show();
}

/** The first installations of an empty ledger. A link to one of them stays; any other leads to an overview. */
function onInstallations(items) {
  account = { ...account, installations: items };
  if (isKnown(items, address.read().installation)) show();
  else address.redirect(address.link(defaultInstallation(items), "overview"));
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
