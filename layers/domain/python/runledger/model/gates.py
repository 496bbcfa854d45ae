"""A gate: one environment of one attempt of a run, with its waiting jobs and its reviews. Pure.

GitHub requests an approval for each job that reaches an environment, and a request names its job. A decision names only
the environment. So it applies to each job that was created before it and has no earlier decision.
"""

from collections.abc import Iterable

from runledger.model.dataclass import dataclass
from runledger.model.reports import Approval, GateJob, Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    jobs: tuple[GateJob, ...] = ()
    reviews: tuple[Review, ...] = ()

    def reviews_of(self, job: GateJob) -> list[Review]:
        """The requests that name the job, and the decision on it."""
        requests = [each for each in self.reviews if each.status is Approval.PENDING and _is_for(each, job)]
        deciding = _deciding_review(self.reviews, job)
        return requests + ([deciding] if deciding else [])

    def reached_by(self, review: Review) -> list[GateJob]:
        if review.status is Approval.PENDING:
            return [job for job in self.jobs if _is_for(review, job)]
        # The gate stores the first delivery of a review, and `review` may be a later delivery of the same body.
        return [
            job
            for job in self.jobs
            if (deciding := _deciding_review(self.reviews, job)) and deciding.body_id == review.body_id
        ]


def _is_for(request: Review, job: GateJob) -> bool:
    """A request without a job name is for every job at the gate."""
    return request.job_name in (None, job.job_name) and job.created_at <= request.reviewed_at


def precedence(decided_at: str, status: Approval) -> tuple[str, bool]:
    """The decision with the lowest value counts: the first one or, at the same time, the rejection."""
    return decided_at, status is not Approval.REJECTED


def _deciding_review(reviews: Iterable[Review], job: GateJob) -> Review | None:
    """The decision on the job, among those after its creation."""
    later = [each for each in reviews if each.status is not Approval.PENDING and job.created_at <= each.reviewed_at]
    return min(later, key=lambda each: precedence(each.reviewed_at, each.status), default=None)
