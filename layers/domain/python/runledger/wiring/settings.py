"""The environment variables that the stacks give each function, as one typed object per role.

Each field is read from the variable with its name in upper case. A field with a default is optional, and an empty
variable counts as absent. A test compares the fields with the variables in the synthesised templates.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from runledger.model.dataclass import dataclass
from runledger.model.runs import RerunPolicy
from runledger.platform.clients import client

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

T_co = TypeVar("T_co", covariant=True)


class MissingSetting(LookupError):
    def __init__(self, name: str) -> None:
        super().__init__(f"the environment variable {name} is missing: deploy the stacks again, they set it")


class InvalidSetting(ValueError):
    def __init__(self, name: str, value: str) -> None:
        super().__init__(f"the environment variable {name} has an invalid value: {value!r}")


def names_in(text: str) -> tuple[str, ...]:
    """`one,two` as a tuple."""
    return tuple(each for each in text.split(",") if each)


def tags_in(text: str) -> Mapping[str, str]:
    """`name=value,name=value` as a mapping; a name alone matches every value."""
    tags = [each.partition("=") for each in names_in(text)]
    return {name: value or "*" for name, _, value in tags}


def parsed(parse: Callable[[str], Any], **default: Any) -> Any:
    """A field that isn't a plain string or number."""
    return field(metadata={"parse": parse}, **default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    @classmethod
    def from_environment(cls, prefix: str = "") -> Self:
        """Raises MissingSetting or InvalidSetting, with the name of the variable."""
        found = ((each.name, f"{prefix}{each.name}".upper(), each) for each in fields(cls))
        return cls(**{name: _read(variable, each) for name, variable, each in found if _is_read(variable, each)})


def _is_read(variable: str, each: Field[Any]) -> bool:
    if os.environ.get(variable):
        return True
    if each.default is MISSING and each.default_factory is MISSING:
        raise MissingSetting(variable)
    return False


def _read(variable: str, each: Field[Any]) -> Any:
    text = os.environ[variable]
    parse: Any = each.metadata.get("parse", each.type)
    try:
        return parse(text)
    except (ValueError, LookupError):
        raise InvalidSetting(variable, text) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings(Settings):
    """The settings of one table: `TableSettings.of("JOBS")` reads JOBS_TABLE and JOBS_RETENTION_DAYS."""

    table: str
    retention_days: int

    @classmethod
    def of(cls, table: str) -> Self:
        return cls.from_environment(f"{table}_")


class TableType(Protocol[T_co]):
    def __call__(self, client: "DynamoDBClient", name: str, /, *, retention_days: int) -> T_co: ...


def open_table(table: TableType[T_co], word: str) -> T_co:
    """For a table class that sets when items expire: `open_table(JobsTable, "JOBS")`."""
    settings = TableSettings.of(word)
    return table(client("dynamodb"), settings.table, retention_days=settings.retention_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingSettings(Settings):
    """Read by every function that records: the queues of follow-ups, and the rules for them."""

    runner_lookups_queue: str
    rerun_checks_queue: str
    instance_id_pattern: str
    rerun: RerunPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeSettings(Settings):
    webhook_secrets: str
    webhook_retries_queue: str
    github_host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationQueueSettings(Settings):
    """Read by intake and the API. Set only with `releases`."""

    release_inputs_queue: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopySettings(Settings):
    """Read by intake and webhook_retry. Set only in the phases that copy webhooks to S3."""

    storage_phase: str = ""
    webhook_bucket: str = ""
    webhook_key_pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerConfigSettings(Settings):
    """Read by runner_lookup. Set only in the phase that reads runner configs from S3."""

    runner_config_bucket: str = ""
    runner_role_ids: tuple[str, ...] = parsed(names_in, default=())
