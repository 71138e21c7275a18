"""Errors for programs: JSON in the form of OpenAI's API, everywhere except under SCIM's root.

`{"error": {"message", "type", "param", "code"}}`: the message for people, `type` and `code` for programs. Identity
providers get SCIM's form (RFC 7644, section 3.12).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

SCIM_ROOT = "/scim/v2"
SCIM_TYPE = "application/scim+json"

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "conflict_error",
    411: "invalid_request_error",
    413: "invalid_request_error",
    415: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
}
MAX_MESSAGE_CHARS = 1000
"""Characters of a message. It quotes the input, which need not be repeated whole."""
_SCIM_ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
ERROR_CODES = {401: "invalid_api_key", 413: "too_large", 429: "rate_limit_exceeded"}


def build_error_body(status: int, message: str, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    kind = ERROR_TYPES.get(status, "server_error")
    return {
        "error": {
            "message": _clean_message(message),
            "type": kind,
            "param": param,
            "code": code or ERROR_CODES.get(status),
        }
    }


def answer_program(
    status: int,
    message: str,
    *,
    path: str = "",
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Build the response to a program that asked at this path."""
    # HTTP requires this header in every 401 (RFC 9110, section 15.5.2).
    more = {"WWW-Authenticate": 'Bearer realm="Argot"'} if status == 401 else {}
    response_headers = {"Cache-Control": "no-store", **more, **(headers or {})}
    if f"{path}/".startswith(f"{SCIM_ROOT}/"):
        return answer_scim_error(status, message, headers=response_headers)
    return JSONResponse(build_error_body(status, message, code=code, param=param), status, headers=response_headers)


def answer_scim_error(
    status: int, message: str, kind: str | None = None, *, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Build an error in SCIM's form. `kind`: the protocol's own word for the fault (`scimType`)."""
    body = {"schemas": [_SCIM_ERROR], "status": str(status), "detail": _clean_message(message)}
    return JSONResponse(body | ({"scimType": kind} if kind else {}), status, headers=headers, media_type=SCIM_TYPE)


def _clean_message(message: str) -> str:
    if len(message) > MAX_MESSAGE_CHARS:
        # The remedy is at the end.
        message = f"{message[: MAX_MESSAGE_CHARS // 2]} [...] {message[-MAX_MESSAGE_CHARS // 2 :]}"
    return message.encode("utf-8", "replace").decode("utf-8")  # the input is repeated, lone surrogates included
