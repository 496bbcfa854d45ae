"""The storage phases: what each adds to the templates, and nothing else."""

import json
from typing import Any

import pytest
from runledger.migration.phases import StoragePhase

from runner.launcher_config import LONGEST_VALID_SECONDS
from stacks.settings import Settings
from stacks.settings_reader import BadSetting
from tests.stacks.test_dashboard import shown
from tests.stacks.test_functions import ALLOWED, fed
from tests.support.synthesis import Templates, of_type, synthesise
from tests.support.template_functions import as_list, functions, statements

ROLE = "AROAEXAMPLEEXAMPLE123"
BUCKETS = {"webhook_bucket": "acme-runners", "runner_config_bucket": "acme-runners", "runner_role_ids": ROLE}
ADDED = {
    "dual_write": {"WebhookIntake": {"s3:PutObject"}, "WebhookRetry": {"s3:PutObject"}},
    "dynamodb_first": {
        "WebhookIntake": {"s3:PutObject"},
        "WebhookRetry": {"s3:PutObject"},
        "RunnerLookup": {"s3:GetObject", "s3:ListBucket"},
    },
    "dynamodb_only": {},
    "cleanup": {},
}


def granted(templates: Templates, name: str) -> list[dict[str, Any]]:
    template, function = functions(templates)[name]
    return statements(template, function["Role"]["Fn::GetAtt"][0])


def actions(templates: Templates, name: str) -> set[str]:
    return {action for statement in granted(templates, name) for action in as_list(statement["Action"])}


def in_phase(phase: str, **settings: object) -> Templates:
    return synthesise(storage_phase=phase, **BUCKETS | settings)


def test_by_default_no_template_mentions_s3(templates: Templates) -> None:
    """A team that never used S3 gets no bucket, no permission, no variable and no function."""
    for template in templates.values():
        text = json.dumps(template["Resources"])
        assert "AWS::S3" not in text
        assert '"s3:' not in text
        assert "STORAGE_PHASE" not in text
        assert "Custom::" not in text


def test_the_default_phase_is_dynamodb_only(templates: Templates) -> None:
    assert synthesise(storage_phase="dynamodb_only") == templates


@pytest.mark.parametrize("phase", ADDED)
def test_a_phase_adds_exactly_these_permissions(phase: str) -> None:
    found = in_phase(phase)
    for name, allowed in ALLOWED.items():
        assert actions(found, name) == allowed | ADDED[phase].get(name, set())
    assert functions(found).keys() - ALLOWED.keys() == ({"WebhookArchive"} if phase == "cleanup" else set())


@pytest.mark.parametrize("phase", ADDED)
def test_the_dashboard_shows_the_metrics_of_the_move_to_those_with_a_bucket(templates: Templates, phase: str) -> None:
    assert shown(in_phase(phase)) - shown(templates) == {
        *(("Runledger", name) for name in ("WebhookCopiesDeferred", "WebhookCopiesLost")),
        *(("Runledger", name) for name in ("SchedulingHits", "SchedulingFallbacks", "SchedulingMisses")),
        ("Runledger", "RunnerConfigsRejected"),
    }


@pytest.mark.parametrize("phase", ["dual_write", "dynamodb_first"])
def test_webhooks_are_put_under_the_fixed_beginning_of_their_keys(phase: str) -> None:
    found = in_phase(phase, webhook_key_pattern="old/{installation_id}/{job_id}/{status}")
    for name in ("WebhookIntake", "WebhookRetry"):
        (statement,) = [each for each in granted(found, name) if each["Action"] == "s3:PutObject"]
        assert json.dumps(statement["Resource"]).endswith(':s3:::acme-runners/old/*"]]}')


def test_retries_are_taken_one_at_a_time_while_they_may_be_copies(templates: Templates) -> None:
    """A call to S3 that hangs would use up the time of the messages after it."""

    def batch_size(found: Templates) -> int:
        (size,) = [trigger["BatchSize"] for name, _, trigger, _ in fed(found) if name == "webhook_retry"]
        return int(size)

    assert (batch_size(templates), batch_size(in_phase("dual_write"))) == (10, 1)


def on_s3(templates: Templates) -> list[dict[str, Any]]:
    """What lookups may do: list the bucket, without which S3 hides that an object is missing, and read configs."""
    return [each for each in granted(templates, "RunnerLookup") if "s3" in str(each["Action"])]


def test_runner_configs_are_read_by_the_role_of_their_machine() -> None:
    bucket, statement = on_s3(in_phase("dynamodb_first"))
    assert json.dumps(bucket["Resource"]).endswith(':s3:::acme-runners"]]}')
    assert json.dumps(statement["Resource"]).endswith(f':s3:::acme-runners/runners/{ROLE}:*/runner-config.json"]]}}')
    created = in_phase("dynamodb_first", runner_config_bucket="create")
    _, statement = on_s3(created)
    (bucket,) = of_type(created["data"], "AWS::S3::Bucket").values()
    _, variables = functions(created)["RunnerLookup"]
    assert variables["Environment"]["Variables"]["RUNNER_CONFIG_BUCKET"] == bucket["BucketName"]
    assert ":s3:::runledger-prod-configs-" in json.dumps(statement["Resource"])


def test_the_archive_may_change_the_lifecycle_of_that_bucket_and_nothing_else() -> None:
    found = in_phase("cleanup")
    on_s3 = [each for each in granted(found, "WebhookArchive") if "s3:" in str(each["Action"])]
    (statement,) = on_s3
    assert statement["Action"] == ["s3:GetLifecycleConfiguration", "s3:PutLifecycleConfiguration"]
    assert json.dumps(statement["Resource"]).endswith(':s3:::acme-runners"]]}')
    (rule,) = of_type(found["api"], "Custom::WebhookArchive").values()
    assert (rule["Bucket"], rule["Prefix"]) == ("acme-runners", "webhooks/")


def test_two_stages_or_regions_have_different_archive_rules_in_one_bucket() -> None:
    ids = []
    for stage in ("prod", "staging"):
        (rule,) = of_type(in_phase("cleanup", stage=stage)["api"], "Custom::WebhookArchive").values()
        ids.append(rule["Rule"]["Fn::Join"][1])
    assert ids[0] != ids[1]
    assert {"Ref": "AWS::Region"} in ids[0]


def test_the_archive_rule_waits_for_the_permission_on_another_bucket() -> None:
    """Otherwise CloudFormation changes the rule and the policy at the same time, and access is denied."""
    resources = in_phase("cleanup")["api"]["Resources"]
    (rule,) = [each for each in resources.values() if each["Type"] == "Custom::WebhookArchive"]
    assert "AWS::IAM::Policy" in {resources[name]["Type"] for name in rule["DependsOn"]}


def test_a_new_bucket_of_runner_configs_is_private_encrypted_and_short_lived() -> None:
    template = synthesise(runner_config_bucket="create")["data"]
    (bucket,) = of_type(template, "AWS::S3::Bucket").values()
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    encryption = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption == [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
    (rule,) = bucket["LifecycleConfiguration"]["Rules"]
    assert (rule["ExpirationInDays"], rule["Status"]) == (1, "Enabled")
    assert "VersioningConfiguration" not in bucket
    (policy,) = of_type(template, "AWS::S3::BucketPolicy").values()
    denied = policy["PolicyDocument"]["Statement"]
    assert {each["Effect"] for each in denied} == {"Deny"}
    assert [each["Condition"] for each in denied] == [
        {"Bool": {"aws:SecureTransport": "false"}},
        {"StringNotEquals": {"s3:signatureversion": "AWS4-HMAC-SHA256"}},
        {
            "StringEquals": {"s3:authType": "REST-QUERY-STRING"},
            "NumericGreaterThan": {"s3:signatureAge": LONGEST_VALID_SECONDS * 1000},
        },
    ]


@pytest.mark.parametrize("feeds", [False, True])
@pytest.mark.parametrize("phase", ADDED)
def test_every_permission_on_a_bucket_is_limited_to_this_account(phase: str, *, feeds: bool) -> None:
    """The name of a deleted bucket can be taken by anyone."""
    found = in_phase(phase, feeds=feeds)
    of_functions = [each for name in functions(found) for each in granted(found, name)]
    policies = of_type(found["data"], "AWS::IAM::ManagedPolicy").values()
    of_others = [each for policy in policies for each in policy["PolicyDocument"]["Statement"]]
    on_s3 = [each for each in (*of_functions, *of_others) if "s3:" in str(each["Action"])]
    assert len(on_s3) >= len(policies)
    for statement in on_s3:
        assert statement["Condition"] == {"StringEquals": {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}}


def test_a_launcher_writes_for_machines_of_the_roles_that_are_named() -> None:
    template = synthesise(runner_config_bucket="acme-runners", runner_role_ids=f"{ROLE},AROAOTHEREXAMPLE1")["data"]
    policy = template["Resources"][template["Outputs"]["RunnerConfigLauncherPolicyArn"]["Value"]["Ref"]]["Properties"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    keys = [json.dumps(each).rpartition("/runners/")[2].partition('"')[0] for each in statement["Resource"]]
    assert keys == [f"{ROLE}:*", "AROAOTHEREXAMPLE1:*"]


def test_a_bucket_that_is_kept_keeps_the_policy_that_allows_tls_only() -> None:
    resources = synthesise(runner_config_bucket="create")["data"]["Resources"].values()
    kept = {each["Type"]: each["DeletionPolicy"] for each in resources if "::S3::" in each["Type"]}
    assert kept == {"AWS::S3::Bucket": "RetainExceptOnCreate", "AWS::S3::BucketPolicy": "RetainExceptOnCreate"}


@pytest.mark.parametrize("bucket", ["create", "acme-runners"])
def test_an_agent_reads_its_own_folder_and_a_launcher_writes(bucket: str) -> None:
    template = synthesise(runner_config_bucket=bucket)["data"]
    outputs = template["Outputs"]
    found = {}
    for output in ("RunnerConfigAgentPolicyArn", "RunnerConfigLauncherPolicyArn"):
        policy = template["Resources"][outputs[output]["Value"]["Ref"]]["Properties"]
        (statement,) = policy["PolicyDocument"]["Statement"]
        keys = json.dumps(statement["Resource"]).rpartition("/runners/")[2].partition('"')[0]
        found[output] = (statement["Effect"], as_list(statement["Action"]), keys)
        assert not policy.get("Roles")
    assert found == {
        "RunnerConfigAgentPolicyArn": ("Allow", ["s3:GetObject"], "${aws:userid}/*"),
        "RunnerConfigLauncherPolicyArn": ("Allow", ["s3:GetObject", "s3:PutObject"], "*"),
    }
    assert ("AWS::S3::Bucket" in json.dumps(template)) == (bucket == "create")


@pytest.mark.parametrize("phase", StoragePhase)
def test_stacks_share_no_reference_to_a_bucket(phase: str) -> None:
    """An export that came and went with the phase would block its end."""
    data = in_phase(phase, runner_config_bucket="create")["data"]
    assert [name for name in data["Outputs"] if "ExportsOutput" in name and "Config" in name] == []


COPYING = {"storage_phase": "dual_write", "webhook_bucket": "acme"}
ARCHIVING = {"storage_phase": "cleanup", "webhook_bucket": "acme"}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"storage_phase": "dual"}, "must be one of dual_write, dynamodb_first, dynamodb_only, cleanup"),
        ({"storage_phase": "dual_write"}, "needs webhook_bucket"),
        ({"storage_phase": "cleanup"}, "needs webhook_bucket"),
        ({"storage_phase": "dynamodb_first", "webhook_bucket": "acme"}, "runner_config_bucket and runner_role_ids"),
        ({"webhook_bucket": "Not A Bucket"}, "must be the name of an S3 bucket or empty"),
        ({"runner_config_bucket": "s3://acme"}, "must be the name of an S3 bucket, 'create' or empty"),
        ({"runner_role_ids": "arn:aws:iam::1:role/x"}, "unique ids of IAM roles"),
        ({"webhook_key_pattern": "w/{job_id}/{state}"}, "only these names"),
        (COPYING | {"webhook_key_pattern": "w/{installation_id}/{job_id}"}, "{status} or {delivery_id}"),
        (COPYING | {"webhook_key_pattern": "w/{installation_id}/{job_id}/{status}/*"}, "can't contain *"),
        (COPYING | {"webhook_key_pattern": "w/{job_id}/{status}"}, "unless webhook_keys_shared is true"),
        (COPYING | {"webhook_key_pattern": "{installation_id}/{job_id}/{status}"}, "must begin with a folder"),
        (ARCHIVING | {"webhook_key_pattern": "{job_id}/{status}"}, "must begin with a folder of webhooks"),
        (ARCHIVING | {"webhook_key_pattern": "runners/{job_id}/{status}"}, "other than runners/"),
    ],
)
def test_a_wrong_setting_is_explained(settings: dict[str, str], problem: str) -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.read(settings.get)
    assert problem in str(refused.value)


def test_a_layout_without_installations_can_be_shared_and_archived() -> None:
    old = {"webhook_key_pattern": "old/{job_id}/{status}"}
    assert Settings.read((COPYING | old | {"webhook_keys_shared": "true"}).get).webhook_key_pattern.prefix == "old/"
    assert Settings.read((ARCHIVING | old).get).webhook_key_pattern.prefix == "old/"
    assert Settings.read(old.get).storage_phase is StoragePhase.DYNAMODB_ONLY
