"""A Fargate task definition for the entrypoint in runner/: use it in your own CDK app. See runner/README.md."""

import aws_cdk as cdk
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_logs as logs
from constructs import Construct

# Fargate's maximum. ECS sends SIGKILL at the end of this time.
LONGEST_STOP = cdk.Duration.seconds(120)
# The entrypoint must have ended before ECS kills it.
SPARE_SECONDS = 10
CONTAINER = "runner"
ENTRYPOINT = ("python3", "-m", "runner.entrypoint")
DIRECTORY = "/opt/runledger"


class RunnerTaskDefinition(Construct):
    """`image` is built from runner/Dockerfile. The launcher sets RUNNER_CONFIG_URL as an override of `container`.

    The task role has no permissions: every job can use what you grant it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        image: ecs.ContainerImage,
        log_group: logs.ILogGroup,
        cpu: int = 1024,
        memory_limit_mib: int = 2048,
        stop_timeout: cdk.Duration = LONGEST_STOP,
        platform: ecs.RuntimePlatform | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        seconds = int(stop_timeout.to_seconds())
        if not SPARE_SECONDS < seconds <= LONGEST_STOP.to_seconds():
            longest = int(LONGEST_STOP.to_seconds())
            raise ValueError(f"stop_timeout is {seconds} s; it must be {SPARE_SECONDS + 1} to {longest} s on Fargate")
        self.task_definition = ecs.FargateTaskDefinition(
            self, "Task", cpu=cpu, memory_limit_mib=memory_limit_mib, runtime_platform=platform
        )
        self.container = self.task_definition.add_container(
            CONTAINER,
            image=image,
            essential=True,
            entry_point=list(ENTRYPOINT),
            working_directory=DIRECTORY,
            stop_timeout=stop_timeout,
            environment={"RUNNER_STOP_TIMEOUT_SECONDS": str(seconds - SPARE_SECONDS)},
            logging=ecs.LogDrivers.aws_logs(stream_prefix=CONTAINER, log_group=log_group),
        )
