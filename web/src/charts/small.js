/* Charts for table cells. */

import { el, svg } from "../dom.js";

const WIDTH = 120;
const HEIGHT = 24;
const METER = 64;

export function sparkline(values, label) {
  const highest = Math.max(1e-9, ...values.filter(Number.isFinite));
  const slot = WIDTH / Math.max(values.length, 1);
  const bars = values.map((value, at) => {
    const height = Number.isFinite(value) && value > 0 ? Math.max(1.5, (value / highest) * HEIGHT) : 0;
    return height
      ? svg("rect", { x: at * slot, y: HEIGHT - height, width: Math.max(1, slot - 1), height, rx: 0.5 })
      : null;
  });
  return svg(
    "svg",
    {
      class: "spark",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      width: WIDTH,
      height: HEIGHT,
      role: "img",
      "aria-label": label,
    },
    bars,
  );
}

/** A horizontal bar for a share between 0 and 1, with a label. `failed` is the part of the share that has failed. */
export function meter(share, text, kind = "accent", failed = 0) {
  const part = Math.max(0, Math.min(1, share || 0)) * METER;
  const bad = Math.min(part, (failed || 0) * METER);
  return el(
    "span",
    { class: "meter" },
    svg(
      "svg",
      { width: METER, height: 6, "aria-hidden": "true" },
      svg("rect", { class: "meter-whole", width: METER, height: 6, rx: 3 }),
      part > 0 && svg("rect", { class: `fill-${kind}`, width: Math.max(part, 3), height: 6, rx: 3 }),
      bad > 0 && svg("rect", { class: "fill-failure", x: part - bad, width: bad, height: 6, rx: 3 }),
    ),
    el("span", {}, text),
  );
}
