"""Finds the source and the ledger that a command needs, with your AWS credentials."""

from __future__ import annotations

import hashlib
import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.config import Config
from runledger.migration import key_pattern
from runledger.migration.key_pattern import BadPattern, KeyPattern
from runledger.migration.objects import Selection
from runledger.migration.stored import BucketSource, FolderSource, Source
from runledger.model.errors import UnavailableError
from runledger.wiring import migration as wiring

from runledger_cli.aws import Aws
from runledger_cli.errors import CommandError, Unreachable, UsageError

if TYPE_CHECKING:
    from runledger.recording.ledger import Ledger

S3 = "s3://"
WORKERS = 8
# Waits longer than the functions do: a throttled table may slow down the command.
LONG_TIMEOUTS = Config(
    connect_timeout=10,
    read_timeout=60,
    max_pool_connections=4 * WORKERS,
    retries={"mode": "standard", "max_attempts": 10},
)


@dataclass(frozen=True, kw_only=True)
class Access:
    source: Source
    pattern: KeyPattern
    selection: Selection
    ledger: Ledger
    retention_days: int
    identity: str  # a hash of the values above: an import resumes only if they are the same
    aws: Aws

    @classmethod
    def of(cls, options: Namespace, environment: Mapping[str, str]) -> Access:
        aws = Aws(environment)
        variables = _variables(aws, options.stage)
        selection = Selection(
            host=variables["GITHUB_HOST"], installations=dict(options.map_installation), only=options.installation
        )
        pattern = _pattern(options.pattern or variables.get("WEBHOOK_KEY_PATTERN") or key_pattern.DEFAULT)
        source = _source(aws, options.source)
        named = [aws.region, variables["JOBS_TABLE"], source.name, pattern.text, repr(selection)]
        return cls(
            source=source,
            pattern=pattern,
            selection=selection,
            ledger=wiring.ledger_without_follow_ups(variables, aws.client("dynamodb", config=LONG_TIMEOUTS)),
            retention_days=int(variables["JOBS_RETENTION_DAYS"]),
            identity=hashlib.sha256(json.dumps(named).encode()).hexdigest()[:16],
            aws=aws,
        )

    @contextmanager
    def failures_reported(self) -> Iterator[None]:
        """Reports an error of AWS on one line, with exit code 3, also if the ledger has translated it."""
        with self.aws.failures_reported():
            try:
                yield
            except UnavailableError as failure:
                raise Unreachable(f"AWS: {failure}") from failure


def _variables(aws: Aws, stage: str) -> dict[str, str]:
    """The environment of webhook intake names the tables and their retention. It contains no secrets."""
    function = aws.output(stage, "WebhookIntakeFunction")
    with aws.failures_reported():
        found = aws.client("lambda").get_function_configuration(FunctionName=function)
    variables: dict[str, str] = found["Environment"]["Variables"]
    return variables


def _pattern(text: str) -> KeyPattern:
    try:
        return KeyPattern.parse(text)
    except BadPattern as error:
        raise UsageError(f"the pattern {text!r} is invalid: {error}") from error


def _source(aws: Aws, name: str) -> Source:
    if name.startswith(S3):
        bucket, _, prefix = name.removeprefix(S3).partition("/")
        if not bucket:
            raise UsageError(f"{name!r} names no bucket: use s3://BUCKET or s3://BUCKET/PREFIX")
        folder = f"{prefix.rstrip('/')}/" if prefix else ""
        return BucketSource(aws.client("s3", config=LONG_TIMEOUTS), bucket, folder)
    if not Path(name).is_dir():
        raise CommandError(f"{name} isn't a folder: use s3://BUCKET, s3://BUCKET/PREFIX or a folder")
    return FolderSource(Path(name))
