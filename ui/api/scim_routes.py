"""`/scim/v2`: an identity provider sends people and groups here by SCIM 2.0 (RFC 7644), with an administrator's key.

`/scim/v2/ServiceProviderConfig` names what is not supported: bulk, sorting, ETags, changing passwords.
"""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound, install_command
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.provisioning import Provisioning
from argot.ui.api.api_route import ApiRoute, limit_body
from argot.ui.api.scim_body import convert_booleans, read_body
from argot.ui.web.api_errors import SCIM_ROOT, SCIM_TYPE, answer_scim_error
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router

if TYPE_CHECKING:
    from scim2_models import Resource

    from argot.ui.api.scim_resources import ScimGroup, ScimUser

MAX_BODY_BYTES = 8 * 2**20
"""Bytes of a body: a group may have as many members as a company has people."""
MAX_FILTER_CHARS = 10_000
"""Characters of a filter, which is applied to every resource."""
_STATUS: dict[type[ArgotError], tuple[int, str | None]] = {
    NotFound: (404, None),
    Conflict: (409, "uniqueness"),
    InvalidInput: (400, "invalidValue"),
    NotAllowed: (403, None),
}


def build_scim_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=SCIM_ROOT, route_class=ApiRoute, include_in_schema=False)
    changing = threading.Lock()

    async def answer(request: Request, who: Who, work: Callable[[ScimExchange], Response]) -> Response:
        if importlib.util.find_spec("scim2_models") is None:
            return _refuse(501, f"SCIM is not installed. Install it with: {install_command('sso')}")
        try:
            sent = read_body(await request.body() or b"{}")
        except (ValueError, RecursionError):
            return _refuse(400, "The body is not valid JSON.", "invalidSyntax")
        rows = Provisioning(kb, who.principal)
        root = f"{kb.settings.web.public_url or str(request.base_url)}".rstrip("/") + SCIM_ROOT
        exchange = ScimExchange(rows, root, sent, dict(request.query_params))

        def work_if_allowed(one: ScimExchange) -> Response:
            rows.require_in()
            return work(one)

        def change_alone() -> Response:
            # A resource is read, changed and written back: of two simultaneous changes one would be lost.
            with changing:
                return _run_exchange(exchange, work_if_allowed)

        reads = request.method == "GET" or request.url.path.endswith("/.search")
        return await kb.blocking((lambda: _run_exchange(exchange, work)) if reads else change_alone)

    for method, path, work in _ADDRESSES:
        _serve(router, method, path, answer, work)
    return router


def _serve(router: APIRouter, method: str, path: str, answer: Callable[..., Any], work: Work) -> None:
    @needs("admin", program=True)
    @limit_body(SCIM_TYPE, MAX_BODY_BYTES)
    async def endpoint(request: Request, who: Who) -> Response:
        named = next(iter(request.path_params.values()), "")
        return await answer(request, who, lambda exchange: work(exchange, named))  # type: ignore[no-any-return]

    router.add_api_route(path, endpoint, methods=[method])


class ScimExchange:
    """One request: `sent` is its body, `query` its parameters, and `root` the address of SCIM in this service."""

    def __init__(self, rows: Provisioning, root: str, sent: Any, query: dict[str, str]) -> None:
        self.rows, self._root, self.sent, self._query = rows, root, sent, query

    # -- people --------------------------------------------------------------------------------------------------------

    def list_users(self, asked: Any = None) -> Response:
        from argot.ui.api.scim_resources import ScimUser, make_scim_user

        return self._send_list([make_scim_user(one, self._root) for one in self.rows.people()], ScimUser, asked)

    def get_user(self, id_: str) -> Response:
        return self._send_resource(self._load_user(id_))

    def make_user(self) -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import ScimUser, make_scim_user

        scim_user = ScimUser.model_validate(self.sent, scim_ctx=Context.RESOURCE_CREATION_REQUEST)
        made = self.rows.make_person(
            scim_user.user_name or "",
            scim_user.external_id,
            _get_user_name(scim_user),
            active=scim_user.active is not False,
        )
        return self._send_resource(make_scim_user(made, self._root), 201)

    def replace_user(self, id_: str) -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import ScimUser

        scim_user = ScimUser.model_validate(self.sent, scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
        now = self._load_user(id_)
        scim_user.replace(now)
        if scim_user.active is None:  # a person who is suspended stays so where the request does not say
            scim_user.active = now.active
        return self._change_user(id_, scim_user)

    def patch_user(self, id_: str) -> Response:
        from scim2_models import Context, PatchOp

        from argot.ui.api.scim_resources import ScimUser

        user = self._load_user(id_)
        PatchOp[ScimUser].model_validate(convert_booleans(self.sent), scim_ctx=Context.RESOURCE_PATCH_REQUEST).patch(
            user
        )
        return self._change_user(id_, user)

    def _load_user(self, id_: str) -> ScimUser:
        from argot.ui.api.scim_resources import make_scim_user

        return make_scim_user(self.rows.person(id_), self._root)

    def _change_user(self, id_: str, scim_user: ScimUser) -> Response:
        from argot.ui.api.scim_resources import make_scim_user

        changed = self.rows.change_person(
            id_,
            scim_user.user_name or "",
            scim_user.external_id,
            _get_user_name(scim_user),
            active=scim_user.active is not False,
        )
        return self._send_resource(make_scim_user(changed, self._root))

    def remove_user(self, id_: str) -> Response:
        self.rows.remove_person(id_)
        return Response(status_code=204)

    # -- groups --------------------------------------------------------------------------------------------------------

    def list_groups(self, asked: Any = None) -> Response:
        from argot.ui.api.scim_resources import ScimGroup, make_scim_group

        return self._send_list([make_scim_group(one, self._root) for one in self.rows.groups()], ScimGroup, asked)

    def get_group(self, id_: str) -> Response:
        return self._send_resource(self._load_group(id_))

    def make_group(self) -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import ScimGroup

        scim_group = ScimGroup.model_validate(self.sent, scim_ctx=Context.RESOURCE_CREATION_REQUEST)
        return self._put_group(None, scim_group, 201)

    def replace_group(self, id_: str) -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import ScimGroup

        scim_group = ScimGroup.model_validate(self.sent, scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
        scim_group.replace(self._load_group(id_))
        return self._put_group(id_, scim_group)

    def patch_group(self, id_: str) -> Response:
        from scim2_models import Context, PatchOp

        from argot.ui.api.scim_resources import ScimGroup

        group = self._load_group(id_)
        PatchOp[ScimGroup].model_validate(convert_booleans(self.sent), scim_ctx=Context.RESOURCE_PATCH_REQUEST).patch(
            group
        )
        return self._put_group(id_, group)

    def _load_group(self, id_: str) -> ScimGroup:
        from argot.ui.api.scim_resources import make_scim_group

        return make_scim_group(self.rows.group(id_), self._root)

    def _put_group(self, id_: str | None, scim_group: ScimGroup, status: int = 200) -> Response:
        from argot.ui.api.scim_resources import make_scim_group

        members = [one.value for one in scim_group.members or () if one.value]
        put = self.rows.put_group(id_, scim_group.display_name or "", scim_group.external_id, members)
        return self._send_resource(make_scim_group(put, self._root), status)

    def remove_group(self, id_: str) -> Response:
        self.rows.remove_group(id_)
        return Response(status_code=204)

    # -- both ----------------------------------------------------------------------------------------------------------

    def search_everything(self) -> Response:
        from argot.ui.api.scim_resources import ScimGroup, ScimUser, make_scim_group, make_scim_user

        people = [make_scim_user(one, self._root) for one in self.rows.people()]
        groups = [make_scim_group(one, self._root) for one in self.rows.groups()]
        return self._send_list([*people, *groups], ScimUser | ScimGroup, self.sent)

    def describe_configuration(self) -> Response:
        from argot.ui.api.scim_resources import PROVIDER

        assert PROVIDER.config is not None
        return self._send_resource(PROVIDER.config)

    def describe(self, name: Literal["ResourceTypes", "Schemas"], id_: str = "") -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import PROVIDER

        found: Sequence[Any] = PROVIDER.resource_types if name == "ResourceTypes" else PROVIDER.schemas
        if not id_:
            return self._send_page(found, len(found), 1)
        one = next((one for one in found if id_ in (one.id, getattr(one, "name", None))), None)
        if one is None:
            raise NotFound(f"There is no resource type or schema '{id_}'.")
        return _send_json(one.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE))

    def _send_resource(self, resource: Resource[Any], status: int = 200) -> Response:
        from scim2_models import Context, ResponseParameters

        asked = ResponseParameters[type(resource)].model_validate(self._query)  # type: ignore[misc]
        context = Context.RESOURCE_CREATION_RESPONSE if status == 201 else Context.RESOURCE_QUERY_RESPONSE
        body = resource.model_dump(scim_ctx=context, response_parameters=asked)
        place = body.get("meta", {}).get("location", "")
        return _send_json(body, status, {"Location": place} if place else None)

    def _send_list(self, resources: Sequence[Any], kind: Any, search: Any) -> Response:
        from scim2_models import Context, SearchRequest

        from argot.ui.api.scim_resources import MAX_RESULTS

        query = self._query if search is None else search
        if isinstance(query, dict) and len(str(query.get("filter", ""))) > MAX_FILTER_CHARS:
            return _refuse(400, f"A filter may have {MAX_FILTER_CHARS:,} characters at most.", "tooMany")
        asked = SearchRequest[kind].model_validate(query, scim_ctx=Context.SEARCH_REQUEST)
        found = [one for one in resources if asked.filter is None or asked.filter.match(one)]
        first = asked.start_index_0 or 0
        count = MAX_RESULTS if asked.count is None else min(asked.count, MAX_RESULTS)
        return self._send_page(found[first : first + count], len(found), first + 1, asked)

    def _send_page(self, shown: Sequence[Any], total: int, first: int, asked: Any = None) -> Response:
        from scim2_models import Context

        context = Context.RESOURCE_QUERY_RESPONSE
        body = {
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": total,
            "startIndex": first,
            "itemsPerPage": len(shown),
            "Resources": [one.model_dump(scim_ctx=context, response_parameters=asked) for one in shown],
        }
        return _send_json(body)


Work: TypeAlias = Callable[[ScimExchange, str], Response]
"""The work of an address, given the exchange and the id or name in the path."""
_ADDRESSES: Sequence[tuple[str, str, Work]] = (
    ("GET", "/Users", lambda exchange, _: exchange.list_users()),
    ("POST", "/Users", lambda exchange, _: exchange.make_user()),
    ("GET", "/Users/{id_}", ScimExchange.get_user),
    ("PUT", "/Users/{id_}", ScimExchange.replace_user),
    ("PATCH", "/Users/{id_}", ScimExchange.patch_user),
    ("DELETE", "/Users/{id_}", ScimExchange.remove_user),
    ("GET", "/Groups", lambda exchange, _: exchange.list_groups()),
    ("POST", "/Groups", lambda exchange, _: exchange.make_group()),
    ("GET", "/Groups/{id_}", ScimExchange.get_group),
    ("PUT", "/Groups/{id_}", ScimExchange.replace_group),
    ("PATCH", "/Groups/{id_}", ScimExchange.patch_group),
    ("DELETE", "/Groups/{id_}", ScimExchange.remove_group),
    ("POST", "/Users/.search", lambda exchange, _: exchange.list_users(exchange.sent)),
    ("POST", "/Groups/.search", lambda exchange, _: exchange.list_groups(exchange.sent)),
    ("POST", "/.search", lambda exchange, _: exchange.search_everything()),
    ("GET", "/ServiceProviderConfig", lambda exchange, _: exchange.describe_configuration()),
    ("GET", "/ResourceTypes", lambda exchange, _: exchange.describe("ResourceTypes")),
    ("GET", "/ResourceTypes/{id_}", lambda exchange, id_: exchange.describe("ResourceTypes", id_)),
    ("GET", "/Schemas", lambda exchange, _: exchange.describe("Schemas")),
    ("GET", "/Schemas/{id_}", lambda exchange, id_: exchange.describe("Schemas", id_)),
    # Last, for every other path.
    ("GET", "/{rest:path}", lambda _, rest: _refuse(404, f"There is nothing at '{rest:.200}'.")),
)


def _run_exchange(exchange: ScimExchange, work: Callable[[ScimExchange], Response]) -> Response:
    from scim2_models import Error, SCIMException

    from argot.ui.api.scim_resources import TOLERANT_POLICY

    try:
        with TOLERANT_POLICY:
            return work(exchange)
    except ValidationError as error:
        first = Error.from_validation_errors(error)[0]
        return _refuse(int(first.status or 400), first.detail or "", first.scim_type)
    except SCIMException as error:
        body = error.to_error()
        return _refuse(int(body.status or 400), body.detail or "", body.scim_type)
    except tuple(_STATUS) as error:
        status, kind = next(code for one, code in _STATUS.items() if isinstance(error, one))
        return _refuse(status, str(error), kind)


def _get_user_name(scim_user: ScimUser) -> str:
    return " ".join((scim_user.display_name or "").split())[:100]


def _refuse(status: int, detail: str, kind: str | None = None) -> Response:
    return answer_scim_error(status, detail, kind, headers={"Cache-Control": "no-store"})


def _send_json(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(text, status, media_type=SCIM_TYPE, headers={"Cache-Control": "no-store", **(headers or {})})
