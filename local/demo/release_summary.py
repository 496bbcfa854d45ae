"""The part of the demo's summary about heads, environments and the release, read from the API."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from local.demo.releases import PACKAGE, VERSION
from local.demo.scenarios.releases import CHECKOUT, PRODUCTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from local.demo.api import Api

_MOST = 200


def lines(api: Api) -> Iterator[str]:
    heads = Counter(each["state"] for each in api.get("heads", limit=_MOST)["items"])
    yield f"heads       {heads['green']} green, {heads['red']} red"
    found = api.get("environments", repo=CHECKOUT.full_name)["items"]
    deployed = next(each for each in found if each["environment"] == PRODUCTION)
    yield f"deployed    {CHECKOUT.full_name} {_version(deployed)} to {PRODUCTION}{_before(deployed)}"
    line = api.get("releases", PACKAGE, VERSION)
    yield f"release     {PACKAGE} {VERSION}: " + ", ".join(
        f"{each['name']} {each['status']}" for each in line["dependents"]
    )


def _version(environment: Mapping[str, Any]) -> str:
    return str(environment["current"]["version"])


def _before(environment: Mapping[str, Any]) -> str:
    return f", rolled back from {environment['previous']['version']}" if environment["is_rollback"] else ""
