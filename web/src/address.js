/* The URL hash is the whole state of a view, so links can be shared: #/{installation}/{view}/{id}?{query} */

export function read(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [installation = "", view = "", ...rest] = path.split("/").map(decode);
  return { installation, view, id: rest.join("/"), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** Without an installation, the URL of the page itself: the first part of a hash is always an installation. */
export function link(installation, view, id, query) {
  if (installation === undefined || installation === null || installation === "") return "#/";
  const path = [installation, view, id].filter((part) => part !== undefined && part !== null && part !== "");
  const given = Object.entries(query ?? {}).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

export function go(address) {
  location.hash = address;
}

/** Navigates without a new entry in the browser's history. */
export function redirect(address) {
  history.replaceState(null, "", address);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
