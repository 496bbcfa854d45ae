"""The API, put together from its routes."""

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver

from runledger_api import description, pages, problems
from runledger_api.routes import ROUTERS


def build() -> APIGatewayHttpResolver:
    app = APIGatewayHttpResolver(enable_validation=True, response_validation_error_http_code=500)
    for router in ROUTERS:
        app.include_router(router)
    problems.answer_with_problems(app)
    description.serve(app)
    pages.serve(app)
    return app
