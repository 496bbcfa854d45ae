"""What ends a command early: each is one line on stderr and an exit code.

CommandError      1
├── Refusal       1  the API said no, and why
├── Misuse        2  the command was called wrongly, as argparse has it too
└── Unreachable   3  nobody answered, or nobody who speaks our language
"""


class CommandError(Exception):
    exit_code = 1


class Refusal(CommandError):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Misuse(CommandError):
    exit_code = 2


class Unreachable(CommandError):
    exit_code = 3
