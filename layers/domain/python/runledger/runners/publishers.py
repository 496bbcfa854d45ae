"""Which publishers on the event bus may report about which installations. Pure.

EventBridge sets the `account` of an event, so it can be trusted. The publisher chooses the `source`: within one
account, IAM policies limit it (`events:source`).
"""

import json
from collections.abc import Iterable

from runledger.model.dataclass import dataclass
from runledger.model.patterns import FOREIGN, matches

ALL = "*"
KEYS = {"account", "source", "installations"}
ACCOUNT_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """`installations` is None for a publisher that may report about all of them."""

    account: str
    source: str
    installations: frozenset[int] | None

    def may_report(self, *, account: str, source: str, installation_id: int) -> bool:
        if account != self.account or not matches(source, self.source):
            return False
        return self.installations is None or installation_id in self.installations


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishers:
    """If no entry names the deployment's own account, its publishers may report about every installation.

    A publisher in another account needs an entry.
    """

    own_account: str
    entries: tuple[Publisher, ...] = ()

    def allowing(self, *, account: str, source: str, installation_id: int) -> Publisher | None:
        """The entry that allows the report. Prefers an entry for all installations."""
        entries = self.entries
        if all(each.account != self.own_account for each in entries):
            entries = (*entries, Publisher(account=self.own_account, source=ALL, installations=None))
        allowing = [
            each for each in entries if each.may_report(account=account, source=source, installation_id=installation_id)
        ]
        return min(allowing, key=lambda each: each.installations is not None, default=None)


def parse(given: object) -> tuple[Publisher, ...]:
    """From a list of `{"account", "source", "installations"}`, or the same as JSON text.

    A ValueError names the entry.
    """
    try:
        listed = json.loads(given or "[]") if isinstance(given, str) else given
    except ValueError as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(listed, list):
        raise ValueError("it is not a list")
    return tuple(_publisher(number, each) for number, each in enumerate(listed, start=1))


def to_json(publishers: Iterable[Publisher]) -> str:
    return json.dumps(
        [
            {
                "account": each.account,
                "source": each.source,
                "installations": ALL if each.installations is None else sorted(each.installations),
            }
            for each in publishers
        ],
        separators=(",", ":"),
    )


def _publisher(number: int, entry: object) -> Publisher:
    where = f"entry {number}"
    if not isinstance(entry, dict) or entry.keys() != KEYS:
        raise ValueError(f"{where} must have account, source and installations, and nothing else")
    account, source, installations = entry["account"], entry["source"], entry["installations"]
    if not isinstance(account, str) or not (account.isascii() and account.isdigit() and len(account) == ACCOUNT_DIGITS):
        raise ValueError(f'{where}: account must be 12 digits in quotes, like "123456789012"')
    if not isinstance(source, str) or not source or any(each in source for each in FOREIGN):
        raise ValueError(f"{where}: source must be the launcher's event source; * is the only wildcard")
    return Publisher(account=account, source=source, installations=_installations(where, installations))


def _installations(where: str, given: object) -> frozenset[int] | None:
    if given == ALL:
        return None
    ids = given if isinstance(given, list) else None
    if not ids or not all(type(each) is int and each >= 0 for each in ids):
        raise ValueError(f'{where}: installations must be a list of ids, or "*" for all')
    return frozenset(ids)
