"""All endpoints of the simulated GitHub, one module per resource."""

from local.github.endpoints import app, deliveries, deployments, installation, runners, runs, simulation, workflows
from local.github.routing import Router

RESOURCES = (app, deliveries, runs, workflows, deployments, runners, installation)

GITHUB = Router(route for resource in RESOURCES for route in resource.routes.all)
CONTROL = Router(simulation.routes.all)
