"""Messages of a queue, one by one: a poisoned one fails alone, with its reason logged, and becomes a dead letter."""

from collections.abc import Callable
from typing import Any

from runledger.platform import logs

from runledger.model import times  # isort: skip - it decides how Powertools is loaded

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from runledger.model.errors import NewerMessage, Refusal


def each(event: dict[str, Any], context: Any, take: Callable[[str], None]) -> Any:
    """What Lambda must answer, so that SQS keeps the messages that failed and only those."""
    return each_dated(event, context, lambda body, _: take(body))


def each_dated(event: dict[str, Any], context: Any, take: Callable[[str, str | None], None]) -> Any:
    """The same with the time at which each message was put on the queue."""

    def one(record: SQSRecord) -> None:
        logs.follow(record.message_id)
        try:
            take(record.body, _sent_at(record))
        except Refusal as refusal:
            logs.rejected(record.message_id, refusal, first=_is_first_try(record))
            raise
        except NewerMessage as newer:
            logs.newer_message(newer, message_id=record.message_id)
            raise
        except Exception:
            logs.logger.exception("message failed", extra={"message_id": record.message_id})
            raise

    # Made for each batch: it keeps what failed, and a warm function must not remember the last one.
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    response = process_partial_response(event=event, record_handler=one, processor=processor, context=context)
    if failed := len(response["batchItemFailures"]):
        logs.messages_failed(failed)
    return response


def _sent_at(record: SQSRecord) -> str | None:
    sent = record.raw_event.get("attributes", {}).get("SentTimestamp")
    return times.from_epoch_ms(int(sent)) if sent else None


def _is_first_try(record: SQSRecord) -> bool:
    """SQS delivers a rejected message a few times more before it becomes a dead letter; it is counted once."""
    attributes = record.raw_event.get("attributes", {})
    return bool(attributes.get("ApproximateReceiveCount", "1") == "1")
