"""The server of a model that sees pictures: a model server with settings and messages of its own."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar

from argot.errors import InvalidSettings
from argot.setting_groups import ModelServerSettings, VisionSettings
from argot.settings import Settings
from argot.tools.llm.address import parse_address
from argot.tools.llm.completion import build_parts
from argot.tools.llm.faults import REFUSAL_STATUSES, Fault, StatusError
from argot.tools.llm.limits import Clock
from argot.tools.llm.model_server import ModelServer

_MODEL_SETTING = re.compile(r"ARGOT_MODEL(?:_(URL|KEY))?(?![A-Z_])")
"""The settings that a vision server has, too; the bounds of calls belong to both."""
# A black square on white, with sides that models which cut pictures into patches accept.
_PROBE_PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQAAAACCEkxzAAAAI0lEQVR42mP8zwABTAyDgsHCwMDIwMDwf7C4Z7AxGAdZfAEACZEDf1JKdcAA"
    "AAAASUVORK5CYII="
)


@dataclass(eq=False, repr=False)
class VisionServer(ModelServer):
    """A model server whose messages have pictures in them."""

    subject: ClassVar[str] = "The vision model server"

    @classmethod
    def from_settings(cls, settings: Settings) -> VisionServer | None:
        """Return the process's one vision server of these settings; None if they name none.

        Raises:
            InvalidSettings: the URL is invalid.
        """
        if not settings.vision.url.strip():
            return None
        return _get_server(_ServerKey(settings.vision, settings.model_server, settings))

    def fault(self, error: Exception) -> Fault:
        found = super().fault(error)
        clause = _name_vision_settings(found.clause.removeprefix(self.subject).strip())
        return replace(found, clause=clause, subject=self.subject)

    async def sees_pictures(self) -> bool:
        """Ask for one token about a small picture; return False if the server refuses such a message.

        Raises:
            ModelUnavailable: it does not answer within the limits of a call.
        """
        await self.load()
        clock = Clock.of(self.settings)
        try:
            served = await clock.wait(self.served_model(fresh=True))
            for name in ("max_tokens", "max_completion_tokens"):  # some servers accept only the second
                if await clock.wait(self._accepts_picture(served.model, {name: 1})):
                    return True
        except Exception as error:
            raise self.fault(error).error() from None
        return False

    async def _accepts_picture(self, model: str, more: dict[str, int]) -> bool:
        parts = build_parts("What is this?", [build_data_address(_PROBE_PICTURE, "image/png")])
        body = {"model": model, "messages": [{"role": "user", "content": parts}], **more}
        try:
            await self.connection().request("POST", f"{self.address.api}/chat/completions", body)
        except StatusError as error:
            if error.status in REFUSAL_STATUSES:
                return False
            raise
        return True


def build_data_address(data: bytes, media_type: str) -> str:
    """Return a picture as a data URL."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


@dataclass(frozen=True)
class _ServerKey:
    """A server and its bounds, as of `ModelServer`."""

    vision: VisionSettings
    bounds: ModelServerSettings
    settings: Settings = field(compare=False)


@lru_cache(maxsize=8)
def _get_server(key: _ServerKey) -> VisionServer:
    try:
        address = parse_address(key.vision.url)
    except InvalidSettings as error:
        raise InvalidSettings(_name_vision_settings(str(error).replace("'model_url'", "'vision_url'"))) from None
    # The client reads the fields of the language model's server; the length of its context is not this one's.
    return VisionServer(
        key.settings.replace(
            model_url=key.vision.url, model=key.vision.name, model_key=key.vision.key, model_context=0
        ),
        address,
    )


def _name_vision_settings(text: str) -> str:
    return _MODEL_SETTING.sub(lambda found: f"ARGOT_VISION_{found[1] or 'MODEL'}", text)
