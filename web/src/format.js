/* Formats numbers with their units, and times in the user's time zone. */

import { el } from "./dom.js";
import { everySecond } from "./ticker.js";

const NOTHING = "–";
const DAY = 86_400;

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const calendar = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

export function duration(elapsed) {
  if (!Number.isFinite(elapsed)) return NOTHING;
  if (elapsed < 0) return `−${duration(-elapsed)}`;
  if (elapsed > 0 && elapsed < 1) return `${Math.round(elapsed * 1000)} ms`;
  const whole = Math.round(elapsed);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return two(whole, 60, "m", 1, "s");
  if (whole < DAY) return two(whole, 3600, "h", 60, "m");
  return two(whole, DAY, "d", 3600, "h");
}

function two(whole, large, largeUnit, small, smallUnit) {
  const rest = Math.floor((whole % large) / small);
  return `${Math.floor(whole / large)} ${largeUnit}${rest ? ` ${rest} ${smallUnit}` : ""}`;
}

export function dollars(amount) {
  if (!Number.isFinite(amount)) return NOTHING;
  if (amount === 0) return "$0";
  if (amount < 0) return `−${dollars(-amount)}`;
  const digits = amount < 0.1 ? 4 : amount < 1000 ? 2 : 0;
  return `$${amount.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** Machine time without a price, which no cost includes; null if there is none. */
export function unpriced(elapsed) {
  return elapsed > 0 ? `${duration(elapsed)} unpriced` : null;
}

/** For axis labels, which are round numbers. */
export function roundDollars(amount) {
  return `$${amount.toLocaleString("en-US", { maximumFractionDigits: 4 })}`;
}

export function percent(share) {
  if (!Number.isFinite(share)) return NOTHING;
  const value = share * 100;
  return `${value > 0 && value < 10 ? value.toFixed(1) : value >= 99 && value < 100 ? value.toFixed(1) : Math.round(value)} %`;
}

export function count(number) {
  return Number.isFinite(number) ? number.toLocaleString("en-US") : NOTHING;
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Errors of receivers are fragments, such as "the connection was refused". */
export function sentence(text) {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

export function seconds(from, until) {
  return from && until ? (Date.parse(until) - Date.parse(from)) / 1000 : NaN;
}

export function local(moment) {
  const date = new Date(moment);
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : calendar.format(date);
}

/** Local time, with UTC as its tooltip. */
export function time(moment) {
  if (!moment) return NOTHING;
  return el("time", { datetime: moment, title: utc(moment) }, local(moment));
}

/** Time since a moment; it ticks while the page is open. */
export function age(moment) {
  if (!moment) return NOTHING;
  const node = el("time", { datetime: moment, title: `${local(moment)} (${utc(moment)})` }, ago(moment));
  return ticking(node, () => ago(moment));
}

/** How long something has lasted, such as "3 h"; it ticks while the page is open. */
export function lasting(since) {
  if (!since) return NOTHING;
  const passed = () => coarse((Date.now() - Date.parse(since)) / 1000);
  return ticking(el("time", { datetime: since, title: `since ${local(since)} (${utc(since)})` }, passed()), passed);
}

/** A duration that ends now, or another figure; it ticks while the page is open. `compute` returns a number. */
export function running(compute, format = duration) {
  return ticking(el("span", {}, format(compute())), () => format(compute()));
}

function ticking(node, text) {
  everySecond(node, () => {
    if (node.textContent !== text()) node.textContent = text();
  });
  return node;
}

/** The user's time zone, such as "Europe/Berlin (GMT+1)". */
export function zone() {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "shortOffset" }).formatToParts(new Date());
  const offset = parts.find(({ type }) => type === "timeZoneName").value;
  return timeZone === "UTC" ? timeZone : `${timeZone} (${offset})`;
}

export function ago(moment) {
  const passed = (Date.now() - Date.parse(moment)) / 1000;
  return passed < 5 ? "just now" : `${coarse(passed)} ago`;
}

function coarse(passed) {
  for (const [unit, size] of [
    ["d", DAY],
    ["h", 3600],
    ["m", 60],
  ]) {
    if (passed >= size) return `${Math.floor(passed / size)} ${unit}`;
  }
  return `${Math.floor(passed)} s`;
}

function utc(moment) {
  return `${moment.slice(0, 10)} ${moment.slice(11, 19)} UTC`;
}
