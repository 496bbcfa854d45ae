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
    messages,
    packages,
    pasted_urls,
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
        *(installations, jobs, pasted_urls, runs, deployments, approvals, stuck, feed, subscriptions, messages),
        *(heads, environments, builds, packages, releases),
        *(statistics, pools, reconciliation, admin),
    )
)
