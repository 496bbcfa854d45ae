/* The HTTP API, found beside the page wherever that is served. */

import * as session from "./session.js";

const PATIENCE_MS = 35_000;

/** What the API refused or could not do, in words for the reader. */
export class Problem extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
    this.title = title;
  }
}

export function get(path, query, signal) {
  return call("GET", path, { query, signal });
}

export function post(path, body) {
  return call("POST", path, { body });
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
  const patience = AbortSignal.timeout(PATIENCE_MS);
  let response;
  try {
    response = await fetch(address, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(
      0,
      "No answer",
      patience.aborted ? "The API took too long to answer." : "The API cannot be reached.",
    );
  }
  const said = await response.json().catch(() => ({}));
  if (response.ok) return said;
  if (response.status === 401) session.lost();
  throw new Problem(response.status, said.title ?? `Status ${response.status}`, detail(said));
}

function detail(said) {
  const named = (said.errors ?? []).map((each) => `${each.parameter}: ${each.problem}`);
  return [said.detail, ...named].filter(Boolean).join(" ");
}
