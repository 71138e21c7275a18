"""The resources that assistants may attach by MCP: documents, and terms of the glossary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from argot.ui.api.mcp_tools import ENTRY, LISTING, MAX_SHOWN_CHARS, AssistantTools
from argot.ui.rendering.term_text import format_entry

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP
    from mcp.types import ListResourcesResult, Resource

DOCUMENT_URI = "argot://documents/{document}"
TERM_URI = "argot://terms/{term}"
PAGE_SIZE = 50
_TERMS_FROM = "terms:"
"""The beginning of a cursor within the terms; that of one within the documents is the number of those before it."""
_NUMBER = re.compile("[0-9]{1,9}")
_MARKDOWN, _TEXT = "text/markdown", "text/plain"


def add_resources(server: FastMCP[None], tools: AssistantTools) -> None:
    """Let a server read and list the documents and terms that the person may read."""
    from mcp.types import ListResourcesRequest, ServerResult

    @server.resource(DOCUMENT_URI, mime_type=_MARKDOWN)
    async def document(document: str) -> str:
        """Read a document of the organisation as Markdown, by its id or name."""
        found = await tools.call("read_source", document=unquote(document))
        text = str(found["markdown"])
        cut = f"\n\n[{len(text) - MAX_SHOWN_CHARS} characters follow: read on with the tool open_document.]"
        return text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + cut

    @server.resource(TERM_URI, mime_type=_TEXT)
    async def term(term: str) -> str:
        """Read the meanings of a term of the organisation."""
        return format_entry(ENTRY.validate_python(await tools.call("term_show", term=unquote(term))))

    async def list_resources(request: ListResourcesRequest) -> ServerResult:
        cursor = request.params.cursor if request.params else None
        return ServerResult(await list_page(tools, cursor or "0"))

    # FastMCP lists resources of its own only, all at once, and the same for every person.
    server._mcp_server.request_handlers[ListResourcesRequest] = list_resources


async def list_page(tools: AssistantTools, cursor: str) -> ListResourcesResult:
    """List a page of the resources: first documents by name, then terms from A to Z.

    Raises:
        McpError: no page has given this cursor.
    """
    from mcp.shared.exceptions import McpError
    from mcp.types import INVALID_PARAMS, ErrorData, ListResourcesResult

    if cursor.startswith(_TERMS_FROM):
        return await _list_terms(tools, cursor.removeprefix(_TERMS_FROM))
    if not _NUMBER.fullmatch(cursor):
        raise McpError(ErrorData(code=INVALID_PARAMS, message=f"Invalid cursor '{cursor[:100]}'. Leave it out."))
    start = int(cursor)
    found = await tools.call("document_find", start=start, limit=PAGE_SIZE)
    end = start + PAGE_SIZE
    shown = [_describe_document(one) for one in found["documents"]]
    return ListResourcesResult(resources=shown, nextCursor=str(end) if end < found["found"] else _TERMS_FROM)


async def _list_terms(tools: AssistantTools, after: str) -> ListResourcesResult:
    from mcp.types import ListResourcesResult

    found = LISTING.validate_python(await tools.call("terms_list", after=after, limit=PAGE_SIZE))
    shown = [_make_resource(TERM_URI.format(term=quote(one.term, safe="")), one.term, _TEXT) for one in found.terms]
    return ListResourcesResult(resources=shown, nextCursor=f"{_TERMS_FROM}{found.next}" if found.next else None)


def _describe_document(document: dict[str, Any]) -> Resource:
    uri = DOCUMENT_URI.format(document=quote(document["id"], safe=""))
    return _make_resource(uri, document["name"], _MARKDOWN, document["title"])


def _make_resource(uri: str, name: str, kind: str, title: str = "") -> Resource:
    from mcp.types import Resource

    return Resource.model_validate({"uri": uri, "name": name, "title": title or name, "mimeType": kind})
