"""The caller's rate limit."""

from local.github.messages import Answer
from local.github.routing import Call, Needs, Routes

routes = Routes(Needs.TOKEN, free=True)


@routes.add("GET", "/rate_limit")
def get_rate_limit(call: Call) -> Answer:
    core = call.state.budget.report(call.caller, call.state.now())
    return Answer(200, {"resources": {"core": core, "search": core}, "rate": core})
