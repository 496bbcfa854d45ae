"""A Lambda function with its own role, which allows only the actions that it needs, and its own log group."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs import compliance
from stacks.constructs.environment import check_size
from stacks.constructs.layer import RUNTIME, architecture
from stacks.constructs.references import refer_weakly
from stacks.constructs.tree import resource_of
from stacks.names import camel_case, log_group_name
from stacks.settings import Settings

DEFAULT_BATCH = 10
CODE = Path(__file__).parent / "function_code"  # the same in every version


class LedgerFunction(Construct):
    """`name` is the file in functions/ that has the handler. It is deployed in the domain layer: see `layer.py`."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        layers: Sequence[lambda_.ILayerVersion],
        environment: Mapping[str, str],
        timeout: cdk.Duration,
        memory_mb: int = 512,
        snap_start: bool = False,
        reserved_concurrency: int | None = None,
        sends_to_itself: bool = False,
    ) -> None:
        """Set `sends_to_itself` if the function puts messages on its own queue. By default, Lambda treats 16 of them in
        a row as an endless loop, and makes the next one a dead letter.
        """
        super().__init__(scope, camel_case(name))
        self._settings = settings
        variables = {
            "FUNCTION": name,
            "STAGE": settings.stage,
            "POWERTOOLS_LOG_LEVEL": settings.log_level,
            **environment,
        }
        check_size(cdk.Stack.of(self), name, variables)
        written = log_group(self, "Logs", name=log_group_name(settings.stage, name), settings=settings)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        written.grant_write(role)
        self.role = role
        self.function = lambda_.Function(
            self,
            "Function",
            runtime=RUNTIME,
            architecture=architecture(settings),
            code=lambda_.Code.from_asset(str(CODE)),
            handler=f"{name}.handler",
            layers=list(layers),
            environment=variables,
            memory_size=memory_mb,
            timeout=timeout,
            log_group=written,
            role=role,
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if snap_start else None,
            reserved_concurrent_executions=reserved_concurrency,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if sends_to_itself else None,
        )
        # With an export, the function couldn't be removed while a graph in another stack shows it.
        refer_weakly(self.function)
        # The target of events and requests. SnapStart works only for published versions, not for $LATEST.
        self.live: lambda_.IFunction = (
            lambda_.Alias(self, "Live", alias_name="live", version=self.function.current_version)
            if snap_start
            else self.function
        )
        compliance.accept(
            self.function,
            "AwsSolutions-L1",
            "python3.13 is the newest runtime that every dependency is tested on.",
        )
        cdk.CfnOutput(cdk.Stack.of(self), f"{self.node.id}Function", value=self.function.function_name)

    def consume(self, queue: sqs.IQueue, *, batch_size: int = DEFAULT_BATCH) -> None:
        """Invokes the function with the queue's messages.

        Limits the concurrency, because one queue could use 1,000 instances, and leave none in the account for webhooks.
        A function that calls services other than DynamoDB gets one message at a time, because a call that hangs would
        use up the time and the receives of the messages after it.
        """
        self.function.add_event_source(
            event_sources.SqsEventSource(
                queue,
                batch_size=batch_size,
                max_concurrency=self._settings.queue_max_concurrency,
                report_batch_item_failures=True,
            )
        )

    def allow(self, resource_arn: str, *actions: str, conditions: Mapping[str, object] | None = None) -> None:
        self.function.add_to_role_policy(
            iam.PolicyStatement(actions=list(actions), resources=[resource_arn], conditions=conditions)
        )


def log_group(scope: Construct, construct_id: str, *, name: str, settings: Settings) -> logs.LogGroup:
    group = logs.LogGroup(scope, construct_id, log_group_name=name, removal_policy=cdk.RemovalPolicy.DESTROY)
    # CDK's own property takes an enum instead of a number of days.
    resource_of(group, logs.CfnLogGroup).retention_in_days = settings.log_retention_days
    return group
