"""`/scim/v2`: where an identity provider sends people and groups by SCIM 2.0 (RFC 7644), with an administrator's key.

What is not supported (bulk, sorting, ETags, changing passwords) is said at `/scim/v2/ServiceProviderConfig`.
"""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound, install_command
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.provisioning import Provisioning
from argot.ui.api.api_route import ApiRoute, takes
from argot.ui.api.scim_body import read_body, with_truth
from argot.ui.web.authorization import Who, needs

if TYPE_CHECKING:
    from scim2_models import Resource

    from argot.ui.api.scim_resources import ScimGroup, ScimUser

ROOT = "/scim/v2"
SCIM = "application/scim+json"
MOST_BYTES = 8 * 2**20
"""Of a body: a group has as many members as a company has people."""
MOST_FILTER = 10_000
"""Characters of a filter, which every resource is held against."""
_STATUS: dict[type[ArgotError], tuple[int, str | None]] = {
    NotFound: (404, None),
    Conflict: (409, "uniqueness"),
    InvalidInput: (400, "invalidValue"),
    NotAllowed: (403, None),
}


def scim_routes(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter(prefix=ROOT, route_class=ApiRoute, include_in_schema=False)
    changing = threading.Lock()

    async def answered(request: Request, who: Who, work: Callable[[ScimExchange], Response]) -> Response:
        if importlib.util.find_spec("scim2_models") is None:
            return _refused(501, f"SCIM is not installed. Install it with: {install_command('sso')}")
        try:
            sent = read_body(await request.body() or b"{}")
        except (ValueError, RecursionError):
            return _refused(400, "The body is no JSON that can be read here.", "invalidSyntax")
        rows = Provisioning(kb, who.principal)
        root = f"{kb.settings.public_url or str(request.base_url)}".rstrip("/") + ROOT
        exchange = ScimExchange(rows, root, sent, dict(request.query_params))

        def allowed(one: ScimExchange) -> Response:
            rows.require_in()
            return work(one)

        def changed() -> Response:
            # A resource is read, changed and written again: of two requests at once, one would be lost.
            with changing:
                return _done(exchange, allowed)

        reads = request.method == "GET" or request.url.path.endswith("/.search")
        return await kb.blocking((lambda: _done(exchange, work)) if reads else changed)

    @router.get("/Users")
    @needs("admin", program=True)
    async def users(request: Request, who: Who) -> Response:
        return await answered(request, who, ScimExchange.users)

    @router.post("/Users")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def make_user(request: Request, who: Who) -> Response:
        return await answered(request, who, ScimExchange.make_user)

    @router.get("/Users/{id_}")
    @needs("admin", program=True)
    async def user(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.user(id_))

    @router.put("/Users/{id_}")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def replace_user(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.replace_user(id_))

    @router.patch("/Users/{id_}")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def patch_user(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.patch_user(id_))

    @router.delete("/Users/{id_}")
    @needs("admin", program=True)
    async def remove_user(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.remove(exchange.rows.remove_person, id_))

    @router.get("/Groups")
    @needs("admin", program=True)
    async def groups(request: Request, who: Who) -> Response:
        return await answered(request, who, ScimExchange.groups)

    @router.post("/Groups")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def make_group(request: Request, who: Who) -> Response:
        return await answered(request, who, ScimExchange.make_group)

    @router.get("/Groups/{id_}")
    @needs("admin", program=True)
    async def group(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.group(id_))

    @router.put("/Groups/{id_}")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def replace_group(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.replace_group(id_))

    @router.patch("/Groups/{id_}")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def patch_group(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.patch_group(id_))

    @router.delete("/Groups/{id_}")
    @needs("admin", program=True)
    async def remove_group(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.remove(exchange.rows.remove_group, id_))

    @router.post("/Users/.search")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def search_users(request: Request, who: Who) -> Response:
        return await answered(request, who, lambda exchange: exchange.users(exchange.sent))

    @router.post("/Groups/.search")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def search_groups(request: Request, who: Who) -> Response:
        return await answered(request, who, lambda exchange: exchange.groups(exchange.sent))

    for name in ("ServiceProviderConfig", "ResourceTypes", "Schemas"):
        _describe(router, name, answered)

    @router.post("/.search")
    @needs("admin", program=True)
    @takes(SCIM, MOST_BYTES)
    async def search(request: Request, who: Who) -> Response:
        return await answered(request, who, ScimExchange.everything)

    @router.get("/{rest:path}")
    @needs("admin", program=True)
    async def nothing(rest: str) -> Response:
        return _refused(404, f"There is nothing at '{rest:.200}'.")

    return router


def _describe(router: APIRouter, name: str, answered: Callable[..., Any]) -> None:
    """The addresses at which a provider reads what there is."""

    async def described(request: Request, who: Who) -> Response:
        return await answered(request, who, lambda exchange: exchange.description(name))  # type: ignore[no-any-return]

    async def one(request: Request, who: Who, id_: str) -> Response:
        return await answered(request, who, lambda exchange: exchange.description(name, id_))  # type: ignore[no-any-return]

    router.get(f"/{name}")(needs("admin", program=True)(described))
    if name != "ServiceProviderConfig":
        router.get(f"/{name}/{{id_}}")(needs("admin", program=True)(one))


class ScimExchange:
    """One request: `sent` is its body, `query` its parameters, `root` the address of SCIM here."""

    def __init__(self, rows: Provisioning, root: str, sent: Any, query: dict[str, str]) -> None:
        self.rows, self._root, self.sent, self._query = rows, root, sent, query

    # -- people --------------------------------------------------------------------------------------------------------

    def users(self, asked: Any = None) -> Response:
        from argot.ui.api.scim_resources import ScimUser, scim_user

        return self._listed([scim_user(one, self._root) for one in self.rows.people()], ScimUser, asked)

    def user(self, id_: str) -> Response:
        return self._shown(self._user(id_))

    def make_user(self) -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import ScimUser, scim_user

        given = ScimUser.model_validate(self.sent, scim_ctx=Context.RESOURCE_CREATION_REQUEST)
        made = self.rows.make_person(
            given.user_name or "", given.external_id, _named(given), active=given.active is not False
        )
        return self._shown(scim_user(made, self._root), 201)

    def replace_user(self, id_: str) -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import ScimUser

        given = ScimUser.model_validate(self.sent, scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
        now = self._user(id_)
        given.replace(now)
        if given.active is None:  # what is left out lets nobody in again
            given.active = now.active
        return self._changed_user(id_, given)

    def patch_user(self, id_: str) -> Response:
        from scim2_models import Context, PatchOp

        from argot.ui.api.scim_resources import ScimUser

        user = self._user(id_)
        PatchOp[ScimUser].model_validate(with_truth(self.sent), scim_ctx=Context.RESOURCE_PATCH_REQUEST).patch(user)
        return self._changed_user(id_, user)

    def _user(self, id_: str) -> ScimUser:
        from argot.ui.api.scim_resources import scim_user

        return scim_user(self.rows.person(id_), self._root)

    def _changed_user(self, id_: str, given: ScimUser) -> Response:
        from argot.ui.api.scim_resources import scim_user

        changed = self.rows.change_person(
            id_, given.user_name or "", given.external_id, _named(given), active=given.active is not False
        )
        return self._shown(scim_user(changed, self._root))

    # -- groups --------------------------------------------------------------------------------------------------------

    def groups(self, asked: Any = None) -> Response:
        from argot.ui.api.scim_resources import ScimGroup, scim_group

        return self._listed([scim_group(one, self._root) for one in self.rows.groups()], ScimGroup, asked)

    def group(self, id_: str) -> Response:
        return self._shown(self._group(id_))

    def make_group(self) -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import ScimGroup

        given = ScimGroup.model_validate(self.sent, scim_ctx=Context.RESOURCE_CREATION_REQUEST)
        return self._put_group(None, given, 201)

    def replace_group(self, id_: str) -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import ScimGroup

        given = ScimGroup.model_validate(self.sent, scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
        given.replace(self._group(id_))
        return self._put_group(id_, given)

    def patch_group(self, id_: str) -> Response:
        from scim2_models import Context, PatchOp

        from argot.ui.api.scim_resources import ScimGroup

        group = self._group(id_)
        PatchOp[ScimGroup].model_validate(with_truth(self.sent), scim_ctx=Context.RESOURCE_PATCH_REQUEST).patch(group)
        return self._put_group(id_, group)

    def _group(self, id_: str) -> ScimGroup:
        from argot.ui.api.scim_resources import scim_group

        return scim_group(self.rows.group(id_), self._root)

    def _put_group(self, id_: str | None, given: ScimGroup, status: int = 200) -> Response:
        from argot.ui.api.scim_resources import scim_group

        members = [one.value for one in given.members or () if one.value]
        put = self.rows.put_group(id_, given.display_name or "", given.external_id, members)
        return self._shown(scim_group(put, self._root), status)

    # -- both ----------------------------------------------------------------------------------------------------------

    def everything(self) -> Response:
        from argot.ui.api.scim_resources import ScimGroup, ScimUser, scim_group, scim_user

        people = [scim_user(one, self._root) for one in self.rows.people()]
        groups = [scim_group(one, self._root) for one in self.rows.groups()]
        return self._listed([*people, *groups], ScimUser | ScimGroup, self.sent)

    def remove(self, remove: Callable[[str], None], id_: str) -> Response:
        remove(id_)
        return Response(status_code=204)

    def description(self, name: str, id_: str = "") -> Response:
        from scim2_models import Context

        from argot.ui.api.scim_resources import PROVIDER

        if name == "ServiceProviderConfig":
            assert PROVIDER.config is not None
            return self._shown(PROVIDER.config)
        found: Sequence[Any] = PROVIDER.resource_types if name == "ResourceTypes" else PROVIDER.schemas
        if not id_:
            return self._page(found, len(found), 1)
        one = next((one for one in found if id_ in (one.id, getattr(one, "name", None))), None)
        if one is None:
            raise NotFound(f"There is nothing of the name '{id_}'.")
        return _json(one.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE))

    def _shown(self, resource: Resource[Any], status: int = 200) -> Response:
        from scim2_models import Context, ResponseParameters

        asked = ResponseParameters[type(resource)].model_validate(self._query)  # type: ignore[misc]
        context = Context.RESOURCE_CREATION_RESPONSE if status == 201 else Context.RESOURCE_QUERY_RESPONSE
        told = resource.model_dump(scim_ctx=context, response_parameters=asked)
        place = told.get("meta", {}).get("location", "")
        return _json(told, status, {"Location": place} if place else None)

    def _listed(self, resources: Sequence[Any], kind: Any, search: Any) -> Response:
        from scim2_models import Context, SearchRequest

        from argot.ui.api.scim_resources import MOST_RESULTS

        given = self._query if search is None else search
        if isinstance(given, dict) and len(str(given.get("filter", ""))) > MOST_FILTER:
            return _refused(400, f"A filter may have {MOST_FILTER:,} characters at most.", "tooMany")
        asked = SearchRequest[kind].model_validate(given, scim_ctx=Context.SEARCH_REQUEST)
        found = [one for one in resources if asked.filter is None or asked.filter.match(one)]
        first = asked.start_index_0 or 0
        count = MOST_RESULTS if asked.count is None else min(asked.count, MOST_RESULTS)
        return self._page(found[first : first + count], len(found), first + 1, asked)

    def _page(self, shown: Sequence[Any], total: int, first: int, asked: Any = None) -> Response:
        from scim2_models import Context

        context = Context.RESOURCE_QUERY_RESPONSE
        told = {
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": total,
            "startIndex": first,
            "itemsPerPage": len(shown),
            "Resources": [one.model_dump(scim_ctx=context, response_parameters=asked) for one in shown],
        }
        return _json(told)


def _done(exchange: ScimExchange, work: Callable[[ScimExchange], Response]) -> Response:
    from scim2_models import Error, SCIMException

    from argot.ui.api.scim_resources import TOLERANT

    try:
        with TOLERANT:
            return work(exchange)
    except ValidationError as error:
        first = Error.from_validation_errors(error)[0]
        return _refused(int(first.status or 400), first.detail or "", first.scim_type)
    except SCIMException as error:
        told = error.to_error()
        return _refused(int(told.status or 400), told.detail or "", told.scim_type)
    except tuple(_STATUS) as error:
        status, kind = next(said for one, said in _STATUS.items() if isinstance(error, one))
        return _refused(status, str(error), kind)


def _named(given: ScimUser) -> str:
    return " ".join((given.display_name or "").split())[:100]


def _refused(status: int, detail: str, kind: str | None = None) -> Response:
    told = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"], "status": str(status), "detail": detail}
    return _json(told | ({"scimType": kind} if kind else {}), status)


def _json(told: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    return Response(text, status, media_type=SCIM, headers={"Cache-Control": "no-store", **(headers or {})})
