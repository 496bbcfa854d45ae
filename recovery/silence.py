"""Follow-up work that a rebuild must not cause: machines of rebuilt jobs are gone, and their runs ended long ago."""

from runledger.model.job import Job
from runledger.model.reports import RunReport
from runledger.recording.follow_up import FollowUps


class NoFollowUps(FollowUps):
    def __init__(self) -> None:
        pass

    def look_up_runner(self, job: Job) -> None:
        pass

    def consider_rerun(self, run: Job | RunReport) -> None:
        pass
