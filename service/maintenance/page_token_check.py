"""The part of `argot doctor` about pages of other sites that show the window: their sites, and the keys of tokens."""

from __future__ import annotations

import asyncio

from argot.errors import InvalidSettings, MissingExtra
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.sign_in.embedding import parse_origins, require_embedding
from argot.service.sign_in.openid_connect import ProviderUnreachable
from argot.service.sign_in.page_tokens import PageTokens
from argot.settings import Settings

NAME = "embedded window"


def check_page_tokens(settings: Settings) -> list[Finding]:
    """Reads the keys by which tokens are checked; an address that hangs takes the bound of one request."""
    try:
        sites = parse_origins(settings.embed.origins)
        # Whether people sign in is checked by the service, which knows the accounts.
        require_embedding(settings, signing_in=True)
        if not sites:
            return [make_good_finding(NAME, "no page of another site may show it (docs/embedding.md)")]
        if settings.embed.token_key:
            asyncio.run(PageTokens(settings).require_keys())
    except (InvalidSettings, MissingExtra) as error:
        return [make_bad_finding(NAME, str(error), "see the message")]
    except ProviderUnreachable as error:
        remedy = "see that this machine reaches it, directly or by HTTPS_PROXY, and 'embed_token_key'"
        return [make_bad_finding(NAME, str(error), remedy)]
    signs_in = "the keys of their tokens are read" if settings.embed.token_key else "people sign in in a window"
    return [make_good_finding(NAME, f"shown by pages of {', '.join(sites)}; {signs_in}")]
