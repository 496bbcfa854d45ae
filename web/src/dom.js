/* Nodes are made here and nowhere else, and text only ever becomes text: what the ledger holds was written by strangers. */

const SVG = "http://www.w3.org/2000/svg";

export function el(name, properties, ...children) {
  return fill(document.createElement(name), properties, children);
}

export function svg(name, properties, ...children) {
  return fill(document.createElementNS(SVG, name), properties, children);
}

/** Somebody else's words: kept apart from the direction of ours, and whole on hover where they are cut. */
export function words(value, properties) {
  const text = value === undefined || value === null || value === "" ? "–" : String(value);
  return el("bdi", { title: text.length > 24 ? text : null, ...properties }, text);
}

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(shown));
  return node;
}

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (shown(value)) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(shown));
  return node;
}

function shown(value) {
  return value !== null && value !== undefined && value !== false;
}
