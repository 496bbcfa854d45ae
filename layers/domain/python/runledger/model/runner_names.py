"""How launchers name runners and tag their pools. Both are settings, because launchers differ."""

import re

INSTANCE = r"i-(?:[0-9a-f]{17}|[0-9a-f]{8})"  # a whole id
TASK_ARN = r"arn:aws[\w-]*:ecs:(?P<region>[\w-]+):(?P<account>\d{12}):task/"  # its start
# A prefix may directly precede an id of 17 digits. An id of eight digits needs a boundary before it: `ci-1a2b3c4d` is
# the prefix `ci-` and a random suffix.
INSTANCE_ID = r"(?:i-[0-9a-f]{17}|(?<![0-9A-Za-z])i-[0-9a-f]{8})(?![0-9a-zA-Z])"
TASK_ID = (
    r"arn:aws[\w-]*:ecs:[\w-]+:\d{12}:task/(?:[\w-]+/)?[0-9a-f]{32}(?![0-9a-zA-Z])"
    r"|(?<![0-9a-zA-Z])[0-9a-f]{32}(?![0-9a-zA-Z])"
)
UNMISTAKABLE = re.compile(r"i-[0-9a-f]{17}|arn:\S+")
# The tags in which RunsOn and terraform-aws-github-runner name their pools, then a general one.
POOL_TAGS = ("runs-on-pool-name", "ghr:environment", "pool")


def instance_id_in(runner_name: str, pattern: str = INSTANCE_ID) -> str | None:
    """The pattern's first group, or its whole match. Only EC2 can confirm it: a name may match by chance."""
    return _found_in(runner_name, pattern)


def task_id_in(runner_name: str, pattern: str = TASK_ID) -> str | None:
    """A task's id, or its ARN if the name contains the whole ARN."""
    return _found_in(runner_name, pattern)


def _found_in(runner_name: str, pattern: str) -> str | None:
    found = re.search(pattern, runner_name)
    return found and (found[1] if found.re.groups else found[0])


def machine_in(runner_name: str) -> str | None:
    """The text in the name that looks like the id of an instance or a task."""
    return instance_id_in(runner_name) or task_id_in(runner_name)


def names(runner_name: str, machine_id: str) -> bool:
    """Whether the name contains this machine's id, with the same boundaries as in `machine_in`."""
    front = "" if is_unmistakable(machine_id) else r"(?<![0-9a-zA-Z])"
    return re.search(rf"{front}{re.escape(machine_id)}(?![0-9a-zA-Z])", runner_name) is not None


def contains_id_of(runner_name: str, machine_id: str | None) -> bool:
    """Whether the name contains the id anywhere. For a machine that is already planned or described for the job.

    Boundaries don't matter here, unlike in `names`: the setting `instance_id_pattern` may find an id between letters,
    and a job keeps a machine that was found in this way.
    """
    id_in_names = (machine_id or "").rpartition("/")[2]
    return bool(id_in_names) and id_in_names in runner_name


def is_unmistakable(machine_id: str) -> bool:
    """17 digits after `i-` are always an instance's id. Eight digits, or a task's 32, may be part of any GUID."""
    return UNMISTAKABLE.fullmatch(machine_id) is not None
