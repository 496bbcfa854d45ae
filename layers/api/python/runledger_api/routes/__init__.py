"""One file for each kind of thing that is asked for."""

from runledger_api.routes import (
    admin,
    approvals,
    deployments,
    installations,
    jobs,
    lookup,
    me,
    pools,
    reconciliation,
    runs,
    statistics,
    stuck,
)

ROUTERS = tuple(
    module.router
    for module in (
        *(me, installations, jobs, lookup, runs, deployments, approvals, stuck),
        *(statistics, pools, reconciliation, admin),
    )
)
