/* A dialog with a generated secret, which the API returns once. */

import { el, replace } from "../dom.js";

/** Resolves when the user closes it. */
export function showSecret(secret) {
  return new Promise((resolve) => {
    const copied = el("p", { class: "hint", role: "status" });
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(secret);
        replace(copied, "Copied");
      } catch {
        replace(copied, "Select the text and copy it");
      }
    };
    const done = el("button", { type: "button", class: "primary", click: () => close() }, "Done");
    const dialog = el(
      "dialog",
      { "aria-labelledby": "secret-title", close: () => close() },
      el("h2", { id: "secret-title" }, "Copy the signing secret"),
      el("p", {}, "Your receiver verifies messages with it. It is shown this once and can't be read later."),
      el("p", { class: "secret" }, el("code", { class: "address", id: "secret" }, secret)),
      copied,
      el("div", { class: "buttons" }, el("button", { type: "button", click: copy }, "Copy"), done),
    );

    function close() {
      dialog.remove();
      resolve();
    }

    document.body.append(dialog);
    dialog.showModal();
    done.focus();
  });
}
