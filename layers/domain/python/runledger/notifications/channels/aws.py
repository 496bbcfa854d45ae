"""SNS topics and EventBridge buses. The deployment's settings list them: users can't choose others."""

import re
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from runledger.model.dataclass import dataclass
from runledger.notifications.channels.interface import Outgoing, SendResult
from runledger.notifications.texts import text_of
from runledger.platform.encoding import to_json

# Both limit the whole request to 256 KB.
MOST_BYTES = 200_000
LONGEST_SUBJECT = 99  # SNS accepts ASCII only
FIFO = ".fifo"
# Not `runledger`: the reconciler's requests for runners have that source, and a different format.
SOURCE = "runledger.notifications"
# Errors in the message itself. All others may go away when a topic, a bus or a permission is fixed.
FINAL = {"InvalidParameter", "InvalidParameterValue", "MalformedDetail", "InvalidArgument"}
CODE = re.compile(r"[A-Za-z0-9.]{1,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SnsTopic:
    sns: Any
    arn: str

    def send(self, outgoing: Outgoing) -> SendResult:
        """Email and SMS subscribers get text, all others get the CloudEvent."""
        text = text_of(outgoing.envelope)
        lines = "\n".join((text.title, *text.lines, *([text.url] if text.url else [])))
        content = {"default": to_json(fitting(outgoing.envelope)), "email": lines, "sms": text.title}
        request = {
            "TopicArn": self.arn,
            "Subject": text.title.encode("ascii", "replace").decode()[:LONGEST_SUBJECT],
            "MessageStructure": "json",
            "Message": to_json(content),
            "MessageAttributes": _attributes({"type": outgoing.envelope["type"], "message_id": outgoing.message_id}),
        }
        if self.arn.endswith(FIFO):
            request |= {
                "MessageGroupId": str(outgoing.envelope["source"]),
                "MessageDeduplicationId": outgoing.message_id,
            }
        try:
            return SendResult.accepted(self.sns.publish(**request)["MessageId"])
        except (ClientError, BotoCoreError) as error:
            return failed("SNS", error)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBus:
    events: Any
    arn: str

    def send(self, outgoing: Outgoing) -> SendResult:
        envelope = outgoing.envelope
        entry = {
            "Source": SOURCE,
            "DetailType": envelope["type"],
            "Detail": to_json(fitting(envelope) | {"messageid": outgoing.message_id}),
            "EventBusName": self.arn,
        }
        try:
            response = self.events.put_events(Entries=[entry])
        except (ClientError, BotoCoreError) as error:
            return failed("EventBridge", error)
        (result,) = response["Entries"]
        if response["FailedEntryCount"]:
            return _failed("EventBridge", str(result.get("ErrorCode", "")))
        return SendResult.accepted(result["EventId"])


def fitting(envelope: Mapping[str, Any]) -> dict[str, Any]:
    """Data that is too large is replaced by its address, as in feed lists."""
    if len(to_json(envelope)) <= MOST_BYTES:
        return dict(envelope)
    without = {name: value for name, value in envelope.items() if name not in ("data", "data_base64")}
    return without | {"dataref": f"{envelope['source']}/feed/{envelope['id']}"}


def failed(service: str, error: Exception) -> SendResult:
    """Contains only the error code, because AWS's messages contain ARNs and account numbers."""
    if isinstance(error, ClientError):
        return _failed(service, str(error.response.get("Error", {}).get("Code", "")))
    return SendResult.try_later(f"{service} didn't respond: {type(error).__name__}")


def _failed(service: str, code: str) -> SendResult:
    text = f"{service} rejected the message: {code if CODE.fullmatch(code) else 'no error code'}"
    return SendResult.refused(text) if code in FINAL else SendResult.try_later(text)


def _attributes(values: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {name: {"DataType": "String", "StringValue": value} for name, value in values.items()}
