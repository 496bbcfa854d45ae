"""Every decision that a play leaves open is a choice between numbered options, of which 0 is the ordinary one.

A play that takes the same choices is the same play. So all plays are found by taking, after each play, the next option
of its last choice that has one; random plays are found with dice; and a list of numbers repeats any of them.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
CALM = (0.5, 0.8, 0.95)  # how likely dice take the ordinary option: disturbances must not all come at the start


def seeded(seed: int | str) -> random.Random:
    return random.Random(seed)  # noqa: S311


class Choices:
    """Those of one play: a script first, then the ordinary option, or dice if there are any."""

    def __init__(self, script: Sequence[int] = (), dice: random.Random | None = None) -> None:
        self._script = script
        self._dice = dice
        self._calm = dice.choice(CALM) if dice else 1.0
        self.taken: list[int] = []
        self.options: list[int] = []

    def pick(self, options: int) -> int:
        if options < 2:
            return 0
        taken = self._script[len(self.taken)] if len(self.taken) < len(self._script) else self._rolled(options)
        self.taken.append(taken)
        self.options.append(options)
        return taken

    def _rolled(self, options: int) -> int:
        if self._dice is None or self._dice.random() < self._calm:
            return 0
        return self._dice.randrange(options)

    def following(self) -> list[int] | None:
        """The script of the next play in order, or None after the last one."""
        for place in reversed(range(len(self.taken))):
            if self.taken[place] + 1 < self.options[place]:
                return [*self.taken[:place], self.taken[place] + 1]
        return None


def every(play: Callable[[Choices], T], *, limit: int | None = None, seed: int = 0) -> Iterator[T]:
    """All plays, or `limit` of them: then half of them in order, which varies late choices, and half at random."""
    script: list[int] | None = []
    played = 0
    while script is not None and (limit is None or played < (limit + 1) // 2):
        choices = Choices(script)
        yield play(choices)
        played += 1
        script = choices.following()
    while script is not None and limit is not None and played < limit:
        yield play(Choices(dice=seeded(f"{seed} {played}")))
        played += 1
