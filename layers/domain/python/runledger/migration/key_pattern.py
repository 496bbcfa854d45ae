"""The layout of webhook objects in a bucket: a key with names in braces, such as DEFAULT. Pure."""

import re
from collections.abc import Mapping
from functools import cached_property
from urllib.parse import quote

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Receipt
from runledger.model.payload import REPOSITORY_NAME

DEFAULT = "webhooks/{installation_id}/{job_id}/{status}.json"
NUMBER = "[0-9]{1,19}"
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
# Two of these in one folder of the key would be ambiguous, and matching would try every way to separate them.
OF_ANY_LENGTH = (ANY_TEXT, "{repo}", "{delivery_id}")
SIDE_BY_SIDE = re.compile(r"[}*][{*]")
# With letters or digits between two names, the end of the first is ambiguous: `{job_id}1{run_id}`.
POORLY_SEPARATED = re.compile(r"\}[A-Za-z0-9]*\{")
LONGEST_PATTERN = 300
RUNNER_CONFIGS = "runners/"  # the folder of runner configs, perhaps in the same bucket


class BadPattern(ValueError):
    """The message names the problem."""


@dataclass(frozen=True, kw_only=True)
class KeyPattern:
    text: str

    @classmethod
    def parse(cls, text: str) -> "KeyPattern":
        """A pattern for reading. `*` matches any text without a slash."""
        pattern = cls(text=text)
        unknown = [name for name in pattern.fields if name not in FIELDS]
        if unknown or set(FIELD.sub("", text)) & {"{", "}"}:
            raise BadPattern(f"only these names may be in braces: {', '.join(FIELDS)}")
        if len(set(pattern.fields)) < len(pattern.fields):
            raise BadPattern("each name may appear only once")
        if not text or len(text) > LONGEST_PATTERN or text.startswith("/") or not text.isprintable():
            raise BadPattern(f"it must have 1 to {LONGEST_PATTERN} printable characters, and no slash at the beginning")
        if SIDE_BY_SIDE.search(text) or any(_parts_of_any_length(folder) > 1 for folder in text.split("/")):
            raise BadPattern(
                "names in braces and * must be separated by text, and {repo}, {delivery_id} and * by a slash"
            )
        return pattern

    @classmethod
    def parse_in_folder(cls, text: str) -> "KeyPattern":
        """A pattern for permissions and lifecycle rules. They cover its prefix, which must contain only webhooks."""
        pattern = cls.parse(text)
        if not pattern.prefix.endswith("/") or pattern.prefix.startswith(RUNNER_CONFIGS):
            raise BadPattern(f"it must begin with a folder of webhooks, such as webhooks/, other than {RUNNER_CONFIGS}")
        if any(character in text for character in "?$") or re.search(r"(^|/)[./]", text):
            raise BadPattern("it can't contain ?, $, an empty folder, or a folder that begins with a dot")
        return pattern

    @classmethod
    def parse_for_writing(cls, text: str, *, shared: bool = False) -> "KeyPattern":
        """Two webhooks must not have the same key. Two installations must not use the same folder, unless `shared`.

        The scope of a webhook secret limits installations and repositories, but not job ids.
        """
        pattern = cls.parse_in_folder(text)
        if ANY_TEXT in text:
            raise BadPattern(f"it can't contain {ANY_TEXT}")
        if "job_id" not in pattern.fields or not {"status", "delivery_id"} & set(pattern.fields):
            raise BadPattern("it must contain {job_id}, and {status} or {delivery_id}")
        if "/{installation_id}/" not in text and not shared:
            raise BadPattern("it must contain {installation_id} as a folder, unless webhook_keys_shared is true")
        if POORLY_SEPARATED.search(text):
            raise BadPattern("names in braces must be separated by punctuation, such as a slash or a hyphen")
        return pattern

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(FIELD.findall(self.text))

    @cached_property
    def prefix(self) -> str:
        """The fixed part at the start, for listing and for permissions."""
        return re.split(r"[{*]", self.text, maxsplit=1)[0]

    def key(self, receipt: Receipt) -> str:
        facts = receipt.facts
        values = {
            "installation_id": receipt.installation_id,
            "job_id": receipt.job_id,
            "run_id": facts.run_id,
            "run_attempt": facts.run_attempt,
            "repo": facts.repo_full_name,
            "status": receipt.action,
            # It comes from a header, which isn't signed: it must not become a folder or `..`.
            "delivery_id": quote(receipt.delivery_id, safe="").replace(".", "%2E"),
        }
        return FIELD.sub(lambda name: str(values[name[1]]), self.text)

    def match(self, key: str) -> Mapping[str, str] | None:
        found = self._expression.fullmatch(key)
        return found.groupdict() if found else None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        parts = re.split(r"(\{\w+\}|\*)", self.text)
        return re.compile("".join(map(_expression_of, parts)), re.DOTALL | re.ASCII)


def _expression_of(part: str) -> str:
    if part == ANY_TEXT:
        return "[^/]*"
    return f"(?P<{part[1:-1]}>{FIELDS[part[1:-1]]})" if part.startswith("{") else re.escape(part)


def _parts_of_any_length(folder: str) -> int:
    return sum(folder.count(part) for part in OF_ANY_LENGTH)
