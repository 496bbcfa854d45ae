"""What the API refuses, each with the sentence that the caller is shown.

Refused
├── NoToken             401  no token, or an invalid one
├── NotAllowed          403  the role or the scope does not suffice
├── NoSuchThing         404  it does not exist, or the caller may not know that it does
├── WrongMethod         405
├── BadParameter        400  with the parameter's name
├── NotAcceptable       406  the file is only sent compressed
├── Conflict            409  not in the state that things are in
└── TooManyRequests     429  GitHub's rate limit is used up
"""

from collections.abc import Iterable


class Refused(Exception):
    pass


class NoToken(Refused):
    pass


class NotAllowed(Refused):
    pass


class NoSuchThing(Refused):
    pass


class WrongMethod(Refused):
    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = ", ".join(sorted(allowed))
        super().__init__(f"this path takes {self.allowed}")


class BadParameter(Refused):
    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        self.problem = problem


class NotAcceptable(Refused):
    pass


class Conflict(Refused):
    pass


class TooManyRequests(Refused):
    pass
