"""People's accounts at the provider: whose each is in Argot, and what the provider's statements change for them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from argot.errors import InvalidInput
from argot.service.identity.people import SUSPENDED, User
from argot.service.identity.provider_links import Confirmed, ProviderLink
from argot.service.sign_in.openid_connect import Claims, ProviderRefusal
from argot.service.sign_in.provider_claims import read_display_name, read_groups, read_name

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase
    from argot.settings import Settings

_LINKING = threading.Lock()


def find_account(kb: KnowledgeBase, claims: Claims) -> tuple[ProviderLink, User]:
    """Return the link of the account of these claims, and its person; both are created if an administrator has allowed
    it, or for a new person.

    Raises:
        ProviderRefusal: the name is taken by somebody who is not linked, is invalid, or new people are not admitted;
            or the person is suspended.
    """
    link = _find_link(kb, claims)
    user = kb.people.user(link.user)
    if user.suspended_at:
        raise ProviderRefusal(SUSPENDED)
    return link, user


def confirm_account(
    kb: KnowledgeBase, link: ProviderLink, claims: Claims, refresh_token: str | None, issued_at: str | None = None
) -> bool:
    """Let the provider's claims replace its previous statement on a person.

    Args:
        issued_at: when it made this one (ISO 8601); None: just now.

    Returns:
        False, with nothing changed, if the link is no longer this one.
    """
    groups = read_groups(claims, kb.settings)
    return kb.people.links.confirm(link, Confirmed(groups.names, groups.admin, refresh_token, issued_at))


def _find_link(kb: KnowledgeBase, claims: Claims) -> ProviderLink:
    links, issuer, subject = kb.people.links, kb.settings.oidc.issuer, str(claims["sub"])
    if found := links.find(issuer, subject):
        return found
    # One at a time: somebody whom another request has added, but not linked yet, would look like somebody else.
    with _LINKING:
        return links.find(issuer, subject) or _make_link(kb, claims)


def _make_link(kb: KnowledgeBase, claims: Claims) -> ProviderLink:
    people, issuer, subject = kb.people, kb.settings.oidc.issuer, str(claims["sub"])
    name = read_name(claims, kb.settings.oidc.name_claim)
    if not name:
        raise ProviderRefusal(f"The provider does not give your name ('{kb.settings.oidc.name_claim}').")
    # In any case: nobody is to be taken for somebody else whose name differs in capitals alone.
    same = [one for one in people.users() if one.name.casefold() == name.casefold()]
    if not same:
        _require_new(kb.settings, name, subject)
        try:
            people.add(name, (), read_display_name(claims))
        except InvalidInput as error:
            raise ProviderRefusal(str(error)) from error
    else:
        waiting = people.links.of(name)
        if waiting is not None and (waiting.issuer, waiting.subject) == (issuer, subject):
            return waiting  # another request has linked it just now
        if waiting is None or waiting.subject or waiting.issuer != issuer:
            raise _make_taken_refusal(same[0].name, subject)
    people.link(name, issuer, subject)
    # By account, not name: another service may have linked another account with the name meanwhile.
    link = people.links.find(issuer, subject)
    if link is None:
        raise _make_taken_refusal(name, subject)
    return link


def _make_taken_refusal(name: str, subject: str) -> ProviderRefusal:
    return ProviderRefusal(
        f"There is a user '{name}' here already, who is not linked with your account at the provider. If it is you,"
        f" ask an administrator: argot user link {name} --subject {subject}"
    )


def _require_new(settings: Settings, name: str, subject: str) -> None:
    if settings.sign_in.unknown_people == "refuse":
        raise ProviderRefusal(
            f"Argot does not know '{name}'. Ask an administrator: argot user add NAME, then"
            f" argot user link NAME --subject {subject}"
        )
