"""The result of a check, and how it is shown: one line, with what to do next."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from botocore.exceptions import BotoCoreError, ClientError


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    state: State
    check: str
    detail: str
    next_step: str | None = None

    def line(self) -> str:
        return f"{self.state:<8} {self.check:<14} {self.detail}{self._remedy()}"

    def _remedy(self) -> str:
        if not self.next_step:
            return ""
        if self.detail.endswith("?"):
            return f" {self.next_step[:1].upper()}{self.next_step[1:]}"
        return f": {self.next_step}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    name: str
    run: Callable[[], "Outcome"]

    def result(self) -> Result:
        try:
            found = self.run()
        except (BotoCoreError, ClientError) as error:
            found = Problem(f"AWS: {error}", "check your credentials and permissions")
        match found:
            case Ok(detail):
                return Result(state=State.OK, check=self.name, detail=detail)
            case Skipped(detail, next_step):
                return Result(state=State.SKIPPED, check=self.name, detail=detail, next_step=next_step)
            case Caution(detail, next_step):
                return Result(state=State.WARNING, check=self.name, detail=detail, next_step=next_step)
            case Problem(detail, next_step):
                return Result(state=State.PROBLEM, check=self.name, detail=detail, next_step=next_step)


@dataclass(frozen=True, slots=True)
class Ok:
    detail: str


@dataclass(frozen=True, slots=True)
class Skipped:
    detail: str
    next_step: str | None = None


@dataclass(frozen=True, slots=True)
class Caution:
    """A deployment works, but not for long or not well. This doesn't change the exit code."""

    detail: str
    next_step: str


@dataclass(frozen=True, slots=True)
class Problem:
    detail: str
    next_step: str


Outcome = Ok | Caution | Problem | Skipped
