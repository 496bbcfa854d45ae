"""Processes queue messages one by one: a message that can't be processed fails alone, and its reason is logged.

A batch ends before its function times out, because Lambda would repeat the whole batch after a timeout, including
messages that are already recorded. Messages that were not started go back to the queue, but SQS has counted a receive
for them. So only functions that call no service except DynamoDB get batches; the others get one message at a time.
"""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    SqsFifoPartialProcessor,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from runledger.model import payload, times
from runledger.model.errors import NewerMessage, Rejection
from runledger.model.payload import Json
from runledger.platform import logs, retries

# Time budget of one message: two DynamoDB calls that hang, each tried twice, plus the remaining work.
MESSAGE_SECONDS = 20


class _OutOfTime(Exception):
    """The message was not started."""


def each(event: dict[str, Any], context: Any, process: Callable[[str], None]) -> Any:
    """The response for Lambda: SQS keeps the messages that failed or were not started, and only those."""
    return _each(event, context, lambda message: process(message.body))


def each_event(event: dict[str, Any], context: Any, process: Callable[[Json, str | None], None]) -> Any:
    """The same for EventBridge events, each with the time at which it was put on the queue."""

    def process_message(message: SQSRecord) -> None:
        published = payload.parse_object(message.body, "message")
        logs.set_correlation_id(str(published.get("id")))
        process(published, _sent_at(message))

    return _each(event, context, process_message)


def each_in_order(event: dict[str, Any], context: Any, process: Callable[[str], None]) -> Any:
    """The same for a FIFO queue: after a message that failed, the later ones of its group are not started."""
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    processor.raise_on_entire_batch_failure = False
    return _each(event, context, lambda message: process(message.body), processor)


def _each(
    event: dict[str, Any],
    context: Any,
    process: Callable[[SQSRecord], None],
    processor: BatchProcessor | None = None,
) -> Any:
    started = deferred = 0

    def handle(record: SQSRecord) -> None:
        nonlocal started, deferred
        # The first message is always started: otherwise it might never be processed.
        if started and context.get_remaining_time_in_millis() < MESSAGE_SECONDS * times.MS_PER_SECOND:
            deferred += 1
            raise _OutOfTime
        started += 1
        logs.set_correlation_id(record.message_id)
        try:
            with retries.attempt(record.raw_event):
                process(record)
        except Rejection as rejection:
            # SQS delivers a rejected message a few times more before it becomes a dead letter; it is counted once.
            logs.message_rejected(record.message_id, rejection, first=retries.is_first(record.raw_event))
            raise
        except NewerMessage as newer:
            logs.newer_message(newer, message_id=record.message_id)
            raise
        except Exception:
            logs.logger.exception("message failed", extra={"message_id": record.message_id})
            raise

    # A new processor for each batch: it stores failed messages, and a warm function must not report those of the
    # last batch again.
    processor = processor or BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    response = process_partial_response(event=event, record_handler=handle, processor=processor, context=context)
    if deferred:
        logs.logger.warning("messages deferred", extra={"number": deferred})
    if failed := len(response["batchItemFailures"]) - deferred:
        logs.messages_failed(failed)
    return response


def _sent_at(record: SQSRecord) -> str | None:
    sent = record.raw_event.get("attributes", {}).get("SentTimestamp")
    return times.from_epoch_ms(int(sent)) if sent else None
