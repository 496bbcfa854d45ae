"""The CDK app: `cdk deploy --all` puts Runledger into your AWS account."""

import sys
from pathlib import Path

import aws_cdk as cdk

# The stacks read the tables' schema from the layer that the functions run, so that the two cannot drift apart.
sys.path.insert(0, str(Path(__file__).parent / "layers" / "domain" / "python"))

from stacks.api import ApiStack
from stacks.data import DataStack
from stacks.events import EventsStack
from stacks.observability import ObservabilityStack
from stacks.settings import BadSetting, Settings
from stacks.watched import Watched


def build(app: cdk.App) -> cdk.App:
    settings = Settings.read(app.node.try_get_context)
    prefix = f"runledger-{settings.stage}"
    cdk.Tags.of(app).add("application", "runledger")
    cdk.Tags.of(app).add("stage", settings.stage)
    data = DataStack(app, f"{prefix}-data", settings=settings)
    events = EventsStack(app, f"{prefix}-events", settings=settings, tables=data.tables)
    api = ApiStack(app, f"{prefix}-api", settings=settings, events=events)
    watched = Watched.within(events, api, tables=data.tables)
    ObservabilityStack(app, f"{prefix}-observability", settings=settings, watched=watched)
    return app


if __name__ == "__main__":
    try:
        build(cdk.App()).synth()
    except BadSetting as bad:
        sys.exit(f"runledger: {bad} (set it in the context of cdk.json, or with -c name=value)")
