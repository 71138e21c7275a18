"""The part of `argot doctor` about the OpenID Connect provider: does it answer, and is it the one that is meant?"""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

from argot.errors import InvalidSettings, install_command
from argot.service.maintenance.findings import Finding, bad, good
from argot.service.sign_in.openid_connect import ALGORITHMS, OpenIdProvider, ProviderUnreachable
from argot.service.sign_in.provider_claims import require_provider
from argot.settings import Settings

NAME = "provider"


def provider_findings(settings: Settings) -> list[Finding]:
    """Asks it for what it publishes, and for its keys; one that hangs takes the bound of two requests."""
    if not settings.oidc_issuer:
        return [good(NAME, "none to sign in at (docs/administrators.md)")]
    if importlib.util.find_spec("authlib") is None:
        return [bad(NAME, "authlib is not installed", install_command("sso"))]
    try:
        require_provider(settings)
        published = asyncio.run(_published(settings))
    except InvalidSettings as error:
        return [bad(NAME, str(error), "see the message")]
    except ProviderUnreachable as error:
        return [
            bad(NAME, str(error), "see that this machine reaches it, directly or by HTTPS_PROXY, and 'oidc_issuer'")
        ]
    return [good(NAME, f"{settings.oidc_issuer} answers"), *_lacking(settings, published)]


async def _published(settings: Settings) -> dict[str, Any]:
    provider = OpenIdProvider(settings)
    await provider.require_keys()
    return await provider.published()


def _lacking(settings: Settings, published: dict[str, Any]) -> list[Finding]:
    found = []
    signs = published.get("id_token_signing_alg_values_supported")
    if isinstance(signs, list) and not set(signs) & set(ALGORITHMS):
        remedy = f"let it sign for this client by {ALGORITHMS[0]}"
        found.append(bad(f"{NAME}: signatures", f"it offers {', '.join(map(str, signs))}", remedy))
    claims = published.get("claims_supported")
    if isinstance(claims, list) and settings.oidc_groups_claim not in claims:
        # No problem by itself: many do not list what an administrator adds.
        found.append(good(f"{NAME}: groups", f"it does not list the claim '{settings.oidc_groups_claim}'"))
    if not published.get("end_session_endpoint"):
        found.append(good(f"{NAME}: signing out", "it does not say where: people are signed out here alone"))
    return found
