"""Which of our errors an answer is."""

from runledger_github.errors import BadCredentials, NoAnswerError, NotFound, RateLimited, Refused
from runledger_github.limits import limited_until
from runledger_github.messages import Answer, Call

GOOD = range(200, 300)
NOT_MODIFIED = 304
UNAUTHORIZED = 401
NOT_FOUND = 404
SERVER_ERROR = 500


def accept(answer: Answer, call: Call, *, caller: str, now: float) -> None:
    """Returns if the answer is good; a limit is looked for first, because it hides behind the status of a refusal."""
    if answer.status in GOOD or answer.status == NOT_MODIFIED:
        return
    until = limited_until(answer, now)
    if until is not None:
        raise RateLimited(caller, until=until)
    if answer.status >= SERVER_ERROR:
        # A gateway in front of GitHub may give up on work that is then done all the same.
        raise NoAnswerError(f"{call}: {answer.status} {answer.message}", repeatable=call.repeatable)
    if answer.status == UNAUTHORIZED:
        raise BadCredentials(f"{call} as {caller}: {answer.status} {answer.message}")
    if answer.status == NOT_FOUND:
        raise NotFound(f"{call} as {caller}: {answer.status} {answer.message}")
    raise Refused(str(call), status=answer.status, message=answer.message)
