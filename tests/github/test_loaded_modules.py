"""A function that may never call GitHub does not pay for cryptography when it starts."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOAD = """
import json, sys
sys.path[:0] = ["layers/domain/python", "layers/github/python"]
from runledger_github.app import GitHubApp
GitHubApp.from_secret(json.dumps({"app_id": 1, "private_key": "-----BEGIN RSA PRIVATE KEY-----"})).installation(7)
print("\\n".join(sys.modules))
"""


def test_client_is_made_without_cryptography_aws_and_most_of_the_domain() -> None:
    command = [sys.executable, "-c", LOAD]
    loaded = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    assert "runledger_github.app" in loaded
    domain = {name for name in loaded if name.startswith("runledger.")}
    names = ("addresses", "dataclass", "errors", "payload", "times")
    assert domain == {"runledger.model", *(f"runledger.model.{name}" for name in names)}
    unwanted = ("jwt", "cryptography", "boto", "requests", "pydantic", "aws_lambda_powertools")
    assert [name for name in loaded if name.startswith(unwanted)] == []
