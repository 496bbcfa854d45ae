"""References between stacks: exports, weak references and outputs."""

import aws_cdk as cdk
from constructs import Construct

from stacks.names import Part, stack_name
from stacks.settings import Settings


def export(owner: Construct, *values: str) -> None:
    """Exports values even if no other stack imports them.

    By default, CDK removes an export together with its last use. That update would fail: the exporting stack is updated
    first, while the deployed version of the other stack still imports the value.
    """
    for value in values:
        cdk.Stack.of(owner).export_value(value)


def refer_weakly(producer: Construct) -> None:
    """For a resource that a setting can remove: an export would block the update that removes it."""
    cdk.CrossStackReferences.of(producer).produce(cdk.ReferenceStrength.WEAK)


def output_of_data(settings: Settings, name: str) -> str:
    """An output of the data stack, which CloudFormation looks up at deployment."""
    return cdk.Fn.get_stack_output(stack_name(settings.stage, Part.DATA), name)
