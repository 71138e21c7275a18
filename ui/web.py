"""The web service: one process that owns the knowledge base, serves the chat window and answers other commands."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import signal
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from argot.errors import ArgotError, InvalidSettings
from argot.service.local_socket import serving
from argot.service.owner import KnowledgeBase
from argot.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

GRACE_SECONDS = 3
"""Open windows keep a connection; on a stop they get this long to finish an answer."""


def serve(home: Path, settings: Settings) -> None:
    """Serve until stopped by Ctrl+C or SIGTERM, and then close the stores.

    Raises:
        InvalidSettings: the address is in use, is none of this machine, or can be reached from outside it.
        NotFound, KnowledgeBaseBusy, DamagedStore: the knowledge base cannot be opened.
    """
    listener = bind(settings.host, settings.port)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        asyncio.run(_serve(home, settings, listener))
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """When uvicorn has stopped it raises the signal again, and only then are the stores closed.

    By default SIGTERM would end the process there, and on SIGINT asyncio would cancel the closing.
    """
    raise KeyboardInterrupt


def bind(host: str, port: int) -> socket.socket:
    """A socket on an address of this machine alone, not yet listening.

    The window signs in whoever opens it as the person at this machine, who may read everything; so it must not be
    reachable from elsewhere until people can sign in by name.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise InvalidSettings(f"Setting 'host' cannot be '{host}': {error}. Use 127.0.0.1.") from error
    if not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
        raise InvalidSettings(
            f"Setting 'host' cannot be '{host}': the chat window is open to this machine only, for everyone who opens"
            " it reads everything. Use 127.0.0.1, and reach it from elsewhere through ssh -L 8000:127.0.0.1:8000."
        )
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise _not_bound(host, port, error) from error
    return listener


def _not_bound(host: str, port: int, error: OSError) -> ArgotError:
    if error.errno == errno.EADDRINUSE:
        return InvalidSettings(
            f"Port {port} of {host} is in use, perhaps by another 'argot serve'."
            f" Choose another: argot serve --port {port % 65535 + 1}, or --port 0 for any free one."
        )
    return InvalidSettings(f"Argot cannot listen on port {port} of {host}: {error.strerror}. Choose another port.")


async def _serve(home: Path, settings: Settings, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    async with KnowledgeBase.open(home, settings) as kb, serving(kb):
        await kb.load()
        await kb.graph()
        server = _server(build_app(kb, settings.host, port), settings, port)
        await server.serve(sockets=[listener])


def build_app(kb: KnowledgeBase, host: str, port: int) -> ASGIApp:
    """Everything that is served: health, the cited passages, and Chainlit for the rest, behind the guard."""
    from argot.ui import chat_setup
    from argot.ui.web_guard import Guard, own_hosts

    origins = sorted(f"http://{name}" for name in own_hosts(host, port))
    window = chat_setup.load(kb, origins, port)
    app = _application(kb)
    app.mount("/", window)
    return Guard(
        app,
        host=host,
        port=port,
        page=chat_setup.page(),
        cookie=chat_setup.cookie_name(port),
        identify=chat_setup.identify,
        welcome=chat_setup.local_identity,
    )


def _application(kb: KnowledgeBase) -> FastAPI:
    from fastapi import FastAPI

    from argot.ui.chat_sources import sources

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    @app.get("/ready")
    async def ready() -> dict[str, str]:
        """The stores answer too."""
        await (await kb.threads()).of("")
        await kb.load()
        return {"status": "ready"}

    app.include_router(sources(kb))
    return app


def _server(app: ASGIApp, settings: Settings, port: int) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            print(f"Argot is open at {_url(settings.host, port)} (Ctrl+C stops it).", file=sys.stderr, flush=True)

    return Server(
        uvicorn.Config(
            app,
            log_level=settings.log_level.lower(),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )


def _url(host: str, port: int) -> str:
    name = "localhost" if host == "127.0.0.1" else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
