"""The OpenAPI document: the parameters, results and statuses of each address, in our own words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.routing import APIRoute
from pydantic import BaseModel

from argot import __version__

ERROR_DESCRIPTIONS = {
    400: "Invalid request; the message says why.",
    401: "No key, or one that is not valid.",
    403: "Your role does not allow it.",
    404: "Not found, or not visible to you (not distinguished).",
    409: "It has changed meanwhile, or conflicts with something else.",
    413: "Too large.",
    415: "The wrong kind of content.",
    422: "A parameter is missing, unknown or of the wrong kind.",
    429: "Too many questions; the header Retry-After says when to try again.",
    503: "The service is busy or stopping, or a store or the language model is not available.",
}
DESCRIPTION = """Ask questions of an organisation's documents, and manage its glossary.

Every request carries a key (`Authorization: Bearer argot_...`). It acts for its owner: answers,
documents, terms and conversations are those that this person may see. Make one with `argot key add NAME`, or on
`/account`.
"""
TAGS = [
    {"name": "OpenAI-compatible", "description": "For programs that know OpenAI's API."},
    {"name": "Asking", "description": "Questions, and what Argot asks back."},
    {"name": "Conversations", "description": "Your own threads."},
    {"name": "Documents", "description": "Managers of all contexts add and remove documents."},
    {"name": "Learning", "description": "Managers of everything train models, and adopt those that measure better."},
    {"name": "Glossary", "description": "Managers change the terms of their contexts."},
]


_SCHEMA_PATH = "#/components/schemas/{model}"
# Their schemas remain when the responses that refer to them are removed.
FASTAPI_SCHEMAS = ("HTTPValidationError", "ValidationError")
"""FastAPI's own error schemas, which our errors do not use."""
MAX_SUMMARY_CHARS = 100
RETRY_HEADERS = {"Retry-After": {"description": "Seconds; not with every error.", "schema": {"type": "integer"}}}
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "/v1/chat/completions": {
        "model": "argot",
        "messages": [{"role": "user", "content": "What is our PUC?"}],
        "stream": False,
    },
    "/v1/responses": {"model": "argot", "input": "What is our PUC?", "stream": False},
    "/v1/embeddings": {"model": "argot-embedder", "input": ["valve", "pump"]},
    "/api/ask": {"question": "What is our PUC?"},
    "/api/answer": {"thread": "t0123456789abcdef", "choice": "2"},
    "/api/search": {"query": "How much die area does PUC save?", "limit": 5},
    "/api/glossary/senses": {"term": "PUC", "context": "NAND design", "expansion": "peripheral under cell"},
}
"""Example bodies of POST, for the addresses that people try first."""


class ErrorBody(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class Error(BaseModel):
    """An error in the form of OpenAI's API."""

    error: ErrorBody


def declare_errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare the error responses of an address."""
    # By reference: with the model itself FastAPI would build a validator for each of a thousand responses.
    return {
        status: {
            "content": {"application/json": {"schema": {"$ref": _SCHEMA_PATH.format(model=Error.__name__)}}},
            "description": ERROR_DESCRIPTIONS[status],
            **({"headers": RETRY_HEADERS} if status in (429, 503) else {}),
        }
        for status in statuses
    }


def build_document(routes: Sequence[Any]) -> dict[str, Any]:
    """Build the OpenAPI document of these routes."""
    from fastapi.openapi.utils import get_openapi

    found = get_openapi(
        title="Argot", version=__version__, description=DESCRIPTION, routes=routes, tags=TAGS,
        summary="Answers with citations, in the organisation's own language",
    )  # fmt: skip
    parts = found.setdefault("components", {})
    _add_error_schemas(parts.setdefault("schemas", {}))
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "A key: argot_..."}}
    found["security"] = [{"key": []}]
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            _summarize(operation)
            if method == "post" and path in EXAMPLES:
                operation["requestBody"]["content"]["application/json"]["example"] = EXAMPLES[path]
    for name in FASTAPI_SCHEMAS:
        parts["schemas"].pop(name, None)
    return found


def _add_error_schemas(schemas: dict[str, Any]) -> None:
    error = Error.model_json_schema(ref_template=_SCHEMA_PATH)
    for name, schema in {**error.pop("$defs"), Error.__name__: error}.items():
        schemas.setdefault(name, schema)


def _summarize(operation: dict[str, Any]) -> None:
    # The summary is the first sentence of the description: FastAPI would derive one from the function's name.
    first = re.split(r"(?<=\w)[.:;](?=\s|$)", " ".join(operation["description"].split()), maxsplit=1)[0]
    if len(first) > MAX_SUMMARY_CHARS:
        first = f"{first[:MAX_SUMMARY_CHARS].rsplit(' ', 1)[0]} ..."
    operation["summary"] = first
    # FastAPI adds its own 422 to every address with parameters, unless one is declared.
    own = operation["responses"].get("422", {})
    if any(name in str(own.get("content")) for name in FASTAPI_SCHEMAS):
        del operation["responses"]["422"]


def get_operation_id(route: APIRoute) -> str:
    """Return the operation's id, which client generators turn into a function name."""
    return route.name
