"""Whose machine it is, and who is told about it. Pure: no clock, no network, only the standard library.

A runner's name is chosen by whoever registers the runner, so a webhook that names a machine is only a *claim*. Tags and
launcher events are written with AWS credentials: they are *proof*.

    proof                    a launcher's tag that names the owner, or a scheduling event of an allowed publisher
    claim, no proof yet      the first claimant is the provisional owner
    claim by a second owner  the machine is contested: shown, never stopped, and described to neither claimant
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from runledger.model.assignments import Assignment
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner import Runner

Tags = Mapping[str, str]

# Tags by which well-known launchers mark their machines; see docs/security.md.
LAUNCHER_TAGS = (
    ("ghr:Application", "github-action-runner"),  # terraform-aws-github-runner
    ("GitHubRunners:*", "*"),  # cdk-github-runners
    ("runs-on-*", "*"),  # RunsOn
)
OWNER_TAG = "ghr:Owner"  # an organisation, or the repository that the runner is registered with
# The repository that asked for the runner. The runner may be registered with its organisation and serve others.
REQUESTER_TAG = "GitHubRunners:Repo"
KEEP_TAG = "ghr:bypass-removal"


class Proof(StrEnum):
    EVENT = "launcher_event"
    SCOPED_EVENT = "scoped_launcher_event"  # of a publisher that may report about some installations only
    TAG = "launcher_tag"


class Ruling(StrEnum):
    ASSIGN = "assign"  # the machine now works for the claimant's job
    DESCRIBE = "describe"  # the claimant's job runs there too, through another hook; the record stays as it is
    CONTEST = "contest"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """GitHub reports that a job runs on a runner whose name contains the machine's id."""

    installation_id: int
    repo_full_name: str | None
    job_id: int


def has_tags(tags: Tags, wanted: Tags) -> bool:
    """All of them; `*` in a value matches any text."""
    return all(name in tags and fnmatchcase(tags[name], pattern) for name, pattern in wanted.items())


def is_runner(tags: Tags, runner_tags: Tags) -> bool:
    """Without tags of your own, the tags of any well-known launcher count."""
    if runner_tags:
        return has_tags(tags, runner_tags)
    return any(
        fnmatchcase(name, wanted) and fnmatchcase(value, pattern)
        for name, value in tags.items()
        for wanted, pattern in LAUNCHER_TAGS
    )


def must_stay(tags: Tags, keep_tags: Tags) -> bool:
    """A machine that is never an orphan: the launcher's mark, whose every value but `false` counts, or one of yours."""
    if tags.get(KEEP_TAG, "false").strip().lower() != "false":
        return True
    return any(name in tags and fnmatchcase(tags[name], pattern) for name, pattern in keep_tags.items())


def named_owner(tags: Tags) -> str | None:
    """An account (`acme`) or a repository (`acme/web`), where a tag names one."""
    if owner := tags.get(OWNER_TAG):
        return owner.lower()
    account, slash, _ = tags.get(REQUESTER_TAG, "").partition("/")
    return account.lower() if slash and account else None


def owns(owner: str, repo_full_name: str | None) -> bool:
    repo = (repo_full_name or "").lower()
    return repo == owner if "/" in owner else bool(repo) and account_of(repo) == owner


def account_of(name: str) -> str:
    return name.partition("/")[0].lower()


def is_known(runner: Runner) -> bool:
    """EC2 or ECS has confirmed the machine, or a publisher without limits has reported it."""
    return runner.confirmed_at is not None or runner.proven_by == Proof.EVENT


def is_visible_to(runner: Runner, installations: frozenset[int] | None) -> bool:
    """Neither a claim nor a limited publisher's report lets a limited caller see or clean a machine.

    None stands for all installations.
    """
    if installations is None:
        return True
    proven = runner.proven_by in (Proof.EVENT, Proof.TAG)
    return proven and not runner.contested_at and runner.installation_id in installations


def rule(claim: Claim, runner: Runner | None, tags: Tags | None, *, runner_tags: Tags) -> Ruling:
    """`tags` is None for a machine that EC2 or ECS does not know, or no longer knows."""
    owner = named_owner(tags) if tags is not None else runner.owner_name if runner else None
    if owner is not None:
        return _rule_by_owner(claim, runner) if owns(owner, claim.repo_full_name) else Ruling.REJECT
    if runner is not None and runner.proven_by:
        # A publisher that is limited to some installations may report about a machine that is not theirs.
        stranger = Ruling.CONTEST if runner.proven_by == Proof.SCOPED_EVENT else Ruling.REJECT
        return _rule_by_installation(claim, runner, stranger=stranger)
    assigned = runner is not None and runner.installation_id is not None
    if not (is_runner(tags, runner_tags) if tags is not None else assigned):
        return Ruling.REJECT
    if runner is None or runner.installation_id is None:
        return Ruling.ASSIGN
    return _rule_by_installation(claim, runner, stranger=Ruling.CONTEST)


def _rule_by_owner(claim: Claim, runner: Runner | None) -> Ruling:
    """The tag names the claimant's account. A login may change hands, so a second installation is still a stranger."""
    if runner is None or runner.installation_id is None or not runner.proven_by:
        return Ruling.ASSIGN
    if NO_INSTALLATION in (claim.installation_id, runner.installation_id):
        # An organisation's own hook reports the same jobs as the App. The App's installation can be queried: keep it.
        takes_over = claim.installation_id != NO_INSTALLATION and runner.proven_by != Proof.EVENT
        same = claim.installation_id == runner.installation_id
        return Ruling.ASSIGN if same or takes_over else Ruling.DESCRIBE
    if runner.proven_by == Proof.SCOPED_EVENT:
        return Ruling.ASSIGN
    stranger = Ruling.CONTEST if runner.proven_by == Proof.TAG else Ruling.REJECT
    return _rule_by_installation(claim, runner, stranger=stranger)


def _rule_by_installation(claim: Claim, runner: Runner, *, stranger: Ruling) -> Ruling:
    """A hook without an App is weaker than an App: whoever holds its secret can name any repository."""
    if runner.contested_at:
        return Ruling.REJECT
    if claim.installation_id == runner.installation_id:
        return Ruling.ASSIGN
    if runner.has_worked_for(claim.job_id, claim.repo_full_name):
        return Ruling.DESCRIBE
    if claim.installation_id == NO_INSTALLATION:
        return Ruling.REJECT
    if runner.installation_id == NO_INSTALLATION and not runner.proven_by:
        return Ruling.ASSIGN
    return stranger


def is_remembered(claim: Claim, runner: Runner | None, tags: Tags | None) -> bool:
    """A rejected claim on a machine without an owner, or of a second hook that reports the same jobs.

    It has no effect until the machine proves to be the claimant's, or the owner reports the same job.
    """
    owner = named_owner(tags) if tags is not None else runner.owner_name if runner else None
    if owner is not None and not owns(owner, claim.repo_full_name):
        return False
    if runner is None or runner.installation_id is None:
        return True
    return not runner.contested_at and NO_INSTALLATION in (claim.installation_id, runner.installation_id)


def gives_way(runner: Runner, plan: Assignment, proof: Proof) -> bool:
    """Whether a launcher's event may assign the machine: always its owner's, and a provisional owner gives way.

    So does an owner that a tag names if the event is about the same account, and an owner that a publisher with a
    limited scope has named. To a publisher with a limited scope, no other owner gives way: it may report about a
    machine that is not theirs.
    """
    if runner.installation_id in (None, plan.installation_id) and not runner.contested_at:
        return True
    if proof != Proof.EVENT:
        return False
    if runner.proven_by == Proof.SCOPED_EVENT:
        return True
    if runner.proven_by == Proof.TAG and runner.owner_name and not runner.contested_at:
        return owns(runner.owner_name, plan.repo_full_name)
    return not runner.proven_by


def is_contest(runner: Runner, proof: Proof) -> bool:
    """Two parties that may each be right: neither has more than a claim, or a report within its own scope."""
    weak = runner.proven_by in (None, Proof.SCOPED_EVENT)
    return proof is Proof.SCOPED_EVENT and weak and not runner.contested_at


def owner_after(runner: Runner, plan: Assignment, proof: Proof) -> dict[str, object]:
    """Proof settles every contest. An event of a publisher without limits stays the better proof."""
    kept = runner.proven_by == Proof.EVENT and runner.installation_id == plan.installation_id
    return {
        "installation_id": plan.installation_id,
        "proven_by": Proof.EVENT if kept else proof,
        "contested_at": None,
        "contested_by": None,
    }
