/* Asks before anything is changed. */

import { el, replace } from "../dom.js";

/** Resolves to what `act` answered, or to nothing when the reader thought better of it. An error keeps the question open. */
export function confirm({ title, body, verb, act }) {
  return new Promise((resolve) => {
    const said = el("p", { class: "problem", role: "alert" });
    const yes = el("button", { type: "button", class: "danger", click: doIt }, verb);
    const no = el("button", { type: "button", click: () => close() }, "Cancel");
    const heading = el("h2", { id: "confirm-title" }, title);
    const dialog = el(
      "dialog",
      { "aria-labelledby": "confirm-title", close: () => close() },
      heading,
      body,
      said,
      el("div", { class: "buttons" }, no, yes),
    );

    async function doIt() {
      yes.disabled = true;
      try {
        close(await act());
      } catch (error) {
        replace(said, error.message);
        yes.disabled = false;
      }
    }

    function close(answer) {
      dialog.remove();
      resolve(answer);
    }

    document.body.append(dialog);
    dialog.showModal();
    no.focus();
  });
}
