"""The use cases of this wing that have an address in the API (`ui/api/usecase_routes.py`)."""

from argot.ui.api.response_models import Shown
from argot.ui.api.usecase_routes import Address

ADDRESSES = (
    Address("POST", "/learn/strategy", "strategy_start", "Learning"),
    Address("GET", "/learn/strategy", "strategy_run", "Learning", Shown | None),
)
