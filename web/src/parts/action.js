/* A button that runs an action at once, and shows its error beside itself. */

import { el, replace } from "../dom.js";

/** `act` returns a promise; `done` gets its result. */
export function action({ id, text, label, act, done, kind }) {
  const problem = el("small", { class: "problem", role: "alert" });
  const button = el("button", { type: "button", id, class: kind, "aria-label": label, click: run }, text);

  async function run() {
    button.disabled = true;
    replace(problem);
    try {
      done(await act());
    } catch (error) {
      replace(problem, error.message);
    }
    button.disabled = false;
  }

  return el("span", { class: "action" }, button, problem);
}
