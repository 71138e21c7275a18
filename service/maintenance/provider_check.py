"""The part of `argot doctor` about the OpenID Connect provider: whether it answers, and is the intended one."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

from argot.errors import InvalidSettings, install_command
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.sign_in.access_tokens import find_resource
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
        *(_check_assistants(settings, published) if find_resource(settings) else ()),
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


def _check_assistants(settings: Settings, published: dict[str, Any]) -> list[Finding]:
    """Check what assistants need of the provider to sign their people in (MCP, "Authorization", 2025-11-25)."""
    name, issuer = f"{NAME}: assistants", published["issuer"]
    found = []
    if issuer != settings.oidc.issuer:
        detail = f"the provider calls itself {hide_secrets(issuer):.200}, and they refuse another spelling"
        found.append(make_bad_finding(name, detail, "set 'oidc_issuer' to exactly that"))
    ways = published.get("code_challenge_methods_supported")
    if not isinstance(ways, list) or "S256" not in ways:
        detail = "it does not list S256 in 'code_challenge_methods_supported': some assistants then refuse it"
        found.append(make_good_finding(name, detail))
    if not (published.get("registration_endpoint") or published.get("client_id_metadata_document_supported")):
        detail = "they cannot register themselves: register each at the provider, and give people its client id"
        found.append(make_good_finding(name, detail))
    offered = published.get("scopes_supported")
    scopes = settings.oidc.mcp_scopes.split()
    if isinstance(offered, list) and (unknown := [one for one in scopes if one not in offered]):
        # No problem by itself: Entra lists none of an application's own.
        detail = f"it does not list '{unknown[0]}' of 'oidc_mcp_scopes', for which they ask"
        found.append(make_good_finding(name, detail))
    return found
