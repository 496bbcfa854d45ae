"""The config from the launcher, validated before the runner starts."""

import base64
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from runner import log

TRIES = 6
FIRST_PAUSE_SECONDS = 0.2
TIMEOUT_SECONDS = 5
LOOPBACK = ("127.0.0.1", "::1", "localhost")
HTTP_SERVER_ERROR = 500


class _NoRedirects(HTTPRedirectHandler):
    """Treats a redirect as an error, because it may lead to plain http or to another host."""

    def redirect_request(self, *_: object, **__: object) -> Request | None:
        return None


WITHOUT_REDIRECTS = build_opener(_NoRedirects)


class BadConfig(Exception):
    """The message names the field and the problem, never the value, which may be a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Tokens, and URLs that act as tokens, are excluded from the repr and thus from logs."""

    runner_files: Mapping[str, bytes] = field(repr=False)
    runner_name: str
    labels: tuple[str, ...]
    org: str | None
    repo: str | None
    remove_url: str | None = field(repr=False)
    remove_token: str | None = field(repr=False)


def load(environ: Mapping[str, str]) -> Config:
    if text := environ.get("RUNNER_CONFIG"):
        return parse(text)
    if url := environ.get("RUNNER_CONFIG_URL"):
        return parse(_fetch(_https_url("RUNNER_CONFIG_URL", url)))
    raise BadConfig("RUNNER_CONFIG or RUNNER_CONFIG_URL must be set")


def stop_timeout(environ: Mapping[str, str]) -> float:
    """The default is ten seconds below the ECS maximum of 120, for slow machines and late signals."""
    given = environ.get("RUNNER_STOP_TIMEOUT_SECONDS", "110")
    if not given.isdecimal() or not int(given):
        raise BadConfig("RUNNER_STOP_TIMEOUT_SECONDS must be a whole number of seconds above 0")
    return float(given)


def parse(text: str | bytes) -> Config:
    """Unknown fields are ignored: launchers may store their own data in the same file."""
    try:
        given = json.loads(text)
    except ValueError:
        raise BadConfig("the config isn't JSON") from None
    if not isinstance(given, dict):
        raise BadConfig("the config isn't a JSON object")
    remove_url, remove_token = _optional_text(given, "remove_url"), _optional_text(given, "remove_token")
    if remove_url and remove_token:
        raise BadConfig("remove_url and remove_token are both set: set only one of them")
    return Config(
        runner_files=_runner_files(given),
        runner_name=_text(given, "runner_name"),
        labels=_labels(given),
        org=_optional_text(given, "org"),
        repo=_optional_text(given, "repo"),
        remove_url=_https_url("remove_url", remove_url) if remove_url else None,
        remove_token=remove_token,
    )


def _text(given: Mapping[str, object], name: str) -> str:
    if name not in given:
        raise BadConfig(f"{name} is missing")
    value = given[name]
    if not isinstance(value, str) or not value.strip():
        raise BadConfig(f"{name} must be a non-empty string")
    return value.strip()


def _optional_text(given: Mapping[str, object], name: str) -> str | None:
    return None if given.get(name) is None else _text(given, name)


def _labels(given: Mapping[str, object]) -> tuple[str, ...]:
    labels = given.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise BadConfig("labels must be a list of strings")
    return tuple(labels)


def _runner_files(given: Mapping[str, object]) -> dict[str, bytes]:
    """Decode a JIT config into the runner's files: .runner, .credentials and .credentials_rsaparams.

    Validated here, because the runner exits with code 0 if it can't read them.
    """
    encoded = _text(given, "jit_config")
    try:
        decoded = json.loads(base64.b64decode(encoded, validate=True))
        files = {name: base64.b64decode(content, validate=True) for name, content in decoded.items()}
    except (ValueError, TypeError, AttributeError):
        files = {}
    if ".runner" not in files or not all(re.fullmatch(r"\.\w+", name) for name in files):
        raise BadConfig("jit_config must be the unchanged encoded_jit_config from GitHub's response")
    return files


def _https_url(name: str, url: str) -> str:
    """Plain http would expose tokens, so it is only allowed for loopback addresses."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadConfig(f"{name} isn't a URL") from None
    if not parts.hostname or parts.scheme not in ("https", "http"):
        raise BadConfig(f"{name} must be an https URL")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise BadConfig(f"{name} must be an https URL: http is only allowed for loopback")
    return url


def _fetch(url: str) -> bytes:
    """Retries, because a new task's network may not be ready. Statuses below 500 aren't retried."""
    pause = FIRST_PAUSE_SECONDS
    for tries_left in reversed(range(TRIES)):
        try:
            with WITHOUT_REDIRECTS.open(url, timeout=TIMEOUT_SECONDS) as response:
                body: bytes = response.read()
                return body
        except HTTPError as error:
            error.close()
            problem = f"returned {error.code}"
            if error.code < HTTP_SERVER_ERROR:
                raise BadConfig(f"RUNNER_CONFIG_URL {problem}: check whether a presigned URL has expired") from None
        except OSError as error:
            problem = str(error)
        except HTTPException as error:
            problem = type(error).__name__  # its message may contain the URL
        if tries_left:
            log("warning", "failed to fetch the config, retrying", problem=problem, tries_left=tries_left)
            time.sleep(pause)
            pause *= 2
    raise BadConfig(f"RUNNER_CONFIG_URL could not be fetched in {TRIES} attempts: {problem}")
