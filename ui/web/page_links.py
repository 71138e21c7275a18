"""The links to all pages that a visitor may open: in the head of every page, and where an address does not exist."""

from __future__ import annotations

from argot.languages.catalogues import translate
from argot.ui.web.authorization import Visitor
from argot.wings import wings


def list_page_links(who: Visitor) -> list[tuple[str, str]]:
    """Return the address and the name, in the language of the pages, of each page that this visitor may open."""
    links = [
        ("/library", translate("Library"), "reader"),
        ("/terms", translate("Terms"), "asker"),
        ("/documents", translate("Documents"), "manager"),
        ("/glossary", translate("Glossary"), "manager"),
        *((address, translate(name), role) for wing in wings() for address, name, role in wing.links),
        ("/verified", translate("Verified answers"), "manager"),
        ("/insight", translate("Insight"), "manager"),
        ("/people", translate("People"), "admin"),
        ("/administration", translate("Administration"), "admin"),
    ]
    return [(address, name) for address, name, role in links if _may_open(who, role)]


def _may_open(who: Visitor, role: str) -> bool:
    # Managers find the documents, with more about them, under Documents.
    if role == "reader":
        return who.role == "asker"
    return role in ("asker", who.role) or who.role == "admin" or (role == "builder" and who.principal.manages_all)
