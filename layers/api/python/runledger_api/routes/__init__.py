"""One module per resource."""

from runledger_api.routes import (
    admin,
    approvals,
    deployments,
    feed,
    installations,
    jobs,
    lookup,
    messages,
    pools,
    reconciliation,
    runs,
    statistics,
    stuck,
    subscriptions,
)

ROUTERS = tuple(
    module.router
    for module in (
        *(installations, jobs, lookup, runs, deployments, approvals, stuck, feed, subscriptions, messages),
        *(statistics, pools, reconciliation, admin),
    )
)
