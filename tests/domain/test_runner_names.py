"""An instance or a task is found in a runner's name, wherever a launcher puts it."""

import pytest
from runledger.model.runner_names import contains_id_of, instance_id_in, names, task_id_in

ID = "i-0d7d7144971263874"
TASK = "0f9de17a6465404e8b1b2356dc13c2f8"
ARN = f"arn:aws:ecs:eu-west-1:123456789012:task/runners/{TASK}"


@pytest.mark.parametrize(
    ("runner_name", "expected"),
    [
        (ID, ID),
        (f"runs-on--{ID}--smmJMReiBo", ID),
        (f"linux-x64-{ID}", ID),
        (f"prod_{ID}", ID),
        (f"spot{ID}", ID),
        ("i-1a2b3c4d", "i-1a2b3c4d"),
        ("i-1a2b3c4d_2", "i-1a2b3c4d"),
        ("linux-i-1a2b3c4d", "i-1a2b3c4d"),
        ("ci-1a2b3c4d", None),
        ("GitHub Actions 12", None),
        ("macmini-0d7d71", None),
        ("i-0d7d7144971263874a", None),
        ("i-1a2b3c4dd", None),
        ("I-0D7D7144971263874", None),
        ("", None),
    ],
)
def test_an_instance_id_anywhere_in_a_name_is_found(runner_name: str, expected: str | None) -> None:
    assert instance_id_in(runner_name) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"^blue-(i-[0-9a-f]+)$", ID),
        (r"^green-(i-[0-9a-f]+)$", None),
        (r"^blue-(?:.*)(i-nothing)?$", None),
        (r"i-[0-9a-f]+", ID),
    ],
)
def test_a_custom_pattern_finds_its_first_group_or_its_whole_match(pattern: str, expected: str | None) -> None:
    assert instance_id_in(f"blue-{ID}", pattern) == expected


@pytest.mark.parametrize(
    ("runner_name", "expected"),
    [
        (TASK, TASK),
        (f"fargate-{TASK}", TASK),
        (f"{TASK}-1", TASK),
        (f"ecs {ARN}", ARN),
        (ARN.replace("/runners", ""), ARN.replace("/runners", "")),
        (ARN.replace("arn:aws:", "arn:aws-us-gov:"), ARN.replace("arn:aws:", "arn:aws-us-gov:")),
        (TASK[:-1], None),
        (TASK + "0", None),
        ("x" + TASK, None),
        (ID, None),
    ],
)
def test_a_task_id_or_a_whole_arn_anywhere_in_a_name_is_found(runner_name: str, expected: str | None) -> None:
    assert task_id_in(runner_name) == expected


@pytest.mark.parametrize(
    ("runner_name", "machine_id", "expected"),
    [
        (f"spot{ID}", ID, True),
        (f"{ID}0", ID, False),
        ("linux-i-1a2b3c4d", "i-1a2b3c4d", True),
        ("ci-1a2b3c4d", "i-1a2b3c4d", False),
        (f"fargate-{TASK}", TASK, True),
        (f"0{TASK}", TASK, False),
    ],
)
def test_a_name_contains_an_id_only_within_boundaries(runner_name: str, machine_id: str, expected: bool) -> None:
    assert names(runner_name, machine_id) is expected


@pytest.mark.parametrize(
    ("runner_name", "machine_id", "expected"),
    [
        (f"{ID}x", ID, True),
        (f"x{TASK}x", ARN, True),
        (ID, "i-1a2b3c4d", False),
        (ID, "", False),
        (ID, None, False),
    ],
)
def test_the_id_of_a_planned_machine_may_be_anywhere(runner_name: str, machine_id: str | None, expected: bool) -> None:
    """A custom pattern may have found it between letters."""
    assert contains_id_of(runner_name, machine_id) is expected
