"""Every hour: which deployments has nobody approved for too long?"""

import time
from dataclasses import asdict
from typing import Any

from runledger import forgotten, github_runtime, runtime, telemetry, times

jobs, installations, is_pending = runtime.jobs(), runtime.installations(), github_runtime.is_pending()
patience_ms = int(runtime.setting("FORGOTTEN_APPROVAL_HOURS")) * times.MS_PER_HOUR


def handler(_event: dict[str, Any], context: Any) -> dict[str, Any]:
    telemetry.follow(context.aws_request_id)
    found = forgotten.find(
        jobs,
        installations.active(),
        waiting_since_before=times.from_epoch_ms(round(time.time() * times.MS_PER_SECOND) - patience_ms),
        is_pending=is_pending,
    )
    approvals = [asdict(approval) for approval in found]
    telemetry.forgotten(approvals)
    return {"forgotten": approvals}
