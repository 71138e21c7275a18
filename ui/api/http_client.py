"""A client for a running service, over HTTP with a key, for programs of this repository on another machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from argot import errors
from argot.errors import ArgotError, InvalidInput, InvalidSettings, NotAllowed, NotFound
from argot.shown_addresses import hide_secrets

if TYPE_CHECKING:
    import httpx

REQUEST_SECONDS = 120.0
"""The timeout of a request."""
_ADDRESSES = {
    "converse": ("POST", "/v1/chat/completions"),
    "search": ("POST", "/api/search"),
    "term_show": ("GET", "/api/terms/entry"),
    "terms_list": ("GET", "/api/terms"),
    "term_suggest": ("POST", "/api/glossary/suggestions"),
    "document_find": ("GET", "/api/library"),
    "document_text": ("GET", "/api/documents/{document}/text"),
    "read_source": ("GET", "/api/documents/{document}/markdown"),
}
_ERRORS: Mapping[int, type[ArgotError]] = {
    400: InvalidInput,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: errors.Conflict,
    413: InvalidInput,
    422: InvalidInput,
}


class RemoteClient:
    """A client that runs the few use cases that other programs need.

    Args:
        url: where the service is, as https://argot.example.com.
        key: as `argot key add` printed it.
        agent: the name of this program, for the header User-Agent.
        transport, async_transport: replace the network in tests.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        agent: str = "argot",
        transport: httpx.BaseTransport | None = None,
        async_transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidSettings(
                f"Invalid service address '{hide_secrets(url)}'. Use one such as https://argot.example.com."
            )
        # A header allows nothing else; at a line feed httpx would raise an error that shows the key.
        if not key.isascii() or not key.isprintable() or not key:
            raise InvalidSettings("There is no key for the service. Make one there with: argot key add NAME")
        self.url = url.rstrip("/")
        self._shown = hide_secrets(self.url)
        self._key = key
        self._agent = agent
        self._transport, self._async_transport = transport, async_transport

    def call(self, case: str, /, **parameters: Any) -> Any:
        """Run a use case and return its result.

        Raises:
            ArgotError: the service refused the request or does not answer.
        """
        import httpx

        with httpx.Client(transport=self._transport, **self._options()) as client:
            return self._read_response(self._send(lambda: client.request(**self._request(case, parameters))))

    async def acall(self, case: str, /, **parameters: Any) -> Any:
        """Do the same as `call`, without blocking the event loop."""
        import httpx

        async with httpx.AsyncClient(transport=self._async_transport, **self._options()) as client:
            try:
                answer = await client.request(**self._request(case, parameters))
            except httpx.HTTPError as error:
                raise self._describe_failure(error) from error
            return self._read_response(answer)

    def close(self) -> None:
        """Do nothing: no connection is kept between calls."""

    def _options(self) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._key}", "User-Agent": self._agent}
        # `trust_env`: a proxy named in the environment would see the key, and a .netrc could replace it.
        return {"headers": headers, "timeout": REQUEST_SECONDS, "trust_env": False}

    def _request(self, case: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        method, path = _ADDRESSES[case]
        given_values = {name: value for name, value in parameters.items() if value is not None}
        if "{document}" in path:
            path = path.format(document=quote(given_values.pop("document"), safe=""))
        # Over HTTP `converse` is OpenAI's chat completions; parameters unknown to OpenAI go under `argot`.
        if case == "converse":
            given_values = {"model": "argot", "messages": given_values.pop("messages"), "argot": given_values}
        return {"method": method, "url": f"{self.url}{path}", "json" if method == "POST" else "params": given_values}

    def _send(self, ask: Callable[[], httpx.Response]) -> httpx.Response:
        import httpx

        try:
            return ask()
        except httpx.HTTPError as error:
            raise self._describe_failure(error) from error

    def _describe_failure(self, error: Exception) -> ArgotError:
        kind = type(error).__name__
        return ArgotError(
            f"The service at {self._shown} does not answer ({kind}: {error}). Is 'argot serve' running there?"
        )

    def _read_response(self, answer: httpx.Response) -> Any:
        try:
            body = answer.json()
        except ValueError:
            raise ArgotError(
                f"{self._shown} answered with status {answer.status_code}, and not like Argot. Check the address."
            ) from None
        if answer.is_success:
            return body if "choices" not in body else _read_message(body)
        error = body.get("error") if isinstance(body, dict) else None
        text = str(error.get("message", "")) if isinstance(error, dict) else ""
        raise _ERRORS.get(answer.status_code, ArgotError)(
            text or f"{self._shown} answered with status {answer.status_code}."
        )


def _read_message(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a chat completion, and its finished `text`."""
    message = body["choices"][0]["message"]
    return {**message["argot"], "text": message["content"]}
