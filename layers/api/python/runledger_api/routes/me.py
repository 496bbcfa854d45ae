"""Who am I, to this API?"""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from runledger_api.models.statistics import Me
from runledger_api.visits import visit

router = APIGatewayHttpRouter()


@router.get("/v1/me", tags=["me"], operation_id="getMe", summary="Who is asking")
def me() -> Me:
    caller = visit(router).caller
    scope = caller.installations
    installations = None if scope is None else sorted(scope)
    return {"id": caller.id, "name": caller.name, "role": caller.role, "installations": installations}
