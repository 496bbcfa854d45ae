"""The CDK app: `cdk deploy --all` puts Runledger into your AWS account."""

import os
import sys
from pathlib import Path

import aws_cdk as cdk

# The stacks and the functions use the same schema of the tables: the one in the layer.
sys.path.insert(0, str(Path(__file__).parent / "layers" / "domain" / "python"))

from stacks.api import ApiStack
from stacks.data import DataStack
from stacks.events import EventsStack
from stacks.names import Part, stack_name
from stacks.observability import ObservabilityStack
from stacks.runner_region import RunnerRegionStack
from stacks.settings import Settings, reject_unknown
from stacks.settings_reader import BadSetting


def build(app: cdk.App, *, main_region: str | None = None) -> cdk.App:
    """`main_region` is where `cdk` deploys to: it is needed only if there are runners in other regions."""
    settings = Settings.read(app.node.try_get_context)
    reject_unknown(app.node.get_all_context())
    names = {part: stack_name(settings.stage, part) for part in Part}
    cdk.Tags.of(app).add("application", "runledger")
    cdk.Tags.of(app).add("stage", settings.stage)
    data = DataStack(app, names[Part.DATA], settings=settings)
    events = EventsStack(app, names[Part.EVENTS], settings=settings, tables=data.tables)
    api = ApiStack(app, names[Part.API], settings=settings, events=events)
    ObservabilityStack(
        app, names[Part.OBSERVABILITY], settings=settings, tables=data.tables, stacks=[data, events, api]
    )
    for region in settings.regions_beside(main_region):
        forwarder = RunnerRegionStack(app, settings=settings, region=region, main_region=str(main_region))
        # Events that are forwarded before the bus exists are lost.
        forwarder.add_stack_dependency(events)
    for stack in (each for each in app.node.children if isinstance(each, cdk.Stack)):
        # Tags of the app reach resources, not stacks, and `make preflight` finds stacks by their tags.
        stack.add_stack_tag("application", "runledger")
        stack.add_stack_tag("stage", settings.stage)
    return app


if __name__ == "__main__":
    try:
        build(cdk.App(), main_region=os.environ.get("CDK_DEFAULT_REGION")).synth()
    except BadSetting as bad:
        sys.exit(f"runledger: {bad} (settings are in the context of cdk.json, or passed with -c name=value)")
