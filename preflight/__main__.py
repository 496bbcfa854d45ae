"""`python -m preflight [-c name=value ...]` takes settings as `cdk` does. The exit code is 1 if there is a problem."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import boto3

from preflight import account, buckets, cloudformation, machine, names, tags
from preflight.cloudformation import Stack
from preflight.deployed import Deployed
from preflight.results import Check, Problem, Result, Skipped, State
from stacks.names import forwarder_stack
from stacks.settings import Settings, reject_unknown
from stacks.settings_reader import BadSetting

ROOT = Path(__file__).parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make preflight", description="Check the account and the deployment.")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", help="as for cdk")
    given = dict(each.partition("=")[::2] for each in parser.parse_args(arguments).context)
    problems = 0
    for result in results(given):
        print(result.line(), flush=True)
        problems += result.state is State.PROBLEM
    print(f"{problems} problem(s)" if problems else "No problems found")
    return 1 if problems else 0


def results(given: dict[str, str]) -> Iterator[Result]:
    yield Check(name="python", run=lambda: machine.python(sys.version_info[:3])).result()
    yield Check(name="node", run=lambda: machine.node(os.environ.get("PATH"))).result()
    try:
        settings = _settings(given)
    except BadSetting as bad:
        yield Check(name="settings", run=_always(Problem(str(bad), "see docs/settings.md"))).result()
        return
    session = _session(os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or None)
    region = Check(name="region", run=lambda: account.region(session)).result()
    yield region
    if region.state is State.OK:
        credentials = Check(name="credentials", run=lambda: account.credentials(session)).result()
        yield credentials
        if credentials.state is State.OK:
            yield from (check.result() for check in _before(session, settings))
            yield from (check.result() for check in _after(session, settings))
            return
    yield Check(name="account", run=_always(Skipped("all other checks need a region and credentials"))).result()


def _before(session: Any, settings: Settings) -> Iterator[Check]:
    stage = settings.stage
    yield Check(name="bootstrap", run=lambda: account.bootstrap(session))
    yield Check(name="concurrency", run=lambda: account.concurrency(session))
    yield Check(name="stacks", run=lambda: cloudformation.can_be_updated(session, stage))
    yield Check(name="names", run=lambda: names.fixed_names(session, stage))
    yield Check(name="leftovers", run=lambda: names.leftovers(session, stage))
    yield Check(name="buckets", run=lambda: buckets.buckets(session, settings))
    yield Check(name="runner_tags", run=lambda: tags.runner_tags(_session, session.region_name, settings))
    for region in settings.regions_beside(session.region_name):
        forwarder = forwarder_stack(settings.stage, region, session.region_name)
        yield Check(name=region, run=partial(account.runner_region, _session(region), forwarder))


def _after(session: Any, settings: Settings) -> Iterator[Check]:
    stacks = cloudformation.parts(session, settings.stage)
    outputs = {name: value for stack in stacks for name, value in stack.outputs.items()}
    topics = dict(_alarm_topics(session, settings, stacks))
    deployed = Deployed(session=session, settings=settings, outputs=outputs, topics=topics, session_in=_session)
    yield Check(name="webhook", run=deployed.webhook)
    yield Check(name="app key", run=deployed.app_key)
    yield Check(name="alarms", run=deployed.alarms)
    yield Check(name="operator", run=deployed.operator)


def _alarm_topics(session: Any, settings: Settings, stacks: Iterable[Stack]) -> Iterator[tuple[str, str]]:
    """By region. Regions whose stack doesn't exist yet are omitted."""
    stage = settings.stage
    forwarders = (
        (region, cloudformation.find_stack(_session(region), forwarder_stack(stage, region, session.region_name)))
        for region in settings.regions_beside(session.region_name)
    )
    for region, stack in (*((session.region_name, each) for each in stacks), *forwarders):
        if stack is not None and "AlarmTopicArn" in stack.outputs:
            yield region, stack.outputs["AlarmTopicArn"]


def _session(region: str | None) -> Any:
    return boto3.session.Session(region_name=region)


def _settings(given: dict[str, str]) -> Settings:
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    reject_unknown(given)
    return Settings.read((context | given).get)


def _always(outcome: Problem | Skipped) -> Any:
    return lambda: outcome


if __name__ == "__main__":
    sys.exit(main())
