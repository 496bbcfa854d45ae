"""Which installation owns a machine, and which jobs may see it. Pure: no clock, no network, only the standard library.

Anyone who registers a runner chooses its name, so a webhook that names a machine is only a *claim*. Tags and launcher
events are written with AWS credentials: they are *proof*.

    proof                    a launcher's tag that names the owner, or a launcher event from an allowed publisher
    claim without proof      the first claimant is the provisional owner
    claim by a second owner  the machine is contested: it is shown, never terminated, and no claimant's job describes it
"""

from collections.abc import Mapping
from enum import StrEnum

from runledger.model.assignments import Assignment
from runledger.model.dataclass import dataclass
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner import Runner
from runledger.model.tag_patterns import matches

Tags = Mapping[str, str]

# Tags that well-known launchers set on their machines; see docs/security.md.
LAUNCHER_TAGS = (
    ("ghr:Application", "github-action-runner"),  # terraform-aws-github-runner
    ("GitHubRunners:*", "*"),  # cdk-github-runners
    ("runs-on-*", "*"),  # RunsOn
)
OWNER_TAG = "ghr:Owner"  # an organisation, or the repository that the runner is registered with
# The repository that requested the runner. The runner may be registered with the organisation and serve others too.
REQUESTER_TAG = "GitHubRunners:Repo"
KEEP_TAG = "ghr:bypass-removal"


class Proof(StrEnum):
    EVENT = "launcher_event"
    SCOPED_EVENT = "scoped_launcher_event"  # from a publisher that is limited to some installations
    TAG = "launcher_tag"


STRENGTH = (Proof.SCOPED_EVENT, Proof.TAG, Proof.EVENT)


class Ruling(StrEnum):
    ASSIGN = "assign"  # the machine is assigned to the claimant's job
    DESCRIBE = "describe"  # another hook reported the same job: describe the machine to it, and keep the owner
    CONTEST = "contest"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """GitHub reports that a job runs on a runner whose name contains the machine's id."""

    installation_id: int
    repo_full_name: str | None
    job_id: int


def has_tags(tags: Tags, wanted: Tags) -> bool:
    """Whether all wanted tags are present. Values may contain wildcards."""
    return all(name in tags and matches(tags[name], pattern) for name, pattern in wanted.items())


def is_runner(tags: Tags, runner_tags: Tags) -> bool:
    """If `runner_tags` is empty, the tags of any well-known launcher count. Then `Fleet` terminates no machine."""
    if runner_tags:
        return has_tags(tags, runner_tags)
    return any(
        matches(name, wanted) and matches(value, pattern)
        for name, value in tags.items()
        for wanted, pattern in LAUNCHER_TAGS
    )


def must_stay(tags: Tags, keep_tags: Tags) -> bool:
    """Whether a machine is never an orphan: it has one of `keep_tags`, or KEEP_TAG with a value other than `false`."""
    if tags.get(KEEP_TAG, "false").strip().lower() != "false":
        return True
    return any(name in tags and matches(tags[name], pattern) for name, pattern in keep_tags.items())


def named_owner(tags: Tags) -> str | None:
    """The account (`acme`) or repository (`acme/web`) that a tag names, if any."""
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
    """EC2 or ECS has confirmed the machine, or an unlimited publisher has reported it."""
    return runner.confirmed_at is not None or runner.proven_by == Proof.EVENT


def is_visible_to(runner: Runner, installations: frozenset[int] | None) -> bool:
    """Whether a caller that is limited to `installations` may see and clean the machine. None means all installations.

    Neither a claim nor the report of a limited publisher is enough.
    """
    if installations is None:
        return True
    proven = runner.proven_by in (Proof.EVENT, Proof.TAG)
    return proven and not runner.contested_at and runner.installation_id in installations


def rule(claim: Claim, runner: Runner | None, tags: Tags | None, *, runner_tags: Tags) -> Ruling:
    """`tags` is None if EC2 and ECS do not find the machine."""
    owner = _owner_name(runner, tags)
    if owner is not None:
        return _rule_by_owner(claim, runner) if owns(owner, claim.repo_full_name) else Ruling.REJECT
    if runner is not None and runner.proven_by:
        # A limited publisher can name any machine, including another owner's.
        stranger = Ruling.CONTEST if runner.proven_by == Proof.SCOPED_EVENT else Ruling.REJECT
        return _rule_by_installation(claim, runner, stranger=stranger)
    assigned = runner is not None and runner.installation_id is not None
    if not (is_runner(tags, runner_tags) if tags is not None else assigned):
        return Ruling.REJECT
    if runner is None or runner.installation_id is None:
        return Ruling.ASSIGN
    return _rule_by_installation(claim, runner, stranger=Ruling.CONTEST)


def _owner_name(runner: Runner | None, tags: Tags | None) -> str | None:
    """The owner in the tags or, if EC2 and ECS don't find the machine, the recorded owner."""
    if tags is not None:
        return named_owner(tags)
    return runner.owner_name if runner else None


def _rule_by_owner(claim: Claim, runner: Runner | None) -> Ruling:
    """The tag names the claimant's account. A login can be reassigned, so a second installation is still a stranger."""
    if runner is None or runner.installation_id is None or not runner.proven_by:
        return Ruling.ASSIGN
    if NO_INSTALLATION in (claim.installation_id, runner.installation_id):
        # An organisation's own hook reports the same jobs as the App. The App is kept: its installation can be queried.
        takes_over = claim.installation_id != NO_INSTALLATION and runner.proven_by != Proof.EVENT
        same = claim.installation_id == runner.installation_id
        return Ruling.ASSIGN if same or takes_over else Ruling.DESCRIBE
    if runner.proven_by == Proof.SCOPED_EVENT:
        return Ruling.ASSIGN
    stranger = Ruling.CONTEST if runner.proven_by == Proof.TAG else Ruling.REJECT
    return _rule_by_installation(claim, runner, stranger=stranger)


def _rule_by_installation(claim: Claim, runner: Runner, *, stranger: Ruling) -> Ruling:
    """A hook without an App is weaker than an App: the holder of its secret can name any repository."""
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


def is_kept(claim: Claim, runner: Runner | None, tags: Tags | None) -> bool:
    """Whether a rejected claim is stored: the machine has no owner, or a second hook reports the same jobs.

    The claim takes effect when the machine proves to be the claimant's, or when the owner reports the same job.
    """
    owner = _owner_name(runner, tags)
    if owner is not None and not owns(owner, claim.repo_full_name):
        return False
    if runner is None or runner.installation_id is None:
        return True
    return not runner.contested_at and NO_INSTALLATION in (claim.installation_id, runner.installation_id)


def gives_way(runner: Runner, plan: Assignment, proof: Proof) -> bool:
    """Whether a launcher's event may assign the machine to the installation of its plan.

    An event about the owner's installation always may. An event from an unlimited publisher also replaces a provisional
    owner, an owner that a limited publisher named, and an owner that a tag names if both belong to the same account.
    An event from a limited publisher never replaces an owner, because it can name any machine.
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
    """Whether both sides may be right: each has only a claim, or the report of a limited publisher."""
    weak = runner.proven_by in (None, Proof.SCOPED_EVENT)
    return proof is Proof.SCOPED_EVENT and weak and not runner.contested_at


def owner_after(runner: Runner, plan: Assignment, proof: Proof) -> dict[str, object]:
    """Proof ends every contest. A stronger proof for the same owner is kept, whatever the order of arrival."""
    known = [runner.proven_by] if runner.proven_by and runner.installation_id == plan.installation_id else []
    return {
        "installation_id": plan.installation_id,
        "proven_by": max((proof, *map(Proof, known)), key=STRENGTH.index),
        "contested_at": None,
        "contested_by": None,
    }
