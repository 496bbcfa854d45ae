"""What the storage phases add to functions, and the bucket for runner configs. See docs/migration.md."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct
from runledger.migration import archive
from runledger.migration.key_pattern import RUNNER_CONFIGS
from runledger.migration.runner_configs import config_key

from stacks.constructs import compliance
from stacks.constructs.conditions import IN_THIS_ACCOUNT
from stacks.constructs.function import LedgerFunction
from stacks.constructs.retained import removal_policy
from stacks.settings import CREATE, Settings

CONFIGS_EXPIRE_AFTER = cdk.Duration.days(1)
ARCHIVE_TIMEOUT = cdk.Duration.minutes(1)
RULE_TIMEOUT = cdk.Duration.minutes(5)  # without it, CloudFormation waits for an hour
SIGNATURE_VERSION_4 = "AWS4-HMAC-SHA256"
URLS_EXPIRE_AFTER = cdk.Duration.minutes(15)


def copy_environment(settings: Settings) -> dict[str, str]:
    """For webhook_intake and webhook_retry. Empty unless the phase copies webhooks."""
    if not settings.storage_phase.copies_webhooks:
        return {}
    return {
        "STORAGE_PHASE": settings.storage_phase,
        "WEBHOOK_BUCKET": settings.webhook_bucket,
        "WEBHOOK_KEY_PATTERN": settings.webhook_key_pattern.text,
    }


def allow_copies(function: LedgerFunction, settings: Settings) -> None:
    if settings.storage_phase.copies_webhooks:
        keys = f"{settings.webhook_key_pattern.prefix}*"
        function.allow(_objects(settings.webhook_bucket, keys), "s3:PutObject", conditions=IN_THIS_ACCOUNT)
        _accept_keys(function.role, settings.webhook_bucket, keys)


def config_environment(settings: Settings) -> dict[str, str]:
    """For the function that looks up machines. Empty unless the phase reads runner configs."""
    if not settings.storage_phase.reads_runner_configs:
        return {}
    return {
        "RUNNER_CONFIG_BUCKET": _config_bucket(settings),
        "RUNNER_ROLE_IDS": ",".join(settings.runner_role_ids),
    }


def allow_configs(function: LedgerFunction, settings: Settings) -> None:
    if settings.storage_phase.reads_runner_configs:
        # Without it, S3 reports that access is denied if a config is missing.
        bucket = f"arn:{cdk.Aws.PARTITION}:s3:::{_config_bucket(settings)}"
        function.allow(bucket, "s3:ListBucket", conditions=IN_THIS_ACCOUNT)
        for role_id in settings.runner_role_ids:
            keys = config_key(role_id, "*")
            function.allow(_objects(_config_bucket(settings), keys), "s3:GetObject", conditions=IN_THIS_ACCOUNT)
            _accept_keys(function.role, _config_bucket(settings), keys)


class RunnerConfigBucket(Construct):
    """The new or existing bucket from which agents read `runner-config.json`, and policies for launchers and agents."""

    def __init__(self, scope: Construct, *, settings: Settings) -> None:
        super().__init__(scope, "RunnerConfigBucket")
        self._name = _config_bucket(settings)
        if settings.runner_config_bucket == CREATE:
            self._create(settings)
        # `aws:userid` of a machine's role is `{roleId}:{instanceId}`, so each machine can read only its own folder.
        agent = self._policy("AgentPolicy", [f"{RUNNER_CONFIGS}${{aws:userid}}/*"], "s3:GetObject")
        machines = [f"{RUNNER_CONFIGS}{role_id}:*" for role_id in settings.runner_role_ids] or [f"{RUNNER_CONFIGS}*"]
        launcher = self._policy("LauncherPolicy", machines, "s3:GetObject", "s3:PutObject")
        for name, value in {
            "RunnerConfigBucketName": self._name,
            "RunnerConfigAgentPolicyArn": agent.managed_policy_arn,
            "RunnerConfigLauncherPolicyArn": launcher.managed_policy_arn,
        }.items():
            cdk.CfnOutput(cdk.Stack.of(self), name, value=value)

    def _create(self, settings: Settings) -> None:
        """Not versioned, because a deleted config contains tokens and must be gone."""
        bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=self._name,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(
                    expiration=CONFIGS_EXPIRE_AFTER, abort_incomplete_multipart_upload_after=CONFIGS_EXPIRE_AFTER
                )
            ],
            removal_policy=removal_policy(settings),
        )
        # A presigned URL is a secret. With signature version 2, its lifetime would be unlimited.
        self._deny(bucket, {"StringNotEquals": {"s3:signatureversion": SIGNATURE_VERSION_4}})
        query = {"s3:authType": "REST-QUERY-STRING"}
        longest = {"s3:signatureAge": URLS_EXPIRE_AFTER.to_milliseconds()}
        self._deny(bucket, {"StringEquals": query, "NumericGreaterThan": longest})
        if bucket.policy:
            # If the bucket is kept, its TLS-only policy is kept too.
            bucket.policy.apply_removal_policy(removal_policy(settings))
        compliance.accept(
            bucket,
            "AwsSolutions-S1",
            "Objects live for a day, and their machine reads them once. CloudTrail data events show other reads.",
        )

    def _deny(self, bucket: s3.Bucket, conditions: Mapping[str, Mapping[str, object]]) -> None:
        bucket.add_to_resource_policy(
            iam.PolicyStatement(
                effect=iam.Effect.DENY,
                principals=[iam.AnyPrincipal()],
                actions=["s3:*"],
                resources=[bucket.arn_for_objects("*")],
                conditions=conditions,
            )
        )

    def _policy(self, name: str, keys: Sequence[str], *actions: str) -> iam.ManagedPolicy:
        policy = iam.ManagedPolicy(
            self,
            name,
            description=f"Runledger: {', '.join(actions)} for the runner configs of machines",
            statements=[
                iam.PolicyStatement(
                    actions=list(actions),
                    resources=[_objects(self._name, each) for each in keys],
                    conditions=IN_THIS_ACCOUNT,
                )
            ],
        )
        for each in keys:
            _accept_keys(policy, self._name, each)
        return policy


class WebhookArchive(Construct):
    """The phase `cleanup`: adds a lifecycle rule to a bucket outside of the stack, and removes it again."""

    def __init__(self, scope: Construct, *, settings: Settings, layer: lambda_.ILayerVersion) -> None:
        super().__init__(scope, "Archive")
        function = LedgerFunction(
            self, "webhook_archive", settings=settings, layers=[layer], environment={}, timeout=ARCHIVE_TIMEOUT
        )
        bucket = f"arn:{cdk.Aws.PARTITION}:s3:::{settings.webhook_bucket}"
        actions = ("s3:GetLifecycleConfiguration", "s3:PutLifecycleConfiguration")
        function.allow(bucket, *actions, conditions=IN_THIS_ACCOUNT)
        rule = cdk.CustomResource(
            self,
            "Rule",
            resource_type="Custom::WebhookArchive",
            service_token=function.function.function_arn,
            service_timeout=RULE_TIMEOUT,
            properties={
                "Bucket": settings.webhook_bucket,
                "Rule": archive.rule_id(f"{settings.prefix}-{cdk.Aws.REGION}"),
                "Prefix": settings.webhook_key_pattern.prefix,
            },
        )
        # The function depends on its policy, but a change of the bucket changes only the policy and the rule.
        rule.node.add_dependency(function.role)


def _config_bucket(settings: Settings) -> str:
    """A fixed name, so that stacks need no reference to a bucket that a setting may remove."""
    if settings.runner_config_bucket != CREATE:
        return settings.runner_config_bucket
    return f"{settings.prefix}-configs-{cdk.Aws.ACCOUNT_ID}-{cdk.Aws.REGION}"


def _objects(bucket: str, keys: str) -> str:
    return f"arn:{cdk.Aws.PARTITION}:s3:::{bucket}/{keys}"


def _accept_keys(construct: Construct, bucket: str, keys: str) -> None:
    """cdk-nag writes CloudFormation and IAM variables in angle brackets."""
    named = {cdk.Aws.ACCOUNT_ID: "<AWS::AccountId>", cdk.Aws.REGION: "<AWS::Region>", "${aws:userid}": "<aws:userid>"}
    resource = f"arn:<AWS::Partition>:s3:::{bucket}/{keys}"
    for variable, name in named.items():
        resource = resource.replace(variable, name)
    compliance.accept(
        construct, f"AwsSolutions-IAM5[Resource::{resource}]", "Object keys contain the ids of jobs or machines."
    )
