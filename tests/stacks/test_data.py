"""The tables as they are deployed."""

from typing import Any

import pytest

from tests.support.synthesis import Templates, of_type, synthesise

TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "WorkflowJobs": {
        "by_status": ("by_status", "KEYS_ONLY"),
        "by_repo": ("by_repo", "KEYS_ONLY"),
        "by_run": ("by_run", "KEYS_ONLY"),
        "by_completion": ("by_completion", "INCLUDE"),
    },
    "WorkflowJobEvents": {},
    "WorkflowRuns": {"by_state": ("by_state", "KEYS_ONLY")},
    "Deployments": {},
    "Runners": {"by_status": ("status", "KEYS_ONLY")},
}


def table(template: Any, name: str) -> dict[str, Any]:
    resource: dict[str, Any] = template["Resources"][template["Outputs"][f"{name}Table"]["Value"]["Ref"]]
    return resource


def test_there_are_these_tables_and_no_others(templates: Templates) -> None:
    assert len(of_type(templates["data"], "AWS::DynamoDB::Table")) == len(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_string_keys_a_ttl_and_is_paid_by_request(templates: Templates, name: str) -> None:
    deployed = table(templates["data"], name)
    properties = deployed["Properties"]
    assert properties["KeySchema"] == [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ]
    assert {each["AttributeType"] for each in properties["AttributeDefinitions"]} == {"S"}
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["SSESpecification"] == {"SSEEnabled": True}
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": False}
    assert "StreamSpecification" not in properties


@pytest.mark.parametrize("name", TABLES)
def test_a_table_survives_its_stack_unless_the_stage_is_a_throw_away(templates: Templates, name: str) -> None:
    kept = table(templates["data"], name)
    assert (kept["DeletionPolicy"], kept["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert kept["Properties"]["DeletionProtectionEnabled"] is True
    thrown_away = table(synthesise(stage="test", throw_away="true")["data"], name)
    assert thrown_away["DeletionPolicy"] == "Delete"
    assert thrown_away["Properties"]["DeletionProtectionEnabled"] is False


@pytest.mark.parametrize("name", TABLES)
def test_indexes_project_keys_or_what_is_written_once(templates: Templates, name: str) -> None:
    indexes = table(templates["data"], name)["Properties"].get("GlobalSecondaryIndexes", [])
    assert {index["IndexName"] for index in indexes} == set(TABLES[name])
    for index in indexes:
        partition, projection = TABLES[name][index["IndexName"]]
        sort = "completed_at" if partition == "by_completion" else "created_at"
        assert [key["AttributeName"] for key in index["KeySchema"]] == [partition, sort]
        assert index["Projection"]["ProjectionType"] == projection


def test_recovery_streams_and_provisioned_capacity_are_settings() -> None:
    data = synthesise(
        point_in_time_recovery=True, streams=True, capacity="provisioned", write_capacity_max="77", read_capacity_min=2
    )["data"]
    properties = table(data, "WorkflowJobs")["Properties"]
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert properties["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert "BillingMode" not in properties
    # The least from the start, and not CDK's 5 until auto-scaling acts.
    starts = [properties, *properties["GlobalSecondaryIndexes"]]
    assert [each["ProvisionedThroughput"] for each in starts] == [
        {"ReadCapacityUnits": 2, "WriteCapacityUnits": 5} for _ in starts
    ]
    targets = list(of_type(data, "AWS::ApplicationAutoScaling::ScalableTarget").values())
    # Reads and writes of five tables and five indexes.
    assert len(targets) == (5 + 6) * 2
    writes = [each for each in targets if each["ScalableDimension"].endswith("WriteCapacityUnits")]
    assert {(each["MinCapacity"], each["MaxCapacity"]) for each in writes} == {(5, 77)}
    assert len(of_type(data, "AWS::ApplicationAutoScaling::ScalingPolicy")) == len(targets)
