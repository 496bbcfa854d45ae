"""A gate: one environment of one attempt of a run, the jobs that wait there, and the reviews. Pure.

GitHub asks for an approval for each job that reaches an environment. A decision names the environment but no job, so it
counts for the jobs that were created before it, unless an earlier decision did. A request names one job.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from runledger.model.reports import Approval, GateJob, Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    jobs: tuple[GateJob, ...] = ()
    reviews: tuple[Review, ...] = ()

    def reviews_of(self, job: GateJob) -> list[Review]:
        """The requests that name the job, and the decision on it."""
        requests = [each for each in self.reviews if each.status is Approval.PENDING and _asks_for(each, job)]
        decision = _decision(self.reviews, job)
        return requests + ([decision] if decision else [])

    def reached_by(self, review: Review) -> list[GateJob]:
        if review.status is Approval.PENDING:
            return [job for job in self.jobs if _asks_for(review, job)]
        # The gate keeps the first delivery of a review, and this may be another one of the same.
        return [
            job
            for job in self.jobs
            if (decision := _decision(self.reviews, job)) and decision.body_id == review.body_id
        ]


def _asks_for(request: Review, job: GateJob) -> bool:
    """A request without a name is one for each job that is there."""
    return request.job_name in (None, job.job_name) and job.created_at <= request.reviewed_at


def _decision(reviews: Iterable[Review], job: GateJob) -> Review | None:
    """The first after the job was created. Of two at the same time, the rejection."""
    later = [each for each in reviews if each.status is not Approval.PENDING and job.created_at <= each.reviewed_at]
    return min(later, key=lambda each: (each.reviewed_at, each.status is not Approval.REJECTED), default=None)
