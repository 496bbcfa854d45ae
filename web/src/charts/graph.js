/* A graph of packages from left to right: each stands right of all packages that it waits for. */

import { svg } from "../dom.js";

const WIDTH = 168;
const HEIGHT = 34;
const GAP_X = 56;
const GAP_Y = 14;
const LONGEST = 22;

/** `nodes`: {name, kind, dependsOn, title}. Names that `dependsOn` contains and `nodes` doesn't are ignored. */
export function graph(nodes, label) {
  const placed = place(nodes);
  const width = Math.max(...placed.map(({ x }) => x)) + WIDTH;
  const height = Math.max(...placed.map(({ y }) => y)) + HEIGHT;
  const at = new Map(placed.map((node) => [node.name, node]));
  const edges = placed.flatMap((node) => node.dependsOn.filter((name) => at.has(name)).map((name) => edge(at.get(name), node)));
  return svg(
    "svg",
    { class: "graph", viewBox: `-1 -1 ${width + 2} ${height + 2}`, width: width + 2, height: height + 2, role: "img", "aria-label": label },
    edges,
    placed.map(box),
  );
}

function place(nodes) {
  const depths = depthsOf(nodes);
  const rows = new Map();
  return nodes.map((node) => {
    const depth = depths.get(node.name);
    const row = rows.get(depth) ?? 0;
    rows.set(depth, row + 1);
    return { ...node, x: depth * (WIDTH + GAP_X), y: row * (HEIGHT + GAP_Y) };
  });
}

/** Repeats until nothing changes, at most once for each node, so a cycle in the data doesn't hang the page. */
function depthsOf(nodes) {
  const depths = new Map(nodes.map(({ name }) => [name, 0]));
  for (let round = 0; round < nodes.length; round += 1) {
    let changed = false;
    for (const { name, dependsOn } of nodes) {
      const known = dependsOn.filter((each) => depths.has(each) && each !== name);
      const depth = Math.max(0, ...known.map((each) => depths.get(each) + 1));
      if (depth > depths.get(name) && depth < nodes.length) {
        depths.set(name, depth);
        changed = true;
      }
    }
    if (!changed) break;
  }
  return depths;
}

function box({ name, kind, title, x, y }) {
  const text = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
  return svg(
    "g",
    { class: `graph-node kind-${kind}`, transform: `translate(${x} ${y})` },
    svg("title", {}, title),
    svg("rect", { width: WIDTH, height: HEIGHT, rx: 6 }),
    svg("circle", { cx: 14, cy: HEIGHT / 2, r: 4 }),
    svg("text", { x: 26, y: HEIGHT / 2, "dominant-baseline": "central" }, text),
  );
}

function edge(from, to) {
  const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const middle = (x1 + x2) / 2;
  return svg("path", { class: "graph-edge", d: `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` });
}
