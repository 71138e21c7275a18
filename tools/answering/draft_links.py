"""Links of a draft, each of which leads only where a passage leads.

A model may mistype an address, and nobody sees where the words of a link lead before following it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_TARGET = (
    r"<?(?P<target>(?:https?:[/\\]{2}|//|mailto:)(?:[^\s()<>]|\([^\s()<>]{0,200}\)){1,2000})>?"
    r"(?:\s{1,5}(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\([^()\n]{0,300}\)))?"
)
_LINK = re.compile(
    r"(?<!!)\[(?P<label>(?:[^\[\]\n]|\n(?!\s{0,50}\n)|\[[^\[\]\n]{0,100}\]){1,300})\]"
    rf"\(\s{{0,5}}{_TARGET}\s{{0,5}}\)",
    re.IGNORECASE,
)
# "[guide]: https://x.org", to which "[the guide][guide]" leads.
_DEFINITION = re.compile(rf"^ {{0,3}}\[[^\[\]\n]{{1,300}}\]:\s{{0,5}}{_TARGET}[ \t]*$\n?", re.IGNORECASE | re.MULTILINE)
_ENDS = re.compile(r"(?![\w-]|[.:][\w-])")


def drop_unknown_targets(draft: str, passages: Iterable[str]) -> str:
    """Return a draft, of Markdown, in which links to addresses that no passage has are only their words."""
    if "](" not in draft and "]:" not in draft:
        return draft
    known = "\n".join(passages).casefold()

    def keep_known(link: re.Match[str]) -> str:
        target = link["target"].casefold().rstrip("/")
        return link[0] if _has_target(target, known) else link.groupdict().get("label") or ""

    return _DEFINITION.sub(keep_known, _LINK.sub(keep_known, draft))


def _has_target(target: str, known: str) -> bool:
    """Return whether a text has an address or one below it, and not just another one with the same beginning."""
    bare = target.removeprefix("mailto:")
    place = known.find(bare)
    while place >= 0:
        is_other_mailbox = bare != target and re.search(r"[\w.+-]$", known[max(0, place - 1) : place])
        if _ENDS.match(known, place + len(bare)) and not is_other_mailbox:
            return True
        place = known.find(bare, place + 1)
    return False
