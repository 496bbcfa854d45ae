"""Maps the status of a response to an error."""

from runledger.model.errors import NoResponseError, RateLimited

from runledger_github.calls import Call, Response
from runledger_github.errors import BadCredentials, NotFound, Refused
from runledger_github.limits import limited_until

SUCCESS = range(200, 300)
NOT_MODIFIED = 304
UNAUTHORIZED = 401
NOT_FOUND = 404
SERVER_ERROR = 500


def raise_for_status(response: Response, call: Call, *, caller: str, now: float) -> None:
    """Checks rate limits first, because they have the same statuses as refusals."""
    if response.status in SUCCESS or response.status == NOT_MODIFIED:
        return
    until = limited_until(response, now)
    if until is not None:
        raise RateLimited(caller, until=until)
    if response.status >= SERVER_ERROR:
        # A gateway may time out on a call that GitHub then completes.
        raise NoResponseError(f"{call}: {response.status} {response.message}", repeatable=call.repeatable)
    problem = f"{call} as {caller}: {response.status} {response.message}"
    if response.status == UNAUTHORIZED:
        raise BadCredentials(problem, status=response.status)
    if response.status == NOT_FOUND:
        raise NotFound(problem, status=response.status)
    raise Refused(str(call), status=response.status, message=response.message)
