/* The token lives as long as the tab, and nowhere else. */

const KEY = "runledger.token";

export function token() {
  return sessionStorage.getItem(KEY);
}

export function begin(given) {
  sessionStorage.setItem(KEY, given);
}

export function end() {
  sessionStorage.removeItem(KEY);
}

export function isOperator(me) {
  return me.role === "operator";
}

/** The API no longer knows the token: whoever draws the page asks for another one. */
export function lost() {
  if (!token()) return;
  end();
  window.dispatchEvent(new Event("runledger:signed-out"));
}
