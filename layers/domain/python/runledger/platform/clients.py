"""AWS clients, configured for speed: botocore takes most of the time of a cold start and of a webhook.

boto3 would add resources and S3 transfers, which are not used here, and 20 ms to each start.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

from runledger.platform.snapshots import renew_after_restore


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Skips garbage collection while long-lived objects are created, and excludes them from later collections.

    This saves a tenth of a cold start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


with without_garbage_collection():
    from botocore.config import Config
    from botocore.loaders import Loader
    from botocore.session import Session

QUICK = Config(
    # GitHub hangs up after 10 seconds: a call that hangs must fail early enough to put the delivery on the retry queue.
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "total_max_attempts": 2},
    # These two options save a third of each call. Tests validate the parameters, and AWS validates them again.
    parameter_validation=False,
    user_agent="runledger",
)

# No webhook waits for these, and a description of a hundred instances takes seconds. A call takes 15 seconds at most,
# with the second attempt and the wait before it. The timeouts of the functions follow from that: `stacks.events`.
SLOW = QUICK.merge(Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2}))
# In intake, which may have waited for DynamoDB before: one attempt, and the retry queue makes the next one.
ONCE = QUICK.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))
CONFIGS = {"ec2": SLOW, "ecs": SLOW, "pricing": SLOW, "s3": ONCE}

_clients: WeakSet[Any] = WeakSet()
renew_after_restore(_clients)


class _Loader(Loader):
    """Loads the data of a service without listing all 400 of botocore first: 7 % of a cold start."""

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002
        return [name for path in self.search_paths if os.path.isdir(path) for name in os.listdir(path)]


@cache
def session() -> Session:
    made = Session()
    made.register_component("data_loader", _Loader())
    return made


@cache
def client(service: str, region: str | None = None) -> Any:
    """Has the timeouts that suit the service."""
    with without_garbage_collection():
        config = CONFIGS.get(service, QUICK)
        made = session().create_client(service, region_name=region, config=config)
    _clients.add(made)
    return made


def slow_client(service: str, *, read_seconds: float, attempts: int = 1) -> Any:
    """For slow calls: each attempt waits up to `read_seconds` for its response."""
    slow = QUICK.merge(Config(read_timeout=read_seconds, retries={"total_max_attempts": attempts}))
    with without_garbage_collection():
        made = session().create_client(service, config=slow)
    _clients.add(made)
    return made


class _LazyClient:
    def __init__(self, named: tuple[str, ...]) -> None:
        self._named = named

    def __getattr__(self, name: str) -> Any:
        return getattr(client(*self._named), name)


def lazy_client(*named: str) -> Any:
    """The same client, created on first use: most webhooks need no queue, and creating a client takes 30 ms."""
    return _LazyClient(named)
