"""Which machine a job has, and how an input changes that. Pure.

Only plans and descriptions assign a machine, and facts of two machines never mix. The machine that GitHub names
overrides every plan. Among plans the newest counts, whatever the job's status.
"""

from typing import TYPE_CHECKING, Any

from runledger.model.inputs import Facts, Receipt
from runledger.model.runner_names import contains_id_of, machine_in
from runledger.model.times import NEVER

if TYPE_CHECKING:
    from runledger.model.job import Job

MACHINE_TIMES = {"interrupted_at", "terminated_at"}
DESCRIPTION = {
    *("scheduled_at", "instance_id", "instance_type", "instance_lifecycle", "fleet_id", "pool_name"),
    *("price_per_hour", "on_demand_price_per_hour"),
}
MACHINE_FIELDS = {*DESCRIPTION, *MACHINE_TIMES, "runner_name"}


def machine_after(job: "Job", receipt: Receipt) -> dict[str, Any]:
    """The fields of the job's machine that the input changes."""
    facts = receipt.facts
    if receipt.releases:
        return _released(job, receipt) if loses(job, receipt) else {}
    if receipt.returns:
        return _described(job, facts) if regains(job, receipt) else {}
    if receipt.is_plan:
        return _planned(job, receipt)
    if receipt.describes_machine:
        return _described(job, facts)
    if not receipt.is_about_machine or facts.instance_id is None or facts.instance_id != job.instance_id:
        return {}
    reported = {name: at for name in MACHINE_TIMES if (at := getattr(facts, name)) is not None}
    since = job.scheduled_at or ""
    earlier = {name: at for name, at in reported.items() if since <= at < (getattr(job, name) or NEVER)}
    return _without_late_warning(job, earlier)


def follows(job: "Job", facts: Facts) -> bool:
    """Whether a plan for a machine other than the current one assigns that machine to the job."""
    if job.runs_on(facts.instance_id):
        return True
    if job.runs_on(job.instance_id):
        return False
    newest = max((job.scheduled_at or "", job.instance_id or ""), (job.lost_plan_at or "", NEVER))
    return (facts.scheduled_at or "", facts.instance_id or "") > newest


def loses(job: "Job", receipt: Receipt) -> bool:
    """Whether the job loses its machine to another job.

    If GitHub names the machine for this job, the job loses it only when the machine proves to be another owner's. Such
    a receipt contains no plan.
    """
    if job.instance_id != receipt.releases:
        return False
    plan_at = receipt.facts.scheduled_at
    if plan_at is None:
        return not job.may_be_repeated(receipt)
    return plan_at >= (job.scheduled_at or "") and not job.runs_on(job.instance_id)


def regains(job: "Job", receipt: Receipt) -> bool:
    """Whether the receipt returns the newest plan that the job lost, and no newer plan has replaced it."""
    return job.instance_id is None and job.lost_plan_at is not None and job.lost_plan_at == receipt.facts.scheduled_at


def runs_elsewhere(job: "Job") -> bool:
    """GitHub names a machine other than the planned one. The job keeps the plan until that machine is looked up."""
    return job.runner_named_by_github and names_another(job.runner_name, job.instance_id)


def names_another(runner_name: str | None, instance_id: str | None) -> bool:
    """Whether the runner's name contains the id of a machine other than this one."""
    name = runner_name or ""
    return machine_in(name) is not None and not contains_id_of(name, instance_id)


def _planned(job: "Job", receipt: Receipt) -> dict[str, Any]:
    facts, is_new = receipt.facts, not job.may_be_repeated(receipt)
    given = {name: value for name in MACHINE_FIELDS if (value := getattr(facts, name)) is not None}
    if job.runner_named_by_github:
        given.pop("runner_name", None)
    if facts.instance_id == job.instance_id:
        planned_at = facts.scheduled_at or ""
        if is_new and planned_at >= (job.scheduled_at or ""):
            return given | _without_times_before(job, planned_at)
        return {name: value for name, value in given.items() if getattr(job, name) is None}
    return _without_machine(job) | given if is_new and follows(job, facts) else {}


def _described(job: "Job", facts: Facts) -> dict[str, Any]:
    """A description is complete: a field without a value is cleared."""
    described = {name: getattr(facts, name) for name in DESCRIPTION}
    if facts.instance_id != job.instance_id:
        return _without_machine(job) | described
    return described | _without_times_before(job, facts.scheduled_at or "")


def _released(job: "Job", receipt: Receipt) -> dict[str, Any]:
    """Keeps the time of the lost plan, so that an older plan that arrives late is not followed."""
    lost = max(job.lost_plan_at or "", receipt.facts.scheduled_at or "")
    return _without_machine(job) | {"lost_plan_at": lost or None}


def _without_machine(job: "Job") -> dict[str, Any]:
    kept = {"runner_name"} if job.runner_named_by_github else set()
    return dict.fromkeys((MACHINE_FIELDS | {"lost_plan_at"}) - kept)


def _without_times_before(job: "Job", since: str) -> dict[str, Any]:
    """Clears what happened to the machine before the job was assigned to it."""
    return {name: None for name in MACHINE_TIMES if (getattr(job, name) or NEVER) < since}


def _without_late_warning(job: "Job", reported: dict[str, Any]) -> dict[str, Any]:
    """A warning after the machine's end belongs to a later life of the machine."""
    end = reported.get("terminated_at", job.terminated_at) or NEVER
    if reported.get("interrupted_at", job.interrupted_at or "") <= end:
        return reported
    return reported | {"interrupted_at": None}
