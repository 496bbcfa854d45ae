/* Redraws what depends on the current time, once per second. */

const drawings = new Map();

/** Calls `draw` every second, until `node` is no longer on the page. */
export function everySecond(node, draw) {
  drawings.set(node, draw);
}

export function tick() {
  for (const [node, draw] of drawings) {
    if (node.isConnected) draw();
    else drawings.delete(node);
  }
}
