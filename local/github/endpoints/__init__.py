"""All endpoints of the simulated GitHub, one module per resource."""

from local.github.endpoints import app, deliveries, deployments, rate_limit, repositories, runners, runs, simulation

GITHUB = [
    *app.routes.all,
    *deliveries.routes.all,
    *runs.routes.all,
    *deployments.routes.all,
    *runners.routes.all,
    *repositories.routes.all,
    *rate_limit.routes.all,
]
CONTROL = simulation.routes.all
