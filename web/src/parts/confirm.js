/* Confirmation dialog for actions. */

import { el, replace } from "../dom.js";

/** Resolves to the result of `act`, or to undefined if the user cancels. An error is shown in the dialog. */
export function confirm({ title, body, verb, act, kind = "danger" }) {
  return new Promise((resolve) => {
    const message = el("p", { class: "problem", role: "alert" });
    const confirmButton = el("button", { type: "button", class: kind, click: run }, verb);
    const cancelButton = el("button", { type: "button", click: () => close() }, "Cancel");
    const heading = el("h2", { id: "confirm-title" }, title);
    const dialog = el(
      "dialog",
      { "aria-labelledby": "confirm-title", close: () => close() },
      heading,
      body,
      message,
      el("div", { class: "buttons" }, cancelButton, confirmButton),
    );

    async function run() {
      confirmButton.disabled = true;
      try {
        close(await act());
      } catch (error) {
        replace(message, error.message);
        confirmButton.disabled = false;
      }
    }

    function close(result) {
      dialog.remove();
      resolve(result);
    }

    document.body.append(dialog);
    dialog.showModal();
    (dialog.querySelector("input, textarea") ?? cancelButton).focus();
  });
}
