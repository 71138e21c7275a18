"""Interpretation of a provider's claims: the name of a new person, and anybody's groups."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from argot.errors import InvalidInput, InvalidSettings
from argot.service.identity.people import require_name
from argot.service.sign_in.openid_connect import require_extra
from argot.settings import Settings
from argot.shown_addresses import hide_secrets
from argot.types import MANAGERS

logger = logging.getLogger(__name__)

MAX_GROUPS = 10_000
"""More than any provider sends."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups in Argot. `admin` None: the provider does not say who is an administrator."""

    names: frozenset[str]
    admin: bool | None


def require_provider(settings: Settings) -> None:
    """Refuse provider settings with which nobody could sign in, or others could read along.

    Raises:
        InvalidSettings
        MissingExtra: authlib is not installed.
    """
    parse_mapping(settings.oidc.groups)
    if not settings.oidc.issuer:
        return
    shown = hide_secrets(settings.oidc.issuer)
    secret = settings.oidc.client_secret.get_secret_value()
    for name, value in {"oidc_client_id": settings.oidc.client_id, "oidc_client_secret": secret}.items():
        if not value:
            raise InvalidSettings(
                f"Setting 'oidc_issuer' is '{shown}', but '{name}' is missing: what the provider gave"
                " when Argot was registered there (docs/administrators.md)."
            )
    issuer = urlsplit(settings.oidc.issuer)
    if issuer.scheme != "https" and issuer.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise InvalidSettings(f"Setting 'oidc_issuer' cannot be '{shown}': it has to begin with https.")
    if settings.oidc.audience and not settings.web.public_url:
        raise InvalidSettings(
            f"Setting 'oidc_audience' is '{settings.oidc.audience}', but 'public_url' is missing:"
            " the address under which assistants reach Argot."
        )
    require_extra()


def read_name(claims: Mapping[str, Any], claim: str) -> str:
    """Read a person's name from this claim; empty: it is missing or none, or an address that nobody has verified."""
    name = claims.get(claim)
    # Whoever enters somebody else's address there would be called by it here.
    if claim == "email" and claims.get("email_verified") is False:
        return ""
    return unicodedata.normalize("NFC", name.strip()) if isinstance(name, str) and name.isprintable() else ""


def read_display_name(claims: Mapping[str, Any]) -> str:
    name = claims.get("name")
    return " ".join(name.split())[:100] if isinstance(name, str) and name.isprintable() else ""


def read_groups(claims: Mapping[str, Any], settings: Settings) -> Groups:
    """Return the groups of the claim by their names here.

    A claim that is text is one group: AD FS makes a list only of several. A missing one, or one of another type, is no
    group. Names that are invalid for groups here are skipped. The group `managers` is only assigned by the mapping: a
    company's group of that name may mean anything.
    """
    theirs = _read_theirs(claims, settings.oidc.groups_claim)
    admin = settings.oidc.admin_group in theirs if settings.oidc.admin_group else None
    return Groups(map_groups(theirs, settings), admin)


def map_groups(theirs: set[str], settings: Settings) -> frozenset[str]:
    """Groups by the names that they have here, as said above."""
    mapping = parse_mapping(settings.oidc.groups)
    names = {mapping[one] for one in theirs if one in mapping}
    names |= {
        plain for one in theirs - mapping.keys() if (plain := one.removeprefix("/")) != MANAGERS and _is_fit(plain)
    }
    return frozenset(names)


@cache
def parse_mapping(text: str) -> dict[str, str]:
    """Return the provider's names of groups, and Argot's.

    Raises:
        InvalidSettings: a part is no `theirs=ours`, or ours can be no name of a group.
    """
    found = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        # From the right: a name of theirs (an LDAP distinguished name) may contain the sign, Argot's cannot.
        theirs, sign, ours = (one.strip() for one in part.rpartition("="))
        try:
            if not sign or not theirs:
                raise InvalidInput("it takes THEIRS=OURS")
            require_name("group", ours)
        except InvalidInput as error:
            raise InvalidSettings(f"Setting 'oidc_groups' cannot hold '{part:.80}': {error}") from error
        found[theirs] = ours
    return found


def _read_theirs(claims: Mapping[str, Any], claim: str) -> set[str]:
    values = claims.get(claim)
    if isinstance(values, str):  # for a single group, some providers make no list
        values = [values]
    if not isinstance(values, list):
        more = claims.get("_claim_names")
        if isinstance(more, dict) and claim in more:
            why = "somebody has too many for it; let Entra send those assigned to the application"
        else:
            why = "it is missing" if values is None else f"it is not a list but {type(values).__name__}"
        logger.warning("the provider's claim '%s' says no groups: %s (docs/administrators.md)", claim, why)
        return set()
    if len(values) > MAX_GROUPS:
        logger.warning("the provider's claim '%s' has %d groups; none is taken", claim, len(values))
        return set()
    return {unicodedata.normalize("NFC", one) for one in values if isinstance(one, str)}


def _is_fit(name: str) -> bool:
    try:
        require_name("group", name)
    except InvalidInput:
        return False
    return True
