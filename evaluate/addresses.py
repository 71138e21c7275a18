"""The use cases of this wing that have an address in the API (`ui/api/usecase_routes.py`)."""

from argot.ui.api.response_models import Shown
from argot.ui.api.usecase_routes import Address

ADDRESSES = (
    Address("POST", "/learn/strategy", "strategy_start", "Learning"),
    Address("GET", "/learn/strategy", "strategy_run", "Learning", Shown | None),
    Address("POST", "/learn/evaluation", "evaluation_start", "Learning"),
    Address("GET", "/learn/evaluation", "evaluation_run", "Learning", Shown | None),
    Address("POST", "/learn/evaluation/stop", "evaluation_stop", "Learning"),
    Address("GET", "/learn/evaluations", "evaluation_list", "Learning", list[Shown]),
    Address("POST", "/learn/evaluations/comparison", "evaluation_compare", "Learning", list[Shown]),
    Address("DELETE", "/learn/evaluations/{evaluation}", "evaluation_remove", "Learning"),
)
