"""The addresses under which the use cases of learning are offered over HTTP."""

from argot.ui.api.response_models import Shown
from argot.ui.api.usecase_routes import Address

_PAIR = "/learn/data/{name}/pairs/{pair}"
ADDRESSES = (
    Address("GET", "/learn/data", "data_list", "Learning", list[Shown]),
    Address("POST", "/learn/data/{name}", "data_start", "Learning"),
    Address("POST", "/learn/data/{name}/stop", "data_stop", "Learning"),
    Address("POST", "/learn/data/{name}/import", "data_import", "Learning"),
    Address("GET", "/learn/data/{name}", "data_show", "Learning"),
    Address("GET", "/learn/data/{name}/export", "data_export", "Learning"),
    Address("DELETE", "/learn/data/{name}", "data_remove", "Learning"),
    Address("PATCH", _PAIR, "data_correct", "Learning"),
    Address("POST", f"{_PAIR}/strike", "data_strike", "Learning"),
    Address("POST", f"{_PAIR}/restore", "data_restore", "Learning"),
    Address("GET", "/learn/recipes/{kind}", "training_recipe", "Learning", list[Shown]),
    Address("GET", "/learn/runs", "training_list", "Learning", list[Shown]),
    Address("POST", "/learn/runs", "training_start", "Learning"),
    Address("GET", "/learn/runs/{run}", "training_show", "Learning"),
    Address("POST", "/learn/runs/{run}/stop", "training_stop", "Learning"),
    Address("POST", "/learn/runs/{run}/resume", "training_resume", "Learning"),
    Address("DELETE", "/learn/runs/{run}", "training_remove", "Learning"),
    Address("POST", "/learn/comparison", "training_compare", "Learning", list[Shown]),
    Address("GET", "/learn/runs/{run}/verdict", "model_verdict", "Learning"),
    Address("POST", "/learn/runs/{run}/search", "candidate_search", "Learning"),
    Address("POST", "/learn/runs/{run}/ask", "generator_ask", "Learning"),
    Address("POST", "/learn/runs/{run}/adopt", "model_adopt_start", "Learning"),
    Address("GET", "/learn/tunings", "tuning_list", "Learning", list[Shown]),
    Address("POST", "/learn/tunings/{name}", "tuning_start", "Learning"),
    Address("GET", "/learn/tuning/{tuning}", "tuning_show", "Learning"),
    Address("POST", "/learn/tuning/{tuning}/stop", "tuning_stop", "Learning"),
    Address("POST", "/learn/tuning/{tuning}/resume", "tuning_resume", "Learning"),
    Address("DELETE", "/learn/tuning/{tuning}", "tuning_remove", "Learning"),
    Address("GET", "/learn/models", "models_in_force", "Learning"),
    Address("POST", "/learn/models/{kind}/back", "model_back_start", "Learning"),
    Address("GET", "/learn/change", "model_change", "Learning", Shown | None),
)
