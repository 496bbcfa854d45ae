"""What intake loads beyond botocore and its clients: each module adds to every cold start."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from local.processes import clean_environment
from tests.support.settings import SETTINGS

ROOT = Path(__file__).parent.parent.parent
CLIENTS = """
from botocore.session import Session
[Session().create_client(name) for name in ('dynamodb', 'secretsmanager')]
"""
# Eight modules of `runledger` are package files, which hold one sentence each.
MOST_MODULES = {"webhook_intake": 1, "runledger": 61, "aws_lambda_powertools": 40, "typing_extensions": 1}


def loaded(code: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}\nprint(json.dumps(list(sys.modules)))"],
        cwd=ROOT,
        env=clean_environment(**SETTINGS, AWS_ACCESS_KEY_ID="test", PYTHONPATH="functions:layers/domain/python"),
        check=True,
        capture_output=True,
        text=True,
    )
    return set(json.loads(result.stdout))


def test_intake_loads_no_more_modules_than_it_did() -> None:
    added = loaded("import webhook_intake") - loaded(CLIENTS)
    by_package = Counter(name.partition(".")[0] for name in added)
    foreign = {name: count for name, count in by_package.items() if name not in sys.stdlib_module_names}
    assert {name: count for name, count in foreign.items() if count > MOST_MODULES.get(name, 0)} == {}


def test_intake_does_not_load_what_only_other_functions_need() -> None:
    unwanted = (
        "runledger.runners.prices",
        "runledger.runners.reruns",
        "runledger.runners.lookups",
        "runledger.feeds",
        "runledger.notifications",
        "runledger.releases",
        "runledger.model.packages",
        "semantic_version",
    )
    assert [name for name in loaded("import webhook_intake") if name.startswith(unwanted)] == []
