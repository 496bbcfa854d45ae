"""One module per resource."""

from runledger_api.routes import (
    admin,
    approvals,
    deployments,
    feed,
    installations,
    jobs,
    lookup,
    pools,
    reconciliation,
    runs,
    statistics,
    stuck,
)

ROUTERS = tuple(
    module.router
    for module in (
        *(installations, jobs, lookup, runs, deployments, approvals, stuck, feed),
        *(statistics, pools, reconciliation, admin),
    )
)
