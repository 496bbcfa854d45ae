/* A time series as lines or stacked bars, with a crosshair that follows the pointer and the arrow keys. */

import { el, replace, svg, userText } from "../dom.js";
import { scale, ticks } from "./scale.js";

const HEIGHT = 168;
const MARGIN = { top: 8, right: 8, bottom: 20, left: 52 };

/**
 * `series`: [{name, kind, values}], with one value per entry of `starts`, or null for no data.
 * `note(index)` returns a remark about `starts[index]`, or null. Hours and days begin in UTC.
 */
export function overTime({
  label,
  starts,
  series,
  format,
  seconds = false,
  shape = "line",
  axis = format,
  bucket = "hour",
  note = () => null,
}) {
  const drawing = el("div", { class: "drawing" });
  const reading = el("div", { class: "reading", hidden: true });
  const plot = { starts, series, format, axis, seconds, shape, bucket, note, drawing, reading, at: null };
  const chart = el(
    "div",
    { class: "chart", tabindex: "0", role: "group", "aria-label": `${label}. Use the arrow keys to read the values.` },
    el("p", { class: "chart-title" }, el("span", {}, label, el("small", {}, " UTC")), legend(series)),
    drawing,
    reading,
    asTable(label, plot),
  );
  new ResizeObserver(() => draw(plot)).observe(drawing);
  drawing.addEventListener("pointermove", (event) => read(plot, nearest(plot, event.offsetX)));
  drawing.addEventListener("pointerleave", () => read(plot, null));
  chart.addEventListener("blur", () => read(plot, null));
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    read(plot, Math.max(0, Math.min(starts.length - 1, (plot.at ?? (step > 0 ? -1 : starts.length)) + step)));
  });
  return chart;
}

function draw(plot) {
  const width = plot.drawing.clientWidth;
  if (!width) return;
  const bars = plot.shape === "bars";
  const highest = Math.max(0, ...plot.starts.map((_, at) => high(plot, at)));
  const marks = ticks(highest, { seconds: plot.seconds });
  const slot = (width - MARGIN.left - MARGIN.right) / plot.starts.length;
  plot.x = (at) => MARGIN.left + slot * (at + 0.5);
  plot.y = scale(0, marks.at(-1), HEIGHT - MARGIN.bottom, MARGIN.top);
  plot.slot = slot;
  plot.cross = svg("line", { class: "cross", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom, visibility: "hidden" });
  replace(
    plot.drawing,
    svg(
      "svg",
      { width, height: HEIGHT, "aria-hidden": "true" },
      marks.map((mark) => rule(plot, mark, width)),
      dates(plot, width),
      bars ? plot.starts.map((_, at) => stack(plot, at)) : plot.series.map((each) => line(plot, each)),
      plot.cross,
    ),
  );
}

function high(plot, at) {
  const values = plot.series.map((each) => each.values[at] ?? 0);
  return plot.shape === "bars" ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
}

function rule(plot, mark, width) {
  const y = Math.round(plot.y(mark)) + 0.5;
  return [
    svg("line", { class: "rule", x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }),
    svg("text", { class: "axis", x: MARGIN.left - 8, y: y + 4, "text-anchor": "end" }, plot.axis(mark)),
  ];
}

function dates(plot, width) {
  const every = Math.ceil(plot.starts.length / Math.max(2, Math.floor((width - MARGIN.left) / 84)));
  return plot.starts.map((start, at) =>
    at % every === 0 && plot.x(at) < width - 24
      ? svg(
          "text",
          { class: "axis", x: plot.x(at), y: HEIGHT - 4, "text-anchor": "middle" },
          moment(start, plot.bucket),
        )
      : null,
  );
}

function line(plot, { kind, values }) {
  let path = "";
  let pen = "M";
  for (const [at, value] of values.entries()) {
    if (!Number.isFinite(value)) {
      pen = "M";
      continue;
    }
    path += `${pen}${plot.x(at).toFixed(1)} ${plot.y(value).toFixed(1)}`;
    pen = "L";
  }
  const alone = values.map((value, at) =>
    Number.isFinite(value) && !Number.isFinite(values[at - 1]) && !Number.isFinite(values[at + 1])
      ? svg("circle", { class: `dot stroke-${kind}`, cx: plot.x(at), cy: plot.y(value), r: 2 })
      : null,
  );
  return [svg("path", { class: `line stroke-${kind}`, d: path }), alone];
}

function stack(plot, at) {
  const width = Math.max(2, Math.min(22, plot.slot * 0.68));
  let below = 0;
  return plot.series.map(({ kind, values }) => {
    const value = values[at] ?? 0;
    const top = plot.y(below + value);
    const height = plot.y(below) - top;
    below += value;
    return value > 0
      ? svg("rect", {
          class: `fill-${kind}`,
          x: plot.x(at) - width / 2,
          y: top,
          width,
          height: Math.max(height, 1),
          rx: 1,
        })
      : null;
  });
}

function nearest(plot, x) {
  return Math.max(0, Math.min(plot.starts.length - 1, Math.floor((x - MARGIN.left) / plot.slot)));
}

function read(plot, at) {
  plot.at = at;
  plot.reading.hidden = at === null || !plot.cross;
  plot.cross?.setAttribute("visibility", plot.reading.hidden ? "hidden" : "visible");
  if (plot.reading.hidden) return;
  const x = plot.x(at);
  plot.cross.setAttribute("x1", x);
  plot.cross.setAttribute("x2", x);
  plot.reading.classList.toggle("on-left", x > plot.drawing.clientWidth / 2);
  replace(
    plot.reading,
    el("strong", {}, moment(plot.starts[at], plot.bucket, true)),
    plot.series.map(({ name, kind, values }) =>
      el(
        "span",
        {},
        el("i", { class: `swatch swatch-${kind}` }),
        `${name} `,
        el("b", {}, formatted(plot.format, values[at])),
      ),
    ),
    plot.note(at) && el("span", {}, plot.note(at)),
  );
}

function legend(series) {
  if (series.length < 2) return null;
  return el(
    "span",
    { class: "legend" },
    series.map(({ name, kind }) => el("span", {}, el("i", { class: `swatch swatch-${kind}` }), name)),
  );
}

function asTable(label, { starts, series, format, bucket, note }) {
  const head = ["Time", ...series.map(({ name }) => name)].map((text) => el("th", { scope: "col" }, text));
  const rows = starts.map((start, at) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, moment(start, bucket, true)),
      series.map(({ values }, number) =>
        el("td", {}, formatted(format, values[at]), number === 0 && note(at) && `, ${note(at)}`),
      ),
    ),
  );
  const table = el("table", {}, el("caption", {}, label), el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
  return el("div", { class: "visually-hidden" }, table);
}

function formatted(format, value) {
  return Number.isFinite(value) ? format(value) : userText("–");
}

function moment(start, bucket, whole = false) {
  const date = new Date(start);
  const day = { day: "numeric", month: "short", timeZone: "UTC" };
  const hour = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" };
  const text = date.toLocaleString(undefined, bucket === "day" ? day : whole ? { ...day, ...hour } : hour);
  return whole ? `${text} UTC` : text;
}
