/* Client of the HTTP API, relative to the URL of the page. */

import * as session from "./session.js";

const TIMEOUT_MS = 35_000;

/** An error of the API, with a message to show to the user. */
export class Problem extends Error {
  /** `errors` name the parameters that aren't valid. */
  constructor(status, title, detail, errors = []) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.errors = errors;
  }
}

export function get(path, query, signal) {
  return call("GET", path, { query, signal });
}

export function post(path, body) {
  return call("POST", path, { body });
}

export function patch(path, body) {
  return call("PATCH", path, { body });
}

export function remove(path) {
  return call("DELETE", path);
}

export function of(installation, ...rest) {
  return ["v1/installations", installation, ...rest]
    .map((part, at) => (at ? encodeURIComponent(part) : part))
    .join("/");
}

async function call(method, path, { query, body, signal } = {}) {
  const address = new URL(path, document.baseURI);
  address.hash = "";
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") address.searchParams.set(name, value);
  }
  const headers = { Authorization: `Bearer ${session.token()}`, Accept: "application/json" };
  if (body) headers["Content-Type"] = "application/json";
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response;
  try {
    response = await fetch(address, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(
      0,
      "No response",
      timeout.aborted ? "The API didn't respond in time." : "The API can't be reached.",
    );
  }
  const content = await response.json().catch(() => ({}));
  if (response.ok) return content;
  if (response.status === 401) session.expire();
  throw problemOf(response.status, content);
}

/** API Gateway's own errors have a `message` only. For those that can be temporary, the text suggests another try. */
function problemOf(status, { title, detail, message, errors }) {
  const isTemporary = status === 429 || status >= 500;
  const short = status === 429 ? "Too many requests" : (message ?? "The request failed");
  return new Problem(status, title ?? short, detail ?? (isTemporary ? "Try again in a few seconds." : short), errors);
}
