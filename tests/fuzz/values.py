"""Values that a sender may put anywhere, and mutations of a message that put them there."""

import copy
import json
import string
from collections.abc import Callable
from random import Random
from typing import Any

from tests.security.hostile_values import HOSTILE

Container = dict[str, Any] | list[Any]

# Short ones: each is parsed and written thousands of times. `tests/security` has the long ones.
SHORT = [value for value in HOSTILE.values() if len(json.dumps(value)) < 1000]
CHARACTERS = [*string.printable, "\0", "\x7f", "\u00e4", "\u0663", "\u202e", "\ufeff", "\ud800", "\U0001f4a9"]
TIMES = [
    "2025-01-15T10:02:30Z",
    "2025-01-15T10:02:30.1234567Z",
    "2025-02-30T00:00:00Z",
    "2025-01-15 10:02",
    "1736935200",
]


def text(random: Random, longest: int = 30) -> str:
    return "".join(random.choices(CHARACTERS, k=random.randint(0, longest)))


def decodable(random: Random, longest: int) -> str:
    """The text as a URL can contain it."""
    return text(random, longest).encode("utf-8", "replace").decode()


def anything(random: Random, depth: int = 0) -> Any:
    match random.randrange(6 if depth < 3 else 4):
        case 0:
            return copy.deepcopy(random.choice(SHORT))
        case 1:
            return random.choice([0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), random.getrandbits(40)])
        case 2:
            return text(random)
        case 3:
            return random.choice(TIMES)
        case 4:
            return [anything(random, depth + 1) for _ in range(random.randint(0, 3))]
        case _:
            return {text(random, 8): anything(random, depth + 1) for _ in range(random.randint(0, 3))}


def mutated(random: Random, message: Any, others: list[Any]) -> Any:
    """A copy with one to five changes. `others` are messages to take parts from."""
    changed = copy.deepcopy(message)
    for _ in range(random.randint(1, 5)):
        where = _somewhere(random, changed)
        if where is not None:
            random.choice(MUTATIONS)(random, *where, others)
    return changed


def damaged(random: Random, body: bytes) -> bytes:
    """Bytes that are lost, doubled or changed on the way to JSON."""
    start = random.randrange(len(body) + 1)
    end = min(len(body), start + random.choice([1, 2, 10, len(body)]))
    return body[:start] + random.choice([b"", body[start:end] * 2, random.randbytes(end - start)]) + body[end:]


def _somewhere(random: Random, message: Any) -> tuple[Container, Any] | None:
    """A container and a key in it. Each level is as likely as the next, so that no long list of links prevails."""
    found = None
    while isinstance(message, dict | list) and message:
        key: Any = random.choice(sorted(message)) if isinstance(message, dict) else random.randrange(len(message))
        found = message, key
        if random.random() < 0.4:
            break
        message = message[key]
    return found


def _replace(random: Random, where: Any, key: Any, _others: list[Any]) -> None:
    where[key] = anything(random)


def _remove(_random: Random, where: Any, key: Any, _others: list[Any]) -> None:
    del where[key]


def _add(random: Random, where: Any, key: Any, _others: list[Any]) -> None:
    if isinstance(where, dict):
        where[text(random, 8)] = anything(random)
    else:
        where.insert(key, anything(random))


def _change_type(_random: Random, where: Any, key: Any, _others: list[Any]) -> None:
    value = where[key]
    where[key] = str(value) if isinstance(value, int | float) else [value]


def _exchange(random: Random, where: Any, key: Any, _others: list[Any]) -> None:
    other = random.choice(sorted(where)) if isinstance(where, dict) else random.randrange(len(where))
    where[key], where[other] = where[other], where[key]


def _transplant(random: Random, where: Any, _key: Any, others: list[Any]) -> None:
    donor = random.choice(others)
    name = random.choice(sorted(donor))
    if isinstance(where, dict):
        where[name] = copy.deepcopy(donor[name])


MUTATIONS: list[Callable[[Random, Any, Any, list[Any]], None]] = [
    *(_replace, _replace, _replace, _remove, _add, _change_type, _exchange, _transplant)
]
