"""Looks up runs and deployments on GitHub that the ledger doesn't have, before the API returns 404."""

from typing import Any, TypeVar

from runledger.model.keys import DeploymentKey, RunKey
from runledger.model.reports import NO_INSTALLATION
from runledger.queries.caches import Cache

from runledger_api import wiring
from runledger_api.errors import TooManyRequests
from runledger_api.github import LimitReached, NotRefreshed

Key = TypeVar("Key", RunKey, DeploymentKey)


def look_up(cache: Cache[Key], key: Key, repo_full_name: str | None) -> dict[str, Any] | None:
    """Returns None if GitHub doesn't have it or can't be called. Raises UnavailableError if GitHub doesn't respond."""
    can_call = key.installation_id != NO_INSTALLATION and wiring.github().may_refresh()
    if repo_full_name is None or not can_call:
        return None
    try:
        return cache.get(key, repo_full_name)
    except NotRefreshed:
        return None
    except LimitReached as error:
        raise TooManyRequests(str(error)) from error
