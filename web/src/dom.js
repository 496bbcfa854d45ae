/* The only module that creates DOM nodes. Strings always become text nodes, because job data is untrusted. */

const SVG = "http://www.w3.org/2000/svg";

export function el(name, properties, ...children) {
  return fill(document.createElement(name), properties, children);
}

export function svg(name, properties, ...children) {
  return fill(document.createElementNS(SVG, name), properties, children);
}

/** Text from outside, such as job names: isolated from the page's text direction, with the full text as its tooltip. */
export function userText(value, properties) {
  const text = value === undefined || value === null || value === "" ? "–" : String(value);
  return el("bdi", { title: text.length > 24 ? text : null, ...properties }, text);
}

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(isPresent));
  return node;
}

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (isPresent(value)) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(isPresent));
  return node;
}

function isPresent(value) {
  return value !== null && value !== undefined && value !== false;
}
