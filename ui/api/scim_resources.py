"""People and groups as SCIM 2.0 resources (RFC 7643), with only the attributes that Argot keeps."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field
from scim2_models import (
    URN,
    AuthenticationScheme,
    Bulk,
    CaseExact,
    ChangePassword,
    ComplexAttribute,
    ETag,
    External,
    Filter,
    GroupMembership,
    Meta,
    Mutability,
    Patch,
    Reference,
    Required,
    Resource,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)

from argot.service.identity.provisioned import ProvisionedGroup, ProvisionedPerson

MAX_RESULTS = 200
TOLERANT_POLICY = ScimPolicy(
    # Providers also send telephone numbers and photographs.
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,  # as Microsoft Entra sends it
)


class ScimUser(Resource[Any]):
    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    user_name: Annotated[str | None, Uniqueness.server, Required.true, Mutability.immutable] = None
    """The name of the person in Argot. It never changes: documents and the glossary's history refer to it."""
    display_name: str | None = None
    active: bool | None = None
    groups: Annotated[list[GroupMembership] | None, Mutability.read_only] = None
    Groups: ClassVar[type[GroupMembership]] = GroupMembership


class ScimMember(ComplexAttribute):
    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = None
    """The id of a person."""
    ref: Annotated[Reference["User"] | None, Mutability.immutable] = Field(  # type: ignore[name-defined]  # noqa: F821, UP037
        None, serialization_alias="$ref", validation_alias="$ref"
    )


class ScimGroup(Resource[Any]):
    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    display_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    members: list[ScimMember] | None = None
    Members: ClassVar[type[ScimMember]] = ScimMember


PROVIDER = ScimProvider(
    models=[ScimUser, ScimGroup],
    policy=TOLERANT_POLICY,
    config=ServiceProviderConfig(
        documentation_uri=Reference[External]("https://www.rfc-editor.org/rfc/rfc7644"),
        patch=Patch(supported=True),
        bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
        filter=Filter(supported=True, max_results=MAX_RESULTS),
        change_password=ChangePassword(supported=False),
        sort=Sort(supported=False),
        etag=ETag(supported=False),
        authentication_schemes=[
            AuthenticationScheme(
                type=AuthenticationScheme.Type.oauthbearertoken,
                name="A key of an administrator",
                description="Authorization: Bearer argot_... (argot key add NAME)",
                primary=True,
            )
        ],
    ),
)


def make_scim_user(person: ProvisionedPerson, root: str) -> ScimUser:
    """Build the SCIM resource of a person.

    Args:
        root: the address of SCIM in this service.
    """
    return ScimUser(
        id=person.id,
        external_id=person.external_id,
        meta=_make_meta("User", f"{root}/Users/{person.id}", person.created_at, person.changed_at),
        user_name=person.user,
        display_name=person.display_name or None,
        active=person.inactive_at is None,
        groups=[
            GroupMembership(value=id_, display=name, ref=f"{root}/Groups/{id_}", type="direct")
            for id_, name in person.groups
        ]
        or None,
    )


def make_scim_group(group: ProvisionedGroup, root: str) -> ScimGroup:
    return ScimGroup(
        id=group.id,
        external_id=group.external_id,
        meta=_make_meta("Group", f"{root}/Groups/{group.id}", group.created_at, group.changed_at),
        display_name=group.display_name,
        members=[ScimMember(value=id_, ref=f"{root}/Users/{id_}") for id_, _ in group.members] or None,
    )


def _make_meta(kind: str, address: str, created: str, changed: str) -> Meta:
    return Meta.model_validate({"resourceType": kind, "created": created, "lastModified": changed, "location": address})
