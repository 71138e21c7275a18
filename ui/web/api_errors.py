"""What programs are told when something goes wrong: JSON in the form of OpenAI's API, everywhere alike.

`{"error": {"message", "type", "param", "code"}}`: the message for people, `type` and `code` for programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

TYPES = {
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
LONGEST = 1000
"""Characters of a message. It quotes what was given, which need not come back whole."""
CODES = {401: "invalid_api_key", 413: "too_large", 429: "rate_limit_exceeded"}


def error_body(status: int, message: str, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    kind = TYPES.get(status, "server_error")
    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} [...] {message[-LONGEST // 2 :]}"  # the remedy stands at its end
    sayable = message.encode("utf-8", "replace").decode("utf-8")  # what was given is repeated, lone surrogates too
    return {"error": {"message": sayable, "type": kind, "param": param, "code": code or CODES.get(status)}}


def told_to_programs(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    # HTTP asks for this header in every 401 (RFC 9110, section 15.5.2).
    more = {"WWW-Authenticate": 'Bearer realm="Argot"'} if status == 401 else {}
    body = error_body(status, message, code=code, param=param)
    return JSONResponse(body, status, headers={"Cache-Control": "no-store", **more, **(headers or {})})
