"""The layout of webhook objects: a key with names in braces, such as `webhooks/{job_id}/{status}.json`. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from runledger.model.inputs import Receipt
from runledger.model.payload import REPOSITORY_NAME

DEFAULT = "webhooks/{installation_id}/{job_id}/{status}.json"
NUMBER = r"\d{1,19}"
FIELDS = {
    "installation_id": NUMBER,
    "job_id": NUMBER,
    "run_id": NUMBER,
    "run_attempt": NUMBER,
    "repo": REPOSITORY_NAME,
    "status": "queued|waiting|in_progress|completed",
    "delivery_id": "[^/]+",
}
ANY_TEXT = "*"
FIELD = re.compile(r"\{(\w+)\}")
LONGEST_PATTERN = 300


class BadPattern(ValueError):
    """The message names the problem."""


@dataclass(frozen=True, kw_only=True)
class KeyPattern:
    text: str

    @classmethod
    def parse(cls, text: str) -> "KeyPattern":
        """For reading. `*` matches any text without a slash."""
        pattern = cls(text=text)
        unknown = [name for name in pattern.fields if name not in FIELDS]
        if unknown or set(FIELD.sub("", text)) & {"{", "}"}:
            raise BadPattern(f"only these names may be in braces: {', '.join(FIELDS)}")
        if len(set(pattern.fields)) < len(pattern.fields):
            raise BadPattern("each name may be in it once")
        if not text or len(text) > LONGEST_PATTERN or text.startswith("/") or not text.isprintable():
            raise BadPattern(f"it must have 1 to {LONGEST_PATTERN} printable characters and not begin with a slash")
        return pattern

    @classmethod
    def parse_for_writing(cls, text: str) -> "KeyPattern":
        """Two webhooks of a job, or of two jobs, must not have the same key."""
        pattern = cls.parse(text)
        if ANY_TEXT in text:
            raise BadPattern(f"it can't contain {ANY_TEXT}")
        if "job_id" not in pattern.fields or not {"status", "delivery_id"} & set(pattern.fields):
            raise BadPattern("it must contain {job_id}, and {status} or {delivery_id}")
        return pattern

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(FIELD.findall(self.text))

    @cached_property
    def prefix(self) -> str:
        """The fixed beginning, for listing and for permissions."""
        return re.split(r"[{*]", self.text, maxsplit=1)[0]

    @property
    def groups_by_job(self) -> bool:
        """Whether all webhooks of a job follow each other in a sorted list of keys."""
        if "job_id" not in self.fields:
            return False
        before = self.text.partition("{job_id}")[0]
        return ANY_TEXT not in before and not {"status", "delivery_id"} & set(FIELD.findall(before))

    def key(self, receipt: Receipt) -> str:
        facts = receipt.facts
        values = {
            "installation_id": receipt.installation_id,
            "job_id": receipt.job_id,
            "run_id": facts.run_id,
            "run_attempt": facts.run_attempt,
            "repo": facts.repo_full_name,
            "status": receipt.action,
            # A header, which isn't signed, chooses it.
            "delivery_id": quote(receipt.delivery_id, safe=""),
        }
        return FIELD.sub(lambda name: str(values[name[1]]), self.text)

    def match(self, key: str) -> Mapping[str, str] | None:
        found = self._expression.fullmatch(key)
        return found.groupdict() if found else None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        parts = re.split(r"(\{\w+\}|\*)", self.text)
        return re.compile("".join(map(_expression_of, parts)), re.DOTALL)


def _expression_of(part: str) -> str:
    if part == ANY_TEXT:
        return "[^/]*"
    return f"(?P<{part[1:-1]}>{FIELDS[part[1:-1]]})" if part.startswith("{") else re.escape(part)
