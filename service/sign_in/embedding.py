"""The sites whose pages may show the chat window in a frame, and the checks of the settings about them."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import urlsplit

from argot.errors import InvalidSettings
from argot.service.sign_in.page_tokens import load_key_file, require_joserfc
from argot.settings import Settings, hide_setting
from argot.shown_addresses import hide_secrets

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
STANDARD_PORTS = {"https": "443", "http": "80"}
_ORIGIN = re.compile(r"(https?)://([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[::1\])(?::([1-9][0-9]{0,4}))?/?")


@cache
def parse_origins(text: str, setting: str = "embed_origins") -> tuple[str, ...]:
    """Parse the origins of a setting, separated by commas, in the form in which browsers send them.

    Raises:
        InvalidSettings
    """
    return tuple(dict.fromkeys(_parse_origin(one, setting) for part in text.split(",") if (one := part.strip())))


def _parse_origin(text: str, setting: str) -> str:
    if "*" in text:
        raise _make_error(text, setting, "there is no wildcard, because it would cover pages that nobody has named")
    # Nothing else may pass: an origin becomes a part of a policy, where blanks and semicolons have a meaning.
    found = _ORIGIN.fullmatch(text.lower()) if text.isascii() else None
    if found is None:
        why = "it is no origin: a scheme, a host in ASCII (xn--...), perhaps a port, and no path"
        raise _make_error(text, setting, why)
    scheme, host, port = found.groups()
    if scheme == "http" and host not in LOCAL_HOSTS:
        raise _make_error(text, setting, "without https anybody on the way could change that page")
    if port and int(port) > 65535:
        raise _make_error(text, setting, "its port is above 65535")
    return f"{scheme}://{host}" + (f":{port}" if port and port != STANDARD_PORTS[scheme] else "")


def _make_error(text: str, setting: str, why: str) -> InvalidSettings:
    return InvalidSettings(
        f"Setting '{setting}' cannot hold '{hide_secrets(text):.200}': {why}. Name each site by itself, as in"
        " https://intranet.example.com, with commas between them."
    )


def require_embedding(settings: Settings, *, signing_in: bool) -> None:
    """Refuse settings with which a page could not show the window, or would show it as somebody it should not be.

    Raises:
        InvalidSettings
        MissingExtra: joserfc is not installed.
    """
    embed = settings.embed
    shown_key = hide_setting("embed_token_key", embed.token_key)
    if not parse_origins(embed.origins):
        if embed.token_key:
            raise InvalidSettings(
                f"Setting 'embed_token_key' is '{shown_key}', but no page may show the window. Name the sites in"
                " 'embed_origins'."
            )
        return
    if not signing_in:
        raise InvalidSettings(
            f"Setting 'embed_origins' is '{embed.origins}', but nobody signs in: these pages would show the window to"
            " everyone as the person at this machine. Let people sign in: argot user add NAME --password."
        )
    public = urlsplit(settings.web.public_url)
    if public.scheme == "http" and public.hostname not in ("localhost", "127.0.0.1", "::1"):
        public_url = settings.web.public_url
        raise InvalidSettings(
            f"Setting 'embed_origins' needs https: browsers send no cookie to '{hide_secrets(public_url)}'"
            " from a frame. Put a proxy with https before Argot, and set 'public_url' to its address."
        )
    if embed.token_key:
        _require_token_settings(settings, shown_key)


def _require_token_settings(settings: Settings, shown_key: object) -> None:
    embed = settings.embed
    if not embed.token_issuer:
        raise InvalidSettings(
            f"Setting 'embed_token_key' is '{shown_key}', but 'embed_token_issuer' is missing: what the tokens"
            " say under 'iss'."
        )
    require_joserfc()
    place = urlsplit(embed.token_key)
    if place.scheme == "http" and place.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise InvalidSettings(f"Setting 'embed_token_key' cannot be '{shown_key}': it has to begin with https.")
    if place.scheme not in ("https", "http"):
        load_key_file(embed.token_key)
