/* Labelled fields of forms. */

import { el } from "../dom.js";

/** `properties` are attributes of the input; with `options` (pairs of a value and a text) it is a list of choices. */
export function field({ label, hint, options, value, lines, ...properties }) {
  const id = `field-${properties.name}`;
  const common = { id, ...properties, "aria-describedby": hint ? `${id}-hint` : null };
  return el(
    "div",
    { class: "field" },
    el("label", { for: id }, label),
    options ? choice(common, options, value) : entry(common, value, lines),
    hint && el("p", { id: `${id}-hint`, class: "hint" }, hint),
  );
}

export function checkbox({ label, value, checked, name, id }) {
  return el("label", { class: "check" }, el("input", { type: "checkbox", id, name, value, checked }), el("span", {}, label));
}

export function group(legend, ...fields) {
  return el("fieldset", {}, el("legend", {}, legend), fields);
}

/** An error of the API with the labels of the fields instead of the names of parameters. `labels` has those of other parts of it. */
export function messageOf({ message, errors = [] }, form, labels = {}) {
  const texts = errors.map(({ parameter, problem }) => {
    const name = String(parameter).split(".").at(-1);
    const label = form.querySelector(`label[for="${CSS.escape(`field-${name}`)}"]`);
    return `${label?.textContent ?? labels[name] ?? parameter} ${problem}.`;
  });
  return texts.length ? texts.join(" ") : message;
}

function entry(properties, value, lines) {
  if (lines) return el("textarea", { rows: lines, spellcheck: "false", ...properties }, value ?? "");
  return el("input", { value, autocomplete: "off", spellcheck: "false", ...properties });
}

function choice(properties, options, value) {
  return el(
    "select",
    properties,
    options.map(([key, text]) => el("option", { value: key, selected: String(value ?? "") === String(key) }, text)),
  );
}
