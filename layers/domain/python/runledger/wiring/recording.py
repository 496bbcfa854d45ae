"""The ledger and webhook intake. Objects that intake doesn't need are wired elsewhere, so that it doesn't load them."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from runledger.model.runner_names import TASK_ID
from runledger.platform.clients import client, lazy_client
from runledger.recording import telemetry
from runledger.recording.follow_up_queue import FollowUpQueue
from runledger.recording.ledger import Ledger
from runledger.tables.events import EventsTable
from runledger.tables.gates import Gates
from runledger.webhooks.intake import Intake
from runledger.webhooks.retry_queue import RetryQueue
from runledger.webhooks.signatures import WebhookSecrets
from runledger.wiring.settings import (
    CopySettings,
    IntakeSettings,
    PublicationQueueSettings,
    RecordingSettings,
    open_table,
)
from runledger.wiring.tables import deployments, installations, jobs, runs


@cache
def ledger() -> Ledger:
    settings = RecordingSettings.from_environment()
    return Ledger(
        jobs=jobs(),
        events=open_table(EventsTable, "JOB_EVENTS"),
        installations=installations(),
        runs=runs(),
        deployments=deployments(),
        gates=open_table(Gates, "DEPLOYMENTS"),
        follow_ups=FollowUpQueue(
            lazy_client("sqs"),
            lookups_url=settings.runner_lookups_queue,
            reruns_url=settings.rerun_checks_queue,
            instance_pattern=settings.instance_id_pattern,
            task_pattern=TASK_ID,
        ),
        rerun=settings.rerun,
        recorded=telemetry.recorded,
    )


@cache
def intake() -> Intake:
    settings = IntakeSettings.from_environment()
    retries = RetryQueue(lazy_client("sqs"), settings.webhook_retries_queue)
    made = Intake(
        secrets=WebhookSecrets(
            client("secretsmanager"),
            settings.webhook_secrets,
            clock=time.monotonic,
            ignored=telemetry.secret_ignored,
        ),
        ledger=replace(ledger(), defer=retries.put),
        retries=retries,
        host=settings.github_host,
    )
    if url := PublicationQueueSettings.from_environment().release_inputs_queue:
        from runledger.releases.queue import PublicationQueue  # noqa: PLC0415 - only with `releases`
        from runledger.webhooks.publication_intake import PublicationIntake  # noqa: PLC0415 - as above

        send = PublicationQueue(sqs=lazy_client("sqs"), url=url).send
        made = replace(made, publications=PublicationIntake(send=send))
    if not CopySettings.from_environment().webhook_bucket:
        return made
    from runledger.wiring import migration  # noqa: PLC0415 - only the phases with S3 load it

    return migration.with_copies(made)


@cache
def put_copy() -> Callable[[str], None]:
    """For webhook copies in the retry queue. Some may remain after the phase that wrote them has ended."""
    settings = CopySettings.from_environment()

    def put(message: str) -> None:
        from runledger.wiring import migration  # noqa: PLC0415 - as above

        migration.put_copy(message, settings)

    return put
