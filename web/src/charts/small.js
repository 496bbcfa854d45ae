/* Charts for table cells. */

import { el, svg } from "../dom.js";

const WIDTH = 120;
const HEIGHT = 24;

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

/** A horizontal bar for a share between 0 and 1, with a label. */
export function meter(share, text, kind = "accent") {
  const part = Math.max(0, Math.min(1, share || 0)) * 64;
  return el(
    "span",
    { class: "meter" },
    svg(
      "svg",
      { width: 64, height: 6, "aria-hidden": "true" },
      svg("rect", { class: "meter-whole", width: 64, height: 6, rx: 3 }),
      part > 0 && svg("rect", { class: `fill-${kind}`, width: Math.max(part, 3), height: 6, rx: 3 }),
    ),
    el("span", {}, text),
  );
}
