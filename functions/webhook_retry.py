"""The retry queue: receipts that could not be recorded at once are recorded now, or go to the dead-letter queue."""

from typing import Any

from runledger import retries, runtime, telemetry  # isort: skip - telemetry decides how Powertools is loaded

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

ledger = runtime.ledger()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def handler(event: dict[str, Any], context: Any) -> Any:
    return process_partial_response(event=event, record_handler=_record, processor=processor, context=context)


def _record(record: SQSRecord) -> None:
    try:
        said = retries.from_message(record.body)
        telemetry.follow(getattr(said, "delivery_id", record.message_id))
        telemetry.taken(said, ledger.take(said))
    except Exception:
        telemetry.logger.exception("not recorded", extra={"message_id": record.message_id})
        raise
