"""How launchers name runners, and tag the pools that they come from. Both are settings, because launchers differ."""

import re

# A launcher may put a prefix directly in front of 17 digits. Eight digits need a boundary there: `ci-1a2b3c4d` is the
# prefix `ci-` and a random suffix.
INSTANCE_ID = r"(?:i-[0-9a-f]{17}|(?<![0-9A-Za-z])i-[0-9a-f]{8})(?![0-9a-zA-Z])"
TASK_ID = (
    r"arn:aws[\w-]*:ecs:[\w-]+:\d{12}:task/(?:[\w-]+/)?[0-9a-f]{32}(?![0-9a-zA-Z])"
    r"|(?<![0-9a-zA-Z])[0-9a-f]{32}(?![0-9a-zA-Z])"
)
UNMISTAKABLE = re.compile(r"i-[0-9a-f]{17}|arn:\S+")
# The tags in which RunsOn and terraform-aws-github-runner name their pools, then a general one.
POOL_TAGS = ("runs-on-pool-name", "ghr:environment", "pool")


def instance_id_in(runner_name: str, pattern: str = INSTANCE_ID) -> str | None:
    """The pattern's first group, or all of its match. A name may look like an id by chance: only EC2 knows."""
    return _found_in(runner_name, pattern)


def task_id_in(runner_name: str, pattern: str = TASK_ID) -> str | None:
    """A task's id, or its ARN where the name holds it whole."""
    return _found_in(runner_name, pattern)


def _found_in(runner_name: str, pattern: str) -> str | None:
    found = re.search(pattern, runner_name)
    return found and (found[1] if found.re.groups else found[0])


def machine_in(runner_name: str) -> str | None:
    """An instance's id, or a task's, that the name contains, or something that looks like one."""
    return instance_id_in(runner_name) or task_id_in(runner_name)


def names(runner_name: str, machine_id: str) -> bool:
    """Whether the name contains this machine's id, under the same boundaries as `machine_in`."""
    front = "" if is_unmistakable(machine_id) else r"(?<![0-9a-zA-Z])"
    return re.search(rf"{front}{re.escape(machine_id)}(?![0-9a-zA-Z])", runner_name) is not None


def is_unmistakable(machine_id: str) -> bool:
    """Seventeen digits after `i-` are an instance's id. Eight of them, or 32 without it, may be part of any GUID."""
    return UNMISTAKABLE.fullmatch(machine_id) is not None
