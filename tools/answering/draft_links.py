"""Links of a draft, each of which leads only where a passage leads.

A model may mistype an address, and nobody sees where the words of a link lead before following it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LINK = re.compile(
    r"(?<!!)\[(?P<label>[^\[\]\n]{1,300})\]\(<?(?P<target>(?:https?://|mailto:)"
    r"(?:[^\s()<>]|\([^\s()<>]{0,200}\)){1,2000})>?(?:\s\"[^\"\n]{0,300}\")?\)",
    re.IGNORECASE,
)


def drop_unknown_targets(draft: str, passages: Iterable[str]) -> str:
    """Return a draft, of Markdown, in which links to addresses that no passage has are only their words."""
    if "](" not in draft:
        return draft
    known = "\n".join(passages).casefold()

    def keep_known(link: re.Match[str]) -> str:
        target = link["target"].casefold().removeprefix("mailto:").rstrip("/")
        return link[0] if target in known else link["label"]

    return _LINK.sub(keep_known, draft)
