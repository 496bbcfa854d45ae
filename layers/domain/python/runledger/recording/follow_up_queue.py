"""Queued tasks that follow from an input. They call EC2 or GitHub, which takes too long for the input itself."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from runledger.model import message_format
from runledger.model.errors import Malformed
from runledger.model.follow_ups import RerunCheck, RunnerLookup
from runledger.model.instance import RunnerKind
from runledger.model.job import Job
from runledger.model.reports import RunReport
from runledger.model.runner_names import instance_id_in, task_id_in
from runledger.platform import logs
from runledger.platform.availability import translate_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class FollowUps(Protocol):
    def look_up_runner(self, job: Job) -> None: ...
    def consider_rerun(self, run: Job | RunReport) -> None: ...


class FollowUpQueue:
    """A task may be sent twice: the second one has no effect."""

    def __init__(
        self, client: "SQSClient", *, lookups_url: str, reruns_url: str, instance_pattern: str, task_pattern: str
    ) -> None:
        self._client = client
        self._lookups_url = lookups_url
        self._reruns_url = reruns_url
        self._instance_pattern = instance_pattern
        self._task_pattern = task_pattern

    def look_up_runner(self, job: Job) -> None:
        """Does nothing if the name contains no machine id, or if a launcher planned the job for the machine's current
        life.
        """
        name = job.runner_name or ""
        instance_id = instance_id_in(name, self._instance_pattern)
        runner_id = instance_id or task_id_in(name, self._task_pattern)
        if runner_id is None or (_is_end_of(job.instance_id, runner_id) and not job.machine_was_restarted):
            return
        self._send(
            self._lookups_url,
            RunnerLookup(
                installation_id=job.installation_id,
                job_id=job.job_id,
                runner_id=runner_id,
                kind=RunnerKind.EC2 if instance_id else RunnerKind.ECS,
                repo_full_name=job.repo_full_name,
                at=job.last_updated_at,
                started_at=job.started_at,
            ),
        )

    def consider_rerun(self, run: Job | RunReport) -> None:
        if run.run_id is None or run.repo_full_name is None:
            return
        self._send(
            self._reruns_url,
            RerunCheck(
                installation_id=run.installation_id,
                repo_full_name=run.repo_full_name,
                run_id=run.run_id,
                run_attempt=run.run_attempt or 1,
            ),
        )

    @translate_errors("follow-up queue")
    def _send(self, url: str, task: RunnerLookup | RerunCheck) -> None:
        message = to_message(task, correlation_id=logs.correlation_id())
        self._client.send_message(QueueUrl=url, MessageBody=message)


class NoFollowUps:
    """For old jobs: their machines are gone and their runs ended long ago, so there is nothing to look up or re-run."""

    def look_up_runner(self, job: Job) -> None:
        pass

    def consider_rerun(self, run: Job | RunReport) -> None:
        pass


def _is_end_of(instance_id: str | None, found: str) -> bool:
    """Compares with the text found, not with the name: the configured pattern decides which part of the name is the id.

    For a task, the text may be the last part of the ARN.
    """
    return (instance_id or "").endswith(found)


def to_message(task: RunnerLookup | RerunCheck, *, correlation_id: str | None = None) -> str:
    return json.dumps(message_format.stamp(asdict(task), correlation_id=correlation_id))


def lookup_from(message: str) -> RunnerLookup:
    lookup = message_format.read(RunnerLookup, message_format.parse(message))
    if lookup.kind not in list(RunnerKind):
        raise Malformed("kind", f"must be one of {', '.join(RunnerKind)}")
    return lookup


def rerun_check_from(message: str) -> RerunCheck:
    return message_format.read(RerunCheck, message_format.parse(message))
