"""Lives of machines for property-based tests: what happens, which webhooks arrive, and when passes run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from hypothesis import strategies as st

from tests.reconciler.wiring import GRACE_MINUTES, TAGS

FOREIGN: tuple[Mapping[str, str], ...] = ({}, {"runner": "no"}, {"Runner": "yes"})
NEVER = None
LONG_AFTER = 45


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A job on a machine, in minutes. The webhooks of its start and end arrive later, or never."""

    idle_before: int
    lasts: int
    start_received_after: int | None
    end_received_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    launched: int
    tags: Mapping[str, str]
    registers_after: int
    launcher_reports: bool
    ephemeral: bool
    work: tuple[Work, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A pass, or a person who looks at one machine.

    `ages_of_…[n]` is the age in minutes of the n-th response. At the calls in `life_goes_on_at`, time advances.
    """

    after: int
    by_person: bool
    ages_of_tables: tuple[int, ...]
    ages_of_machines: tuple[int, ...]
    ages_of_registrations: tuple[int, ...]
    life_goes_on_at: frozenset[int]


class Trick(StrEnum):
    """What a stranger does to a machine that is not theirs."""

    CLAIM = "run a job on a runner that is named after the machine"
    FINISH = "the same, and let the job end"
    SCHEDULE = "publish that the machine was launched for a job of theirs"
    TERMINATE = "publish that the machine is gone"
    RENAME = "register an idle runner under the machine's id"
    REPLAY = "deliver the last webhook about the machine again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What a stranger does in a minute. `trusted`: the settings let them publish about their installation."""

    minute: int
    trick: Trick
    trusted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    lives: tuple[Life, ...]
    looks: tuple[Look, ...]
    acts: tuple[Act, ...] = ()


DELAYS = st.sampled_from((0, 1, LONG_AFTER, NEVER))
AGES = st.lists(st.sampled_from((0, 0, 0, 1, 5, LONG_AFTER)), min_size=1, max_size=3).map(tuple)
WORK = st.builds(
    Work,
    idle_before=st.sampled_from((0, 1, 12)),
    lasts=st.sampled_from((1, 2 * LONG_AFTER)),
    start_received_after=DELAYS,
    end_received_after=DELAYS,
)


HONEST = Look(
    after=GRACE_MINUTES + 1,
    by_person=False,
    ages_of_tables=(0,),
    ages_of_machines=(0,),
    ages_of_registrations=(0,),
    life_goes_on_at=frozenset(),
)


@st.composite
def timelines(draw: Callable[[st.SearchStrategy[object]], object]) -> Timeline:
    """A cleanup that a person requests has no delay, so GitHub is faster then. The last looks get current responses."""
    in_a_hurry = draw(st.booleans())
    most = GRACE_MINUTES // 2 if in_a_hurry else GRACE_MINUTES
    lives = st.builds(
        Life,
        launched=st.sampled_from((0, 0, 25)),
        tags=st.sampled_from((TAGS, TAGS, TAGS, TAGS, *FOREIGN)),
        registers_after=st.integers(0, most),
        launcher_reports=st.booleans(),
        ephemeral=st.booleans(),
        work=st.lists(WORK, max_size=2).map(tuple),
    )
    looks = st.builds(
        Look,
        after=st.sampled_from((1, 5, GRACE_MINUTES, 15, 30)),
        by_person=st.booleans() if in_a_hurry else st.just(False),
        ages_of_tables=AGES,
        ages_of_machines=AGES,
        ages_of_registrations=st.lists(st.integers(0, most - 1), min_size=1, max_size=3).map(tuple),
        life_goes_on_at=st.frozensets(st.integers(1, 30), max_size=2),
    )
    acts = st.builds(Act, minute=st.integers(0, 90), trick=st.sampled_from(tuple(Trick)), trusted=st.booleans())
    several = st.builds(
        Timeline,
        acts=st.lists(acts, max_size=6).map(tuple),
        lives=st.lists(lives, min_size=1, max_size=2).map(tuple),
        looks=st.lists(looks, min_size=3, max_size=6).map(lambda several: (*several, HONEST, HONEST)),
    )
    found = draw(several)
    assert isinstance(found, Timeline)
    return found
