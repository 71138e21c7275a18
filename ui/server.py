"""The web service: one process that owns the knowledge base, serves the chat window and answers other commands."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from argot.errors import ArgotError, InvalidSettings, LocalError
from argot.languages.catalogues import translate
from argot.service.answering.worker_pool import run_answer_workers
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability import process_memory
from argot.service.operations import file_handles
from argot.service.operations.job_work import work_here
from argot.service.sign_in.account import sign_in_required
from argot.service.sign_in.embedding import parse_origins, require_embedding
from argot.service.sign_in.provider_claims import require_provider
from argot.service.tool_servers import require_tool_servers
from argot.service.transport.local_socket import serve_socket
from argot.settings import Settings
from argot.ui.web.authentication import parse_networks
from argot.wings import load_parts
from argot.work.schedule import run_schedule
from argot.work.side_work import run_beside

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

    from argot.ui.start_report import StartReport
    from argot.ui.web.authentication import Authenticator
    from argot.ui.web.security import Guard

logger = logging.getLogger(__name__)

LET_SIGN_IN = "Let people sign in: argot user add NAME --password."
UNENCRYPTED = (
    "Argot can be reached from other machines, and without encryption: passwords and answers can be read on the way."
    " Put a proxy with https before it and set 'public_url' (docs/administrators.md)."
)
GRACE_SECONDS = 3
"""The time that open windows get to close their connections when all answers are done."""
READY_SECONDS = 3.0
"""The timeout of `/ready`: a load balancer that asks has other services to send people to."""
SWITCH_SECONDS = 0.001
"""The time that a thread may keep the interpreter while others wait. With Python's default of 5 ms an answer would wait
that long at each of its dozens of steps whenever another thread is busy.
"""
ACCEPT_BACKLOG = 64
"""Connections that asyncio accepts at once, before the first of them is counted."""
KERNEL_BACKLOG = 2048
"""Connections that may wait in the kernel. Another one waits a second or longer until TCP tries again."""
LAST_WORDS_SECONDS = 0.3
"""The time for the end of an answer to leave the machine before its connection is closed."""


def serve(home: Path, settings: Settings, report: StartReport) -> None:
    """Serve until stopped by Ctrl+C or SIGTERM, and then close the stores.

    Raises:
        InvalidSettings: the address is in use, is none of this machine, or others can reach it and nobody signs in.
        NotFound, KnowledgeBaseBusy, DamagedStore: the knowledge base cannot be opened.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    sys.setswitchinterval(SWITCH_SECONDS)
    process_memory.bound_arenas()
    file_handles.raise_limit()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(home, settings, report))


def _interrupt(number: int, frame: FrameType | None) -> None:
    # After uvicorn has stopped it raises the signal again, before the stores are closed. By default SIGTERM would end
    # the process there, and on SIGINT asyncio would cancel the closing.
    raise KeyboardInterrupt


def bind_socket(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a bound socket, not yet listening; its address must be of this machine alone unless people sign in
    (`shared`).

    Until somebody has a password, the window treats everyone who opens it as the person at this machine, who may read
    everything; so it must not be reachable from elsewhere.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise InvalidSettings(f"Setting 'host' cannot be '{host}': {error}. Use 127.0.0.1.") from error
    if not shared and not is_secluded(str(address[0])):
        raise InvalidSettings(
            f"Setting 'host' cannot be '{host}': the chat window is open to this machine only, because everyone who "
            f"opens it can read everything. {LET_SIGN_IN} Or use 127.0.0.1, and reach it from elsewhere through"
            " ssh -L 8000:127.0.0.1:8000."
        )
    # With the protocol named, asyncio sends small pieces at once instead of some 40 ms later.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # Otherwise a restart would have to wait until the old process's last connections have timed out.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise _explain_bind_failure(host, port, error) from error
    return listener


def _explain_bind_failure(host: str, port: int, error: OSError) -> ArgotError:
    if error.errno == errno.EADDRINUSE:
        return InvalidSettings(
            f"Port {port} of {host} is in use, perhaps by another 'argot serve'."
            f" Choose another: argot serve --port {port % 65535 + 1}, or --port 0 for any free one."
        )
    return InvalidSettings(f"Argot cannot listen on port {port} of {host}: {error.strerror}. Choose another port.")


def _require_usable(kb: KnowledgeBase) -> None:
    """Refuse a profile that is not there and an audit file that cannot be written, before anybody asks.

    Raises:
        InvalidSettings, StoreUnavailable
    """
    kb.profiles.find(kb.settings.profile)
    if kb.audit:
        kb.audit.require_writable()


def is_secluded(address: str) -> bool:
    """Tell whether only this machine can reach an address."""
    # An IPv6 address may name its interface: fe80::1%eth0.
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


async def _serve(home: Path, settings: Settings, report: StartReport) -> None:
    from argot.service.observability.metric_export import export_metrics
    from argot.service.observability.metrics import Metrics
    from argot.ui.web.observability import RequestObserver

    # A wrong setting is refused here, before the stores are opened.
    parse_networks(settings.telemetry.metrics_networks, "metrics_networks")
    report.show("opening the knowledge base")
    async with KnowledgeBase.open(home, settings) as kb:
        signing_in = await kb.blocking(sign_in_required, kb)
        require_consistent(settings, signing_in=signing_in)
        await kb.blocking(_require_usable, kb)
        # Before the models are loaded (`kb.warm`): a port that is in use is found at once.
        with closing(bind_socket(settings.web.host, settings.web.port, shared=signing_in)) as listener:
            address, port = listener.getsockname()[:2]
            if not is_secluded(address) and not settings.web.public_url:
                print(UNENCRYPTED, file=sys.stderr)
            kb.metrics = Metrics()
            if kb.audit:
                kb.metrics.audit_lost.set_function(kb.audit.count_lost)
            async with (
                record_run(kb),
                run_answer_workers(kb),
                serve_socket(kb),
                run_beside(
                    kb.metrics.watch_loop(),
                    export_metrics(kb.metrics, settings),
                    run_schedule(kb),
                    work_here(kb),
                ),
                run_wing_services(kb),
            ):
                report.show("loading the models")
                await kb.warm()
                report.show("building the pages")
                guard = build_app(kb, settings.web.host, port, secluded=is_secluded(address))
                # Last before serving: the objects that exist now stay, so the garbage collector can ignore them.
                process_memory.freeze_start_up()
                served = RequestObserver(guard, kb, guard.authenticator)
                await _build_server(served, kb, port, report).serve(sockets=[listener])


@asynccontextmanager
async def record_run(kb: KnowledgeBase) -> AsyncIterator[None]:
    """Record the start of the service, and its stop however it ends: uvicorn raises the signal that stopped it."""
    if kb.audit:
        kb.audit.record_service("start")
    try:
        yield
    finally:
        if kb.audit:
            kb.audit.record_service("stop")


@asynccontextmanager
async def run_wing_services(kb: KnowledgeBase) -> AsyncIterator[None]:
    """Run the wings' own services."""
    async with AsyncExitStack() as stack:
        for service in load_parts("services"):
            await stack.enter_async_context(service(kb))
        yield


def require_consistent(settings: Settings, *, signing_in: bool) -> None:
    """Refuse settings that would open the window to more people than they seem to.

    Raises:
        InvalidSettings
    """
    parse_networks(settings.web.trusted_proxies)
    if settings.sign_in.header and not settings.web.trusted_proxies:
        raise InvalidSettings(
            f"Setting 'sign_in_header' is '{settings.sign_in.header}', but no proxy is trusted to send it. Name the"
            " addresses of yours in 'trusted_proxies'."
        )
    if settings.sign_in.groups_header and not settings.sign_in.header:
        raise InvalidSettings(
            "Setting 'sign_in_groups_header' needs 'sign_in_header', which says whose groups they are."
        )
    require_provider(settings)
    require_tool_servers(settings)
    require_embedding(settings, signing_in=signing_in)
    parse_origins(settings.web.mcp_origins, "mcp_origins")
    if (settings.web.public_url or settings.web.trusted_proxies) and not signing_in:
        raise InvalidSettings(
            "A proxy makes the window reachable from elsewhere ('public_url', 'trusted_proxies'), and nobody signs in:"
            f" everyone who opens it would read everything. {LET_SIGN_IN}"
        )


def build_app(kb: KnowledgeBase, host: str, port: int, *, secluded: bool = True) -> Guard:
    """Build everything that is served: our own pages, and Chainlit for the rest, behind the guard."""
    from argot.ui.chat import chainlit_setup
    from argot.ui.chat.chat_routes import build_chat_routes
    from argot.ui.web.authentication import Authenticator
    from argot.ui.web.authorization import Addresses
    from argot.ui.web.host_names import HostNames
    from argot.ui.web.page_templates import show_refusal
    from argot.ui.web.routers import add_routes
    from argot.ui.web.security import Guard

    settings = kb.settings
    names = HostNames(host, port, secluded=secluded, public_url=settings.web.public_url)
    authenticator = Authenticator(
        kb,
        port=port,
        # A public address means a proxy: then other machines can reach the window too.
        secluded=secluded and not settings.web.public_url,
        key=chainlit_setup.load_signing_key(kb),
        ticket=chainlit_setup.sign_local_identity,
        read_ticket=chainlit_setup.read_cookie_user,
    )
    window = chainlit_setup.load_chainlit(kb, sorted(names.origins))
    app = build_application(kb, authenticator)
    add_routes(app, build_chat_routes())
    # Last, because it takes every remaining path.
    app.mount("/", window)
    return Guard(
        app,
        names=names,
        page=chainlit_setup.read_chainlit_page(),
        authenticator=authenticator,
        addresses=Addresses.of(app),
        inner=lambda who: chainlit_setup.sign_identity(who.name, who.display_name),
        refused=show_refusal,
    )


def build_application(kb: KnowledgeBase, authenticator: Authenticator) -> FastAPI:
    """Build the application of our own pages. Every endpoint declares who may use it (`web/authorization.py`); forms
    are checked for forgery.
    """
    from fastapi import Depends, FastAPI, HTTPException
    from starlette.responses import PlainTextResponse

    from argot.service.sign_in.password_sign_in import SignIn
    from argot.service.sign_in.provider_sign_in import ProviderSignIn
    from argot.service.storage.damage import require_readable
    from argot.ui.api.api_routes import build_api_routes
    from argot.ui.api.scim_routes import build_scim_routes
    from argot.ui.pages.account_pages import Confirmation, sign_in_pages
    from argot.ui.pages.page_routes import build_pages
    from argot.ui.pages.people_pages import build_people_pages
    from argot.ui.pages.source_pages import build_source_pages
    from argot.ui.web.authorization import needs, refuse_forgery
    from argot.ui.web.error_pages import explain_errors
    from argot.ui.web.observability import show_metrics
    from argot.ui.web.routers import add_routes

    # FastAPI's documentation pages load scripts from a CDN, and would list every page of ours.
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, dependencies=[Depends(refuse_forgery)])
    explain_errors(app)

    @app.api_route("/health", methods=["GET", "HEAD"])
    @needs("anonymous")
    async def health() -> dict[str, str]:
        """Report that the process answers."""
        return {"status": "ok"}

    @app.api_route("/ready", methods=["GET", "HEAD"])
    @needs("anonymous")
    async def ready() -> dict[str, str]:
        """Report that the stores answer too, and that new questions are accepted."""
        kb.gates.questions.require_open()
        try:
            async with asyncio.timeout(READY_SECONDS):
                await kb.blocking(require_readable, kb.home, kb.stores)
        except (ArgotError, TimeoutError) as error:
            logger.error("a store does not answer: %s", error)
            raise HTTPException(503, LocalError.elsewhere) from error
        await kb.require_answering()
        return {"status": "ready"}

    @app.get("/metrics")
    @needs("admin", program=True)
    async def metrics() -> PlainTextResponse:
        """Return the counters for Prometheus. Without signing in: setting `metrics_networks` (`observability.py`)."""
        return show_metrics(kb)

    sign_in = SignIn(kb)
    provider = ProviderSignIn(kb, authenticator.key) if kb.settings.oidc.issuer else None
    confirmation = Confirmation(kb, sign_in, lambda request: authenticator.find_address(request.scope, request.headers))
    add_routes(app, sign_in_pages(kb, authenticator, sign_in, confirmation, provider))
    add_routes(app, build_source_pages(kb))
    add_routes(app, build_pages(kb))
    add_routes(app, build_people_pages(kb, confirmation))
    add_routes(app, build_api_routes(kb))
    add_routes(app, build_scim_routes(kb))
    return app


def _build_server(app: ASGIApp, kb: KnowledgeBase, port: int, report: StartReport) -> Any:
    import uvicorn

    from argot.ui.web.chainlit_guard import MAX_FRAME_BYTES
    from argot.ui.web.connection_limits import MAX_HEAD_BYTES, ConnectionLimits, CountedProtocol, CountedWebSocket

    settings = kb.settings
    # File handles that Argot itself needs are reserved first: connections get the rest.
    possible = file_handles.count_for_connections(file_handles.raise_limit())
    limits = ConnectionLimits(
        min(settings.web.connections or possible, possible),
        settings.web.connections_per_address,
        parse_networks(settings.web.trusted_proxies),
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            # asyncio has set the kernel's queue to its own backlog (`ACCEPT_BACKLOG`): it is lengthened.
            for listener in sockets or ():
                listener.listen(KERNEL_BACKLOG)
            report.end()
            place = settings.web.public_url or _format_url(settings.web.host, port)
            opened = translate("Argot is open at %(place)s (Ctrl+C stops it).", place=place)
            print(opened, file=sys.stderr, flush=True)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await _finish(kb, lambda: self.force_exit)
            await super().shutdown(sockets)

    return Server(
        uvicorn.Config(
            app,
            log_level=logging.getLogger("uvicorn").getEffectiveLevel(),
            log_config=None,  # logging is set up already (`service/observability/logs.py`)
            access_log=False,  # its lines hold paths and queries
            server_header=False,
            proxy_headers=False,  # `authentication.py` decides which proxies are trusted
            lifespan="off",  # `_serve` opens and closes everything
            ws_max_size=MAX_FRAME_BYTES,
            ws_per_message_deflate=False,  # a few kilobytes could unpack to megabytes
            http=partial(CountedProtocol, limits=limits),  # type: ignore[arg-type]  # it is called like the class
            ws=partial(CountedWebSocket, limits=limits),  # type: ignore[arg-type]
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            backlog=ACCEPT_BACKLOG,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )


async def _finish(kb: KnowledgeBase, impatient: Callable[[], bool]) -> None:
    """Begin no new answers, and let those in progress finish, as long as the settings allow.

    Connections stay open meanwhile: new questions are told that the service is stopping, and so is `/ready`.
    """
    gate, seconds = kb.gates.questions, kb.settings.web.stop_seconds
    gate.stop()
    kb.gates.attachments.stop()
    kb.gates.archives.stop()
    if not gate.running:
        return
    wait = f"at most {seconds:g} seconds; Ctrl+C again stops at once"
    print(f"Argot stops when {gate.running} answers in progress are done ({wait}).", file=sys.stderr, flush=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end and not impatient():
        if await gate.wait_until_quiet(0.1):
            await asyncio.sleep(LAST_WORDS_SECONDS)
            return
    logger.warning("%d answers were cut off by the stop", gate.running)


def _format_url(host: str, port: int) -> str:
    name = "localhost" if host == "127.0.0.1" else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
