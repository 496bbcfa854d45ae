"""What the launcher tells the runner; a config that cannot work is refused before GitHub sees anything of it."""

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

from runner.log import log

TRIES = 6
FIRST_PAUSE_SECONDS = 0.2
ANSWER_SECONDS = 5
LOOPBACK = ("127.0.0.1", "::1", "localhost")
HTTP_SERVER_ERROR = 500


class _NoRedirects(HTTPRedirectHandler):
    """A redirect may lead to plain http, or to a host that nobody has checked: it is an error like any other answer."""

    def redirect_request(self, *_: object, **__: object) -> Request | None:
        return None


WITHOUT_REDIRECTS = build_opener(_NoRedirects)


class BadConfig(Exception):
    """Names the field and what is wrong with it, never its value, which may be a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Tokens, and addresses that act as tokens, stay out of its repr and so out of every log."""

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
        return parse(_fetch(_address("RUNNER_CONFIG_URL", url)))
    raise BadConfig("RUNNER_CONFIG or RUNNER_CONFIG_URL must be set")


def stop_timeout(environ: Mapping[str, str]) -> float:
    """The default leaves ten of the 120 seconds that ECS gives at most, for a slow machine and a late signal."""
    given = environ.get("RUNNER_STOP_TIMEOUT_SECONDS", "110")
    if not given.isdecimal() or not int(given):
        raise BadConfig("RUNNER_STOP_TIMEOUT_SECONDS must be a whole number of seconds above 0")
    return float(given)


def parse(text: str | bytes) -> Config:
    """Fields that are not known are left alone: launchers keep their own things in the same file."""
    try:
        given = json.loads(text)
    except ValueError:
        raise BadConfig("the config is not JSON") from None
    if not isinstance(given, dict):
        raise BadConfig("the config is not a JSON object")
    remove_url, remove_token = _optional_text(given, "remove_url"), _optional_text(given, "remove_token")
    if remove_url and remove_token:
        raise BadConfig("remove_url and remove_token are both set: give the one to use")
    return Config(
        runner_files=_runner_files(given),
        runner_name=_text(given, "runner_name"),
        labels=_labels(given),
        org=_optional_text(given, "org"),
        repo=_optional_text(given, "repo"),
        remove_url=_address("remove_url", remove_url) if remove_url else None,
        remove_token=remove_token,
    )


def _text(given: Mapping[str, object], name: str) -> str:
    if name not in given:
        raise BadConfig(f"{name} is missing")
    value = given[name]
    if not isinstance(value, str) or not value.strip():
        raise BadConfig(f"{name} must be a text that is not empty")
    return value.strip()


def _optional_text(given: Mapping[str, object], name: str) -> str | None:
    return None if given.get(name) is None else _text(given, name)


def _labels(given: Mapping[str, object]) -> tuple[str, ...]:
    labels = given.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise BadConfig("labels must be a list of texts")
    return tuple(labels)


def _runner_files(given: Mapping[str, object]) -> dict[str, bytes]:
    """A JIT config is the runner's own files by name: .runner, .credentials and .credentials_rsaparams.

    Checked here because the runner itself ends with exit code 0 when it cannot read it.
    """
    encoded = _text(given, "jit_config")
    try:
        decoded = json.loads(base64.b64decode(encoded, validate=True))
        files = {name: base64.b64decode(content, validate=True) for name, content in decoded.items()}
    except (ValueError, TypeError, AttributeError):
        files = {}
    if ".runner" not in files or not all(re.fullmatch(r"\.\w+", name) for name in files):
        raise BadConfig("jit_config must be the encoded_jit_config of GitHub's answer, as it stands")
    return files


def _address(name: str, url: str) -> str:
    """Plain http would show tokens to the network, so it is for this machine only."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadConfig(f"{name} is not an address") from None
    if not parts.hostname or parts.scheme not in ("https", "http"):
        raise BadConfig(f"{name} must be an https address")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise BadConfig(f"{name} must be an https address: http is for loopback only")
    return url


def _fetch(url: str) -> bytes:
    """A fresh task's network may need a moment; an answer below 500 will not change by asking again."""
    pause = FIRST_PAUSE_SECONDS
    for tries_left in reversed(range(TRIES)):
        try:
            with WITHOUT_REDIRECTS.open(url, timeout=ANSWER_SECONDS) as answer:
                body: bytes = answer.read()
                return body
        except HTTPError as error:
            error.close()
            problem = f"answered {error.code}"
            if error.code < HTTP_SERVER_ERROR:
                raise BadConfig(f"RUNNER_CONFIG_URL {problem}: has a presigned address expired?") from None
        except OSError as error:
            problem = str(error)
        except HTTPException as error:
            problem = type(error).__name__  # its text may quote the address
        if tries_left:
            log("warning", "the config could not be fetched, trying again", problem=problem, tries_left=tries_left)
            time.sleep(pause)
            pause *= 2
    raise BadConfig(f"RUNNER_CONFIG_URL could not be fetched in {TRIES} tries: {problem}")
