"""The Content-Security-Policy of pages: what a page may load, run and connect to."""

from __future__ import annotations

import base64
import hashlib
import re

from argot.ui.web.frames import NO_ANCESTORS

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def build_content_policy(page: str, host: str, ancestors: str = NO_ANCESTORS) -> str:
    """Build a Content-Security-Policy under which a page of this host reaches only its own origin.

    `ancestors`: the sites whose pages may show it in a frame.

    Inline styles are allowed, because Chainlit's components set them. Scripts are our own files and the page's own
    inline scripts, by their digests.
    """
    scripts = " ".join(f"'sha256-{_hash_script(script)}'" for script in _INLINE_SCRIPT.findall(page))
    # 'self' covers websockets in newer browsers only, and a bracketed IPv6 address is not a valid source.
    sockets = "" if host.startswith("[") or not re.fullmatch(r"[\w.:-]+", host) else f" ws://{host} wss://{host}"
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' {scripts}",
            "style-src 'self' 'unsafe-inline'",
            # No outside images: the address of one could carry words of the answer away.
            "img-src 'self'",
            "font-src 'self' data:",
            f"connect-src 'self'{sockets}",
            "worker-src 'self' blob:",
            f"frame-ancestors {ancestors}",
            "base-uri 'none'",
            "form-action 'self'",
            "object-src 'none'",
        )
    )


def _hash_script(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
