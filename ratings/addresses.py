"""The use cases of rating studies that are offered over HTTP."""

from argot.ui.api.response_models import Shown
from argot.ui.api.usecase_routes import Address

_STUDY = "/studies/{study}"
ADDRESSES = (
    Address("GET", "/ratings", "rating_studies_mine", "Ratings", list[Shown]),
    Address("GET", "/ratings/{study}", "rating_task", "Ratings"),
    Address("POST", "/ratings/{study}", "rating_save", "Ratings"),
    Address("GET", "/studies", "rating_list", "Ratings", list[Shown]),
    Address("POST", "/studies", "rating_create", "Ratings"),
    Address("POST", "/studies/asked", "rating_create_asked", "Ratings"),
    Address("POST", "/studies/thumbs", "rating_create_from_thumbs", "Ratings"),
    Address("GET", _STUDY, "rating_show", "Ratings"),
    Address("POST", f"{_STUDY}/ask", "rating_ask", "Ratings"),
    Address("POST", f"{_STUDY}/invite", "rating_invite", "Ratings"),
    Address("POST", f"{_STUDY}/uninvite", "rating_uninvite", "Ratings"),
    Address("POST", f"{_STUDY}/close", "rating_close", "Ratings"),
    Address("POST", f"{_STUDY}/reopen", "rating_reopen", "Ratings"),
    Address("GET", f"{_STUDY}/export", "rating_export", "Ratings"),
    Address("DELETE", _STUDY, "rating_remove", "Ratings"),
)
