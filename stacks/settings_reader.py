"""Reads settings from the CDK context, one value at a time, and rejects invalid ones."""

import re
from collections.abc import Callable
from typing import Any

from runledger.migration.key_pattern import BadPattern, KeyPattern
from runledger.runners import publishers
from runledger.runners.publishers import Publisher

# In bytes. A function's environment holds 4 KB.
LARGEST_LIST_OF_PUBLISHERS = 2500
# In bytes. An EventBridge event pattern holds 2,048, and the rest of this one takes 350.
LARGEST_LIST_OF_CLUSTERS = 1600
CLUSTERS_AT_MOST = 10  # the reconciler's role names each of them
BUCKET_NAME = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
FEED_TYPE = re.compile(r"\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(\.\*)?")
LARGEST_LIST_OF_FEED_TYPES = 1000  # in bytes
TARGET_NAME = re.compile(r"[A-Za-z0-9_-]{1,50}")
TARGETS_AT_MOST = 10  # the environments of two functions contain all of them
HOST_NAME = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
ROLES_AT_MOST = 5  # a lookup tries them one after the other


class BadSetting(ValueError):
    """The value of a setting is invalid."""


class SettingsReader:
    """Reads one value at a time. Each error names the setting, the value and the valid values."""

    def __init__(self, context: Callable[[str], Any]) -> None:
        self._context = context

    def whole(self, name: str, default: int, *, at_least: int, at_most: int) -> int:
        given = self._given(name, default)
        text = str(given)
        if isinstance(given, bool) or not re.fullmatch(r"-?\d+", text) or not at_least <= int(text) <= at_most:
            raise BadSetting(f"{name} is {given!r}; it must be a whole number from {at_least} to {at_most}")
        return int(text)

    def boolean(self, name: str, *, default: bool) -> bool:
        given = self._given(name, default)
        if str(given).lower() not in ("true", "false"):
            raise BadSetting(f"{name} is {given!r}; it must be true or false")
        return str(given).lower() == "true"

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        given = self._given(name, default)
        if given not in choices:
            raise BadSetting(f"{name} is {given!r}; it must be one of {', '.join(choices)}")
        return str(given)

    def matching(self, name: str, default: str, pattern: str, meaning: str) -> str:
        given = self._given(name, default)
        if not isinstance(given, str) or not re.fullmatch(pattern, given):
            raise BadSetting(f"{name} is {given!r}; it must be {meaning}")
        return given

    def publishers(self, name: str) -> tuple[Publisher, ...]:
        try:
            found = publishers.parse(self._given(name, []))
        except ValueError as error:
            raise BadSetting(f"{name} is invalid: {error}") from error
        if len(publishers.to_json(found)) > LARGEST_LIST_OF_PUBLISHERS:
            raise BadSetting(f"{name} is too long for a function's environment: name fewer sources, or use * in them")
        return found

    def tags(self, name: str, default: str = "") -> dict[str, str]:
        given = self._given(name, default)
        pairs = [each.partition("=") for each in _listed(given)]
        if not isinstance(given, str) or not all(key and value for key, _, value in pairs):
            raise BadSetting(
                f"{name} is {given!r}; it must be tags as name=value, separated by commas; * matches any text"
            )
        tags = {key: value for key, _, value in pairs}
        if len(tags) < len(pairs):
            raise BadSetting(f"{name} is {given!r}; it must name each tag once")
        return tags

    def regions(self, name: str) -> tuple[str, ...]:
        given = self._given(name, "")
        regions = tuple(dict.fromkeys(_listed(given)))
        if not isinstance(given, str) or not all(re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", each) for each in regions):
            raise BadSetting(f"{name} is {given!r}; it must be AWS region names separated by commas")
        return regions

    def clusters(self, name: str, default: str = "") -> tuple[str, ...]:
        given = self._given(name, default)
        names = tuple(_listed(given))
        if not isinstance(given, str) or not all(re.fullmatch(r"[\w-]{1,255}", each) for each in names):
            raise BadSetting(f"{name} is {given!r}; it must be ECS cluster names separated by commas")
        if sum(len(f'{{"suffix":":cluster/{each}"}},') for each in names) > LARGEST_LIST_OF_CLUSTERS:
            raise BadSetting(f"{name} is too long for an event pattern: name fewer clusters, or none to include all")
        if default and not 1 <= len(names) <= CLUSTERS_AT_MOST:
            raise BadSetting(f"{name} is {given!r}; it must name 1 to {CLUSTERS_AT_MOST} ECS clusters")
        return names

    def pattern(self, name: str, default: str) -> str:
        given = str(self._given(name, default))
        try:
            re.compile(given)
        except re.error as error:
            raise BadSetting(f"{name} is {given!r}; it must be a regular expression: {error}") from error
        return given

    def bucket(self, name: str, *, or_else: str = "") -> str:
        """The name of an existing bucket, `or_else`, or empty."""
        given = self._given(name, "")
        if not isinstance(given, str) or not (given in ("", or_else) or re.fullmatch(BUCKET_NAME, given)):
            alternative = f", '{or_else}'" if or_else else ""
            raise BadSetting(f"{name} is {given!r}; it must be the name of an S3 bucket{alternative} or empty")
        return given

    def key_pattern(self, name: str, default: str, parse: Callable[[str], KeyPattern]) -> KeyPattern:
        given = self._given(name, default)
        try:
            return parse(str(given))
        except BadPattern as error:
            raise BadSetting(f"{name} is {given!r}; {error}") from error

    def role_ids(self, name: str) -> tuple[str, ...]:
        given = self._given(name, "")
        ids = tuple(dict.fromkeys(_listed(given)))
        valid = all(re.fullmatch(r"AROA[A-Z0-9]{12,124}", each) for each in ids)
        if not isinstance(given, str) or not valid or len(ids) > ROLES_AT_MOST:
            raise BadSetting(
                f"{name} is {given!r}; it must be at most {ROLES_AT_MOST} unique ids of IAM roles (AROA...), "
                "separated by commas: `aws iam get-role --query Role.RoleId` prints one"
            )
        return ids

    def feed_types(self, name: str) -> tuple[str, ...]:
        """Event types or patterns, and `*` for all."""
        given = self._given(name, "*")
        types = tuple(dict.fromkeys(_listed(given)))
        if not isinstance(given, str) or not types or not all(FEED_TYPE.fullmatch(each) for each in types):
            raise BadSetting(
                f"{name} is {given!r}; it must be event types separated by commas, such as job.failed or job.*, "
                "or * for all"
            )
        if len(given) > LARGEST_LIST_OF_FEED_TYPES:
            raise BadSetting(f"{name} is too long for a function's environment: use patterns such as job.*")
        return types

    def targets(self, name: str, service: str) -> dict[str, str]:
        """Names of SNS topics or event buses, and their ARNs."""
        found = self.tags(name)
        arn = re.compile(rf"arn:aws[a-z-]*:{service}:[a-z0-9-]+:\d{{12}}:[A-Za-z0-9._/-]+")
        for target, value in found.items():
            if not TARGET_NAME.fullmatch(target) or not arn.fullmatch(value):
                raise BadSetting(f"{name} has {target}={value}; it must be name=ARN, separated by commas")
        if len(found) > TARGETS_AT_MOST:
            raise BadSetting(f"{name} has {len(found)} targets; it must have at most {TARGETS_AT_MOST}")
        return found

    def hosts(self, name: str, default: str) -> tuple[str, ...]:
        given = self._given(name, default)
        hosts = tuple(dict.fromkeys(_listed(given)))
        if not isinstance(given, str) or not hosts or not all(HOST_NAME.fullmatch(each) for each in hosts):
            raise BadSetting(f"{name} is {given!r}; it must be host names in lower case, separated by commas")
        return hosts

    def _given(self, name: str, default: object) -> object:
        value = self._context(name)
        return default if value is None else value


def _listed(given: object) -> list[str]:
    return [each.strip() for each in str(given).split(",") if each.strip()]
