"""People and groups that an identity provider sends (SCIM), applied here.

Only an administrator may send them. People are identified by name: an existing one is taken over unchanged. A person
whom the provider deactivates or removes is blocked at once; none of their data are erased.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from argot.clock import timestamp
from argot.errors import InvalidInput, NotAllowed
from argot.service.audit.audit_actions import ACCOUNT, ENTITY
from argot.service.audit.audit_events import Deed, Resource
from argot.service.identity.provisioned import ProvisionedGroup, ProvisionedPerson
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.provider_claims import map_groups
from argot.types import Principal


class Provisioning:
    """People and groups, on behalf of the provider.

    Args:
        principal: the owner of the key with which the request came. Nobody may block themselves.
    """

    def __init__(self, kb: KnowledgeBase, principal: Principal) -> None:
        self._people, self._settings, self._principal = kb.people, kb.settings, principal
        self._rows = kb.people.provisioned
        self._audit = kb.audit

    def require_in(self) -> None:
        """
        Raises:
            NotAllowed: the key's owner has been blocked since the key was read.
        """
        sender = self._people.find(self._principal.name)
        if sender is not None and sender.shut_out:
            raise NotAllowed(f"'{sender.name}', the owner of this key, is suspended.")

    # -- people --------------------------------------------------------------------------------------------------------

    def people(self) -> list[ProvisionedPerson]:
        return self._rows.people()

    def person(self, id_: str) -> ProvisionedPerson:
        """
        NotFound
            NotFound
        """
        return self._rows.person(id_)

    def make_person(self, name: str, external_id: str | None, display_name: str, *, active: bool) -> ProvisionedPerson:
        """Add the person whom the provider sends.

        Raises:
            InvalidInput: this can be no name here.
            Conflict: the provider has sent somebody of this name already.
        """
        self._require_audit()
        name = unicodedata.normalize("NFC", name.strip())
        alike = [one.name for one in self._people.users() if one.name.casefold() == name.casefold()]
        here = name if name in alike else next(iter(alike), None)
        if here is None:
            self._people.add(name, (), display_name)
            if self._settings.oidc.issuer:
                # The account that comes next under this name is theirs: it is the same provider that says so.
                self._people.link(name, self._settings.oidc.issuer)
        id_ = self._rows.take_person(here or name, external_id)
        self._set_active(self.person(id_), active=active)
        made = self.person(id_)
        self._record(Deed(ACCOUNT, "create", "scim", user=made.user, road="scim", details={"active": active}))
        return made

    def change_person(
        self, id_: str, name: str, external_id: str | None, display_name: str, *, active: bool
    ) -> ProvisionedPerson:
        """Change a person as the provider sends them.

        Raises:
            NotFound
            InvalidInput: another name; people keep theirs here, for documents and the glossary's history name them.
        """
        self._require_audit()
        person = self.person(id_)
        if unicodedata.normalize("NFC", name.strip()).casefold() != person.user.casefold():
            raise InvalidInput(
                f"'{person.user}' cannot become '{name}': people keep their names here. Send a new person instead."
            )
        self._set_active(person, active=active)
        self._rows.change_person(id_, external_id, display_name)
        activity = "update" if active == (person.inactive_at is None) else "enable" if active else "disable"
        self._record(Deed(ACCOUNT, activity, "scim", user=person.user, road="scim"))
        return self.person(id_)

    def remove_person(self, id_: str) -> None:
        """Block a person, and remove them from the groups that were sent.

        Raises:
            NotFound
            NotAllowed: it is the caller.
        """
        self._require_audit()
        person = self.person(id_)
        self._set_active(person, active=False)
        self._rows.remove_person(id_)
        self._record(Deed(ACCOUNT, "disable", "scim", user=person.user, road="scim"))

    def _require_audit(self) -> None:
        if self._audit:
            self._audit.require_writable()

    def _record(self, deed: Deed) -> None:
        if self._audit:
            self._audit.record(deed, self._principal)

    def _set_active(self, person: ProvisionedPerson, *, active: bool) -> None:
        since = person.inactive_at
        if active == (since is None):
            return
        if not active and person.user == self._principal.name:
            raise NotAllowed(f"'{person.user}' is the owner of this key, and would suspend themselves.")
        before = self._people.user(person.user).suspended_at
        if active:
            # A person whom an administrator here has suspended stays out, whatever the provider says.
            if before == since:
                self._people.restore(person.user)
            self._rows.set_inactive(person.id, None)
        else:
            # The same moment in both tables shows that the provider did it.
            self._rows.set_inactive(
                person.id, timestamp() if before else self._people.suspend(person.user).suspended_at
            )

    # -- groups --------------------------------------------------------------------------------------------------------

    def groups(self) -> list[ProvisionedGroup]:
        return self._rows.groups()

    def group(self, id_: str) -> ProvisionedGroup:
        """
        Raises:
            NotFound
        """
        return self._rows.group(id_)

    def put_group(
        self, id_: str | None, display_name: str, external_id: str | None, members: Sequence[str]
    ) -> ProvisionedGroup:
        """Create a group, or replace the existing one.

        Raises:
            InvalidInput: a group cannot have this name here.
            NotFound: there is no such group, or a member was not sent.
            Conflict: another group has this name.
        """
        if id_ is not None:
            self.group(id_)
        here = map_groups({unicodedata.normalize("NFC", display_name.strip())}, self._settings)
        if not here:
            raise InvalidInput(
                f"'{display_name}' cannot be the name of a group here: give it a name in the setting 'oidc_groups', "
                "as THEIRS=OURS."
            )
        self._require_audit()
        group = self.group(self._rows.put_group(id_, display_name, min(here), external_id, members))
        activity = "create" if id_ is None else "update"
        people = [user for _, user in group.members]
        about = (Resource("group", group.id, group.group_name),)
        self._record(Deed(ENTITY, activity, "scim", resources=about, road="scim", details={"members": people}))
        return group

    def remove_group(self, id_: str) -> None:
        """Remove a group of the provider.

        Raises:
            NotFound
        """
        self._require_audit()
        group = self.group(id_)
        self._rows.remove_group(id_)
        about = (Resource("group", group.id, group.group_name),)
        self._record(Deed(ENTITY, "delete", "scim", resources=about, road="scim"))
