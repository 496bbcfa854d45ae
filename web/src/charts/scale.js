/* Linear scales, and round tick values for their axes. */

const TIME_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800,
];

export function scale(from, to, start, end) {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

/** Tick values from zero to just above the highest value. */
export function ticks(highest, { seconds = false, wanted = 3 } = {}) {
  if (!(highest > 0)) return [0, 1];
  const step = seconds && highest > 1 ? timeStep(highest / wanted) : roundStep(highest / wanted);
  const marks = [];
  for (let number = 0; number * step < highest + step; number += 1) marks.push(number * step);
  return marks;
}

function timeStep(rough) {
  return TIME_STEPS.find((step) => step >= rough) ?? Math.ceil(rough / 86_400) * 86_400;
}

function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
}
