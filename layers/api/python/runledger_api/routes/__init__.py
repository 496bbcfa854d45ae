"""One module per resource."""

from runledger_api.routes import (
    admin,
    approvals,
    deployments,
    environments,
    feed,
    heads,
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
        *(heads, environments),
        *(statistics, pools, reconciliation, admin),
    )
)
