/* The access token is kept in session storage, until the tab is closed. */

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

/** Called when the API rejects the token; the page then shows the sign-in form. */
export function expire() {
  if (!token()) return;
  end();
  window.dispatchEvent(new Event("runledger:signed-out"));
}
