"""One module per resource."""

from runledger_api.routes import (
    admin,
    approvals,
    builds,
    deployments,
    environments,
    feed,
    heads,
    installations,
    jobs,
    lookup,
    messages,
    packages,
    pools,
    reconciliation,
    releases,
    runs,
    statistics,
    stuck,
    subscriptions,
)

ROUTERS = tuple(
    module.router
    for module in (
        *(installations, jobs, lookup, runs, deployments, approvals, stuck, feed, subscriptions, messages),
        *(heads, environments, builds, packages, releases),
        *(statistics, pools, reconciliation, admin),
    )
)
