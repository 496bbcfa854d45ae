/* The sign-in form. */

import { el } from "../dom.js";
import * as session from "../session.js";

export function signIn({ message, done }) {
  const input = el("input", {
    id: "token",
    type: "password",
    name: "token",
    required: true,
    autocomplete: "current-password",
    spellcheck: "false",
    "aria-describedby": "token-help",
  });
  const button = el("button", { type: "submit", class: "primary" }, "Sign in");
  const attempt = (event) => {
    event.preventDefault();
    button.disabled = true;
    session.begin(input.value.trim());
    done();
  };
  queueMicrotask(() => input.focus());
  return el(
    "main",
    { class: "sign-in" },
    el(
      "form",
      { submit: attempt },
      el("span", { class: "logo", "aria-hidden": "true" }),
      el("h1", {}, "Runledger"),
      el("p", {}, "The state and history of every GitHub Actions job."),
      el("label", { for: "token" }, "Access token"),
      input,
      message && el("p", { class: "problem", role: "alert" }, message),
      button,
      el(
        "p",
        { id: "token-help", class: "hint" },
        "Ask your Runledger operator for a token. It is kept until you close this tab.",
      ),
    ),
  );
}
