"""The GitHub App, and the composition of its client."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError

from runledger_github.calls import Call, Json
from runledger_github.connection import Connection
from runledger_github.credentials import AppKey, InstallationToken
from runledger_github.errors import NotFound
from runledger_github.etags import ETags
from runledger_github.installation import PAGE, Installation
from runledger_github.retries import Deadline, Retries, RetryLimits
from runledger_github.session import Credential, Session

GITHUB_COM = "https://api.github.com"
DEFAULT_RETRIES = RetryLimits()
READ_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPage:
    """`next_cursor` continues with older deliveries, even in a later invocation; None at the end of the log."""

    deliveries: Sequence[Json]
    next_cursor: str | None


class GitHubApp:
    """One per process: it caches tokens, budgets and responses between invocations."""

    def __init__(
        self,
        key: AppKey,
        *,
        connection: Connection,
        retries: Retries,
        deadline: Deadline,
        clock: Callable[[], float],
    ) -> None:
        self.deadline = deadline
        self._connection = connection
        self._retries = retries
        self._clock = clock
        self._etags = ETags()
        self._session = self._new_session("the App", key)
        self._installations: dict[int, Installation] = {}

    @classmethod
    def from_secret(
        cls,
        secret_json: str,
        *,
        api_url: str = GITHUB_COM,
        limits: RetryLimits = DEFAULT_RETRIES,
        read_seconds: float = READ_SECONDS,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> Self:
        """Raises BadCredentials if the secret isn't `{"app_id": ..., "private_key": "PEM"}`."""
        deadline = Deadline(clock)
        return cls(
            AppKey.from_secret(secret_json, clock=clock),
            connection=Connection(api_url, read_seconds=read_seconds, deadline=deadline),
            retries=Retries(limits, deadline=deadline, clock=clock, sleep=sleep),
            deadline=deadline,
            clock=clock,
        )

    def installation(self, installation_id: int) -> Installation:
        """Makes no call. Returns the same object each time: it holds the installation's token and budget."""
        if installation_id not in self._installations:
            token = InstallationToken(installation_id, app=self._session, clock=self._clock)
            session = self._new_session(f"installation {installation_id}", token)
            self._installations[installation_id] = Installation(installation_id, session)
        return self._installations[installation_id]

    def installations(self) -> Iterator[Json]:
        """Includes suspended installations."""
        for page in self._session.pages(Call(method="GET", path="/app/installations", query=PAGE)):
            yield from page.document

    def find_installation(self, installation_id: int) -> Json | None:
        """None if it doesn't exist. Raises NotFound if the App doesn't exist: GitHub returns 404 for both.

        Callers treat None as a final deletion, and a single 404 may be GitHub's error, so the list must confirm it.
        """
        try:
            found: Json = self._session.json(Call(method="GET", path=f"/app/installations/{installation_id}"))
        except NotFound:
            if any(listed["id"] == installation_id for listed in self.installations()):
                raise UnavailableError(f"GitHub lists installation {installation_id}, but returns 404 for it") from None
            return None
        return found

    def hook_url(self) -> str:
        """The URL of the App's webhook; empty if it has none."""
        config: Json = self._session.json(Call(method="GET", path="/app/hook/config", conditional=True))
        return str(config.get("url") or "")

    def hook_deliveries(self, cursor: str | None = None) -> Iterator[DeliveryPage]:
        """Newest first, one page at a time: a later invocation can continue with the cursor."""
        query = PAGE if cursor is None else {**PAGE, "cursor": cursor}
        for page in self._session.pages(Call(method="GET", path="/app/hook/deliveries", query=query)):
            yield DeliveryPage(deliveries=page.document, next_cursor=(page.next_query or {}).get("cursor"))

    def redeliver(self, delivery_id: int) -> None:
        """After a NoResponseError, check the log before a retry: GitHub may have sent it."""
        path = f"/app/hook/deliveries/{delivery_id}/attempts"
        self._session.json(Call(method="POST", path=path, repeatable=False))

    def _new_session(self, caller: str, credential: Credential) -> Session:
        return Session(
            caller,
            credential,
            connection=self._connection,
            retries=self._retries,
            etags=self._etags,
            clock=self._clock,
        )
