"""Errors that end a command, with one line on stderr and an exit code.

CommandError      1
├── ApiError      1  the API returned an error
├── UsageError    2  the command line is invalid; argparse uses the same code
└── Unreachable   3  no response, or an invalid one
"""


class CommandError(Exception):
    exit_code = 1


class ApiError(CommandError):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class UsageError(CommandError):
    exit_code = 2


class Unreachable(CommandError):
    exit_code = 3
