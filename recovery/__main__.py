"""`python -m recovery`: replays a job's history, and restores lost tables and items."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from runledger.tables import schema

from recovery import tables
from stacks.names import Part, stack_name

# The environment variables of the functions that contain table names.
VARIABLES = {
    schema.WORKFLOW_JOBS.name: "JOBS_TABLE",
    schema.WORKFLOW_JOB_EVENTS.name: "JOB_EVENTS_TABLE",
    schema.WORKFLOW_RUNS.name: "RUNS_TABLE",
    schema.DEPLOYMENTS.name: "DEPLOYMENTS_TABLE",
    schema.RUNNERS.name: "RUNNERS_TABLE",
}
OUTPUT = "ReconcilerFunction"


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        return int(given.run(given))
    except (BotoCoreError, ClientError) as failure:
        print(f"recovery: AWS: {failure}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make recover", description="Restore lost data of a deployment.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    replaying = commands.add_parser("replay", help="replay a job's history and print the resulting job")
    replaying.add_argument("installation", type=int)
    replaying.add_argument("job", type=int)
    replaying.set_defaults(run=_replay)
    rebuilding = commands.add_parser("rebuild", help="rebuild missing jobs, runs and deployments")
    rebuilding.set_defaults(run=_rebuild)
    creating = commands.add_parser("create", help="create deleted tables again, with the same names and without items")
    creating.set_defaults(run=_create)
    for command in (replaying, rebuilding, creating):
        command.add_argument("--stage", default="prod", help="the stage of the deployment (default: %(default)s)")
    copying = commands.add_parser("copy", help="copy missing items from a restored table")
    copying.add_argument("source", help="the restored table")
    copying.add_argument("target", help="the deployment's table")
    copying.set_defaults(run=_copy)
    return parser


def _replay(given: argparse.Namespace) -> int:
    _use_settings_of(given.stage)
    from runledger.recording.replay import replay  # noqa: PLC0415
    from runledger.wiring.recording import ledger  # noqa: PLC0415

    from recovery.rebuild import describe  # noqa: PLC0415 - settings come first

    job = replay(ledger().events.history(given.installation, given.job))
    if job is None:
        print(f"recovery: job {given.job} of installation {given.installation} has no history", file=sys.stderr)
        return 1
    print(json.dumps(describe(job), indent=2, default=str))
    return 0


def _rebuild(given: argparse.Namespace) -> int:
    names = _use_settings_of(given.stage)
    from runledger.platform.clock import SystemClock  # noqa: PLC0415
    from runledger.recording.follow_up_queue import NoFollowUps  # noqa: PLC0415
    from runledger.wiring.recording import ledger  # noqa: PLC0415
    from runledger_github.wiring import github_state  # noqa: PLC0415

    from recovery.rebuild import Rebuild  # noqa: PLC0415 - settings come first

    rebuild = Rebuild(
        ledger=replace(ledger(), follow_ups=NoFollowUps(), recorded=lambda _input, _decision: None),
        github=github_state(),
        scan=tables.scanner(boto3.client("dynamodb"), names),
        now=SystemClock().text,
    )
    for found, count in rebuild.everything().items():
        print(f"{count:>8,} {found}")
    return 0


def _create(given: argparse.Namespace) -> int:
    wanted = tables.deployed(boto3.client("cloudformation"), stack_name(given.stage, Part.DATA))
    created = tables.create_missing(boto3.client("dynamodb"), wanted)
    print("\n".join(f"created {name}" for name in created) or "All tables exist")
    return 0


def _copy(given: argparse.Namespace) -> int:
    copied, kept = tables.copy_missing(boto3.client("dynamodb"), given.source, given.target)
    print(f"{copied:,} items copied; {kept:,} already exist in {given.target} and were not changed")
    return 0


def _use_settings_of(stage: str) -> dict[str, str]:
    """Sets the environment of the deployed reconciler, which has every table and the App. Returns the table names."""
    stack = boto3.client("cloudformation").describe_stacks(StackName=stack_name(stage, Part.EVENTS))["Stacks"][0]
    outputs: dict[str, Any] = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    function = boto3.client("lambda").get_function_configuration(FunctionName=outputs[OUTPUT])
    variables = function["Environment"]["Variables"]
    os.environ.update(variables)
    return {table: variables[variable] for table, variable in VARIABLES.items()}


if __name__ == "__main__":
    sys.exit(main())
