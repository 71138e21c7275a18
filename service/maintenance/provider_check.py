"""The part of `argot doctor` about the OpenID Connect provider: whether it answers, and is the intended one."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

from argot.errors import InvalidSettings, install_command
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.sign_in.openid_connect import ALGORITHMS, OpenIdProvider, ProviderUnreachable
from argot.service.sign_in.provider_claims import require_provider
from argot.settings import Settings
from argot.shown_addresses import hide_secrets

NAME = "provider"


def check_provider(settings: Settings) -> list[Finding]:
    """Asks it for what it publishes, and for its keys; one that hangs takes the bound of two requests."""
    if not settings.oidc.issuer:
        return [make_good_finding(NAME, "none to sign in at (docs/administrators.md)")]
    if importlib.util.find_spec("authlib") is None:
        return [make_bad_finding(NAME, "authlib is not installed", install_command("sso"))]
    try:
        require_provider(settings)
        published = asyncio.run(_fetch_description(settings))
    except InvalidSettings as error:
        return [make_bad_finding(NAME, str(error), "see the message")]
    except ProviderUnreachable as error:
        return [
            make_bad_finding(
                NAME, str(error), "see that this machine reaches it, directly or by HTTPS_PROXY, and 'oidc_issuer'"
            )
        ]
    return [
        make_good_finding(NAME, f"{hide_secrets(settings.oidc.issuer)} answers"),
        *_check_missing_parts(settings, published),
    ]


async def _fetch_description(settings: Settings) -> dict[str, Any]:
    provider = OpenIdProvider(settings)
    await provider.require_keys()
    return await provider.fetch_description()


def _check_missing_parts(settings: Settings, published: dict[str, Any]) -> list[Finding]:
    found = []
    signs = published.get("id_token_signing_alg_values_supported")
    if isinstance(signs, list) and not set(signs) & set(ALGORITHMS):
        remedy = f"let it sign for this client by {ALGORITHMS[0]}"
        found.append(make_bad_finding(f"{NAME}: signatures", f"it offers {', '.join(map(str, signs))}", remedy))
    claims = published.get("claims_supported")
    if isinstance(claims, list) and settings.oidc.groups_claim not in claims:
        # No problem by itself: many do not list what an administrator adds.
        found.append(make_good_finding(f"{NAME}: groups", f"it does not list the claim '{settings.oidc.groups_claim}'"))
    if not published.get("end_session_endpoint"):
        found.append(
            make_good_finding(f"{NAME}: signing out", "it names no address for it: people are signed out only here")
        )
    return found
