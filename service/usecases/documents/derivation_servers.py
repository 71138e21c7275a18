"""The model servers that derived texts need, by their kind."""

from __future__ import annotations

from collections.abc import Collection

from argot.errors import InvalidSettings
from argot.settings import Settings
from argot.types import PICTURE, DerivableKind


def has_server(settings: Settings, kind: DerivableKind) -> bool:
    """Return whether the settings name a server whose model derives texts of this kind."""
    return bool(settings.vision.url if kind == PICTURE else settings.model_server.url)


def require_servers(settings: Settings, kinds: Collection[DerivableKind]) -> None:
    """Check that the settings name the model servers for these kinds.

    Raises:
        InvalidSettings: the settings name no server for one of these kinds.
    """
    for kind in kinds:
        if not has_server(settings, kind):
            raise InvalidSettings(_explain_missing_server(kind))


def _explain_missing_server(kind: DerivableKind) -> str:
    where = "(for a running service: there, and start it again)"
    if kind == PICTURE:
        return (
            "Describing pictures requires a model that sees, and none is set. Set "
            f"ARGOT_VISION_URL=http://HOST:PORT/v1 {where}."
        )
    return (
        f"Deriving texts requires a language model, and none is set. Set ARGOT_MODEL_URL=http://HOST:PORT/v1 {where}."
    )
