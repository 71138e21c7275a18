"""The language of a request's pages: the one chosen on the account page, else the browser's, else English."""

from __future__ import annotations

import re
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from argot.languages.catalogues import LANGUAGE_NAMES

LANGUAGE_COOKIE = "argot-language"
FRAME_LANGUAGE_COOKIE = "argot-frame-language"
"""The cookie with the language of a page of another site around the window."""
COOKIE_SECONDS = 365 * 24 * 3600
MAX_HEADER_CHARS = 500
MAX_LANGUAGES = 20
_RANGE = re.compile(r"([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)\s*(?:;\s*q=([01](?:\.\d{0,3})?))?")


def choose_language(headers: Headers) -> str:
    """Choose the language of a request's pages from its cookies and its Accept-Language header."""
    cookies = cookie_parser(headers.get("cookie", ""))
    choices = (cookies.get(name, "") for name in (LANGUAGE_COOKIE, FRAME_LANGUAGE_COOKIE))
    chosen = next((one for one in choices if one in LANGUAGE_NAMES), "")
    return chosen or negotiate_language(headers.get("accept-language", ""))


@lru_cache(maxsize=500)
def negotiate_language(accepted: str) -> str:
    """Return the first language of an Accept-Language header that the pages have, in the order of its weights."""
    # Imported for the first page: most commands show none.
    from babel import negotiate_locale

    ranges = [_RANGE.fullmatch(one.strip()) for one in accepted[:MAX_HEADER_CHARS].split(",")[:MAX_LANGUAGES]]
    weighted = [(float(one[2] or 1), one[1]) for one in ranges if one]
    # The sort is stable: of equal weights, the first counts.
    preferred = [name for weight, name in sorted(weighted, key=lambda one: -one[0]) if weight > 0]
    return negotiate_locale(preferred, list(LANGUAGE_NAMES), sep="-") or "en"


def make_language_cookie(language: str, *, secure: bool) -> str:
    """Build the Set-Cookie line that keeps the chosen language; an empty one removes it."""
    seconds = COOKIE_SECONDS if language else 0
    secured = "; Secure" if secure else ""
    return f"{LANGUAGE_COOKIE}={language}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secured}"
