/* The installations of an account: their names, and the one that is shown first. */

/** The organisation, with the installation id if the name is ambiguous. */
export function labelOf({ installation_id: id, org_name: organisation, status }, known) {
  if (!id) return "Hooks without an App";
  const alone = known.filter((each) => each.org_name === organisation).length === 1;
  return `${organisation ?? "Installation"}${alone ? "" : ` · ${id}`}${status === "deleted" ? " (removed)" : ""}`;
}

/** The id of an App's installation, if there is one; without any installation, an empty text. */
export function defaultInstallation(known) {
  const chosen = known.find((each) => each.installation_id && each.status !== "deleted") ?? known[0];
  return String(chosen?.installation_id ?? "");
}

export function isKnown(known, id) {
  return known.some((each) => String(each.installation_id) === id);
}
