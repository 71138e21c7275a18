"""The set-up of Chainlit: where it keeps its files, what it may reach, and how it looks.

Chainlit reads its settings from files and the environment while it is imported, and writes missing ones. So Argot first
lays out a folder inside the knowledge base and sets the environment, and only then imports it. Chainlit is archived
(2.12.0 is its last release), so everything it must not do is switched off from here.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from argot.errors import MissingExtra
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.attachments import MAX_FILE_BYTES, MAX_FILES
from argot.types import LOCAL_NAME
from argot.ui.chat.brand import NAME, TAGLINE
from argot.ui.chat.chat_routes import ASSETS, explain_chainlit_errors
from argot.ui.chat.window_texts import CHAINLIT_LANGUAGES, serve_help, serve_window_texts, translate_window
from argot.ui.web.asker_identity import SECRET_FILE, get_local_display_name, load_signing_secret
from argot.ui.web.chainlit_guard import MAX_FRAME_BYTES, Window, confine_chainlit
from argot.ui.web.security import INNER_COOKIE

CHAT_FOLDER = "chat"
MAX_WAITING_BYTES = 500_000_000
"""Bytes of all people's files that were chosen but not sent yet."""
MAX_WAITING_BYTES_EACH = 100_000_000
"""Bytes of one person's files, in all their windows."""
MAX_WAITING_FILES = 2 * MAX_FILES

LIBRARY_LINK = {
    "name": "Library",
    "display_name": "Library",
    "icon_url": "/public/library.svg",
    "url": "/library",
    "target": "_self",
}
TERMS_LINK = {
    "name": "Terms",
    "display_name": "Terms",
    "icon_url": "/public/terms.svg",
    "url": "/terms",
    "target": "_self",
}
GLOSSARY_LINK = {
    "name": "Glossary",
    "display_name": "Glossary",
    "icon_url": "/public/glossary.svg",
    "url": "/glossary",
    "target": "_self",
}
"""The link to the managers' pages; argot.js shows it to people who may open them."""
ACCOUNT_LINK = {
    "name": "Account",
    "display_name": "Account",
    "icon_url": "/public/account.svg",
    "url": "/account",
    "target": "_self",
}

TRACELOOP = "traceloop.sdk"

_FOREIGN_VARIABLES = re.compile(
    r"(?:DATABASE_URL|LITERAL_API_|OAUTH_|SLACK_|TEAMS_|DISCORD_|CHAINLIT_)|(?:root|run|features|ui|project|code)$",
    re.IGNORECASE,
)
"""Environment variables of other programs that Chainlit would read. The short ones are sections of its settings: with
PROJECT=x, set for another program, it does not start."""
_NO_TELEMETRY = {
    "OTEL_SDK_DISABLED": "true",
    "TRACELOOP_TELEMETRY": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "SCARF_NO_ANALYTICS": "true",
    "DO_NOT_TRACK": "1",
    "ORT_DISABLE_TELEMETRY": "1",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
}


def load_chainlit(kb: KnowledgeBase, origins: list[str]) -> Window:
    """Load Chainlit's application, set up for this knowledge base, behind its guard. Called once per process.

    Raises:
        MissingExtra: chainlit is not installed.
    """
    # Only looked for: importing it reads the settings, which do not exist yet.
    package = importlib.util.find_spec("chainlit")
    if package is None or not package.origin:
        raise MissingExtra("The chat window", "chat")
    folder = write_files(kb.home / CHAT_FOLDER, Path(package.origin).parent, origins)
    os.environ.update(_NO_TELEMETRY)
    with _hide_foreign_variables(), leave_out_traceloop():
        os.environ.update(
            CHAINLIT_APP_ROOT=str(folder),
            CHAINLIT_ENV_FILE=os.devnull,  # else Chainlit loads a .env from the current folder
            CHAINLIT_AUTH_SECRET=load_signing_key(kb).decode("ascii"),
            CHAINLIT_AUTH_COOKIE_NAME=INNER_COOKIE,
            CHAINLIT_COOKIE_SAMESITE="strict",
        )
        from chainlit import server
        from chainlit.config import HeaderLink, config

    confine_chainlit()
    explain_chainlit_errors(server.app)
    limit_uploads()
    serve_window_texts(config)
    serve_help(server)
    take_every_file(server)
    config.ui.default_theme = "system"
    config.ui.header_links = [HeaderLink(**one) for one in (LIBRARY_LINK, TERMS_LINK, GLOSSARY_LINK, ACCOUNT_LINK)]
    server.sio.eio.max_http_buffer_size = MAX_FRAME_BYTES
    # Imports Chainlit, so only after its folder and the environment are set up.
    from argot.ui.chat.chat_window import ChatWindow

    ChatWindow(kb).register(config)
    assets = Path(package.origin).parent / "frontend" / "dist" / "assets"
    return Window(server.app, frozenset(path.name for path in assets.iterdir() if path.suffix != ".map"))


def limit_uploads() -> None:
    """Limit the files that were chosen but not sent yet, which lie in Chainlit's folder.

    Once sent, a file belongs to the conversation and leaves that folder. So files are shown by their names, and not in
    a viewer or player, which would look for them there.
    """
    from chainlit.element import Element
    from chainlit.session import WebsocketSession
    from fastapi import HTTPException

    keep = WebsocketSession.persist_file

    async def persist_file(self: Any, *arguments: Any, **named: Any) -> Any:
        # Chainlit would raise a ValueError, which the window sees as status 500.
        if not (arguments or named.get("path") or named.get("content")):
            raise HTTPException(400, translate("This file is empty."))
        # Counted over all windows of this person: else every new window would add as much room again.
        own = [size for session in _list_sessions(self.user) for size in _list_sizes(session.files_dir)]
        if len(own) >= MAX_WAITING_FILES or sum(own) > MAX_WAITING_BYTES_EACH:
            raise HTTPException(
                413, translate("Too many of your files are waiting to be sent. Send them, or reload the page.")
            )
        if sum(_list_sizes(self.files_dir.parent)) > MAX_WAITING_BYTES:
            raise HTTPException(
                507, translate("Too many files are waiting to be sent. Send yours, or try again later.")
            )
        return await keep(self, *arguments, **named)

    WebsocketSession.persist_file = persist_file
    # An element of type "file" is shown by its name alone, whatever type its sender declares.
    Element.infer_type_from_mime = classmethod(lambda cls, mime_type: "file")


def _list_sessions(user: Any) -> list[Any]:
    from chainlit.session import ws_sessions_id

    return [one for one in ws_sessions_id.values() if one.user and user and one.user.identifier == user.identifier]


def _list_sizes(folder: Path) -> list[int]:
    return [path.stat().st_size for path in folder.rglob("*") if path.is_file()]


def read_chainlit_page() -> str:
    """Return Chainlit's only HTML page, as it will be sent."""
    from chainlit import server

    html: str = server.get_html_template("")
    return html


def read_cookie_user(token: str) -> str | None:
    """Return the name for whom a cookie's token was signed; None if the token is not ours or too old."""
    import jwt
    from chainlit.auth import decode_jwt

    try:
        return str(decode_jwt(token).identifier)
    except (jwt.InvalidTokenError, TypeError, KeyError):
        return None


def sign_identity(name: str, display_name: str) -> str:
    """Sign an identity in the form that Chainlit accepts."""
    from chainlit import User
    from chainlit.auth import create_jwt

    return str(create_jwt(User(identifier=name, display_name=display_name)))


def sign_local_identity() -> str:
    """Sign the identity of the person at this machine."""
    return sign_identity(LOCAL_NAME, get_local_display_name())


def load_signing_key(kb: KnowledgeBase) -> bytes:
    """Return the key with which the window signs for this knowledge base.

    All services on the same stores share it. In a database it is as safe as the sessions stored there.
    """
    if kb.shared:
        return kb.shared.secret("window").encode("ascii")
    folder = kb.home / CHAT_FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return load_signing_secret(folder).encode("ascii")


# -- the folder ---------------------------------------------------------------------------------------------------


def write_files(folder: Path, package: Path, origins: list[str]) -> Path:
    """Write the files that Chainlit would otherwise generate: settings, texts, help, theme, and a page without CDN."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for entry in folder.iterdir():
        # Everything but the key is written anew, so that nothing of an older Chainlit or Argot stays behind.
        if entry.name == SECRET_FILE:
            continue
        # `rmtree` refuses a link to a folder.
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    _write(folder / ".chainlit" / "config.toml", format_settings(origins, _read_version(package)))
    for language, name in CHAINLIT_LANGUAGES.items():
        words = translate_window(json.loads((package / "translations" / name).read_text(encoding="utf-8")), language)
        _write(folder / ".chainlit" / "translations" / name, json.dumps(words))
        helped = (ASSETS / "help" / f"{language}.md").read_text(encoding="utf-8")
        _write(folder / f"chainlit_{name.removesuffix('.json')}.md", helped)
    # The page's other files are served from where they were installed (`chat_routes.py`), not from a folder that this
    # process writes to.
    _write(folder / "public" / "theme.json", (ASSETS / "theme.json").read_text(encoding="utf-8"))
    dist = package / "frontend" / "dist"
    _write(folder / "build" / "index.html", rewrite_page((dist / "index.html").read_text(encoding="utf-8")))
    (folder / "build" / "assets").symlink_to(dist / "assets", target_is_directory=True)
    return folder


def rewrite_page(html: str) -> str:
    """Rewrite Chainlit's page: remove what it loads from other servers, and put our own name into its head."""
    html = re.sub(r"\s*<link\b[^>]*https?://[^>]*>", "", html)
    head = (
        f"<title>{NAME}</title>",
        '<link rel="icon" href="/favicon" />',
        f'<meta name="description" content="{TAGLINE}" />',
        '<meta property="og:root_path" content="" />',
        '<script src="/public/storage.js"></script>',  # before Chainlit's own, which need storage
    )
    return html.replace("<!-- TAG INJECTION PLACEHOLDER -->", "\n    ".join(head))


def format_settings(origins: list[str], version: str) -> str:
    """Format Chainlit's settings. Strings, lists and booleans of JSON are valid TOML."""
    sections: dict[str, dict[str, Any]] = {
        "project": {
            "allow_origins": origins,
            "transports": ["websocket"],
            "session_timeout": 3600,
            "user_session_timeout": 1_296_000,
            "user_env": [],
            "cache": False,
        },
        "features": {
            "unsafe_allow_html": False,  # else HTML from a document would run in an answer
            "latex": False,  # else two prices in dollars would be set as a formula
            "user_message_markdown": False,
            "user_message_autoscroll": True,  # the question moves to the top of the window ...
            "assistant_message_autoscroll": False,  # ... and stays there: a long answer is read from its beginning
            "edit_message": False,
            "auto_tag_thread": False,
            "allow_thread_sharing": False,
            "favorites": False,
        },
        "features.spontaneous_file_upload": {
            "enabled": True,
            "accept": [],  # every type, see `take_every_file`
            "max_files": MAX_FILES,
            "max_size_mb": MAX_FILE_BYTES
            // 10**6,  # of 2**20 bytes each; Argot's own smaller limit answers with a message
        },
        "features.audio": {"enabled": False},
        "features.mcp": {"enabled": False},
        "UI": {
            "name": NAME,
            "description": TAGLINE,
            "language": "en-US",
            "cot": "full",
            "confirm_new_chat": False,
            "custom_css": "/public/argot.css",
            "custom_js": "/public/argot.js",
            "custom_build": "build",
        },
        "meta": {"generated_by": version},
    }
    return "\n".join(
        f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        for section, values in sections.items()
    )


def take_every_file(server: Any) -> None:
    """Make Chainlit's service take files of every type. An empty list of types means so to its page, which knows no
    "*/*" and warns of it at each redraw, but to its service it means none.
    """
    server.validate_file_mime_type = lambda file, spec: None


def _read_version(package: Path) -> str:
    found = re.search(r'"(\d[^"]*)"', (package / "version.py").read_text(encoding="utf-8"))
    return found[1] if found else "2.12.0"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@contextmanager
def _hide_foreign_variables() -> Iterator[None]:
    # Set for other programs, these would make Chainlit open databases, join Slack, Teams and Discord, or fail to start.
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if _FOREIGN_VARIABLES.match(name)}
    try:
        yield
    finally:
        # The variables of Chainlit stay as we have set them.
        os.environ.update({name: value for name, value in hidden.items() if not name.startswith("CHAINLIT_")})


@contextmanager
def leave_out_traceloop() -> Iterator[None]:
    """Let Chainlit be imported without Traceloop's SDK, which takes half a second and has instruments for forty other
    libraries.

    Literal AI's client imports it for the one name below, and calls it only if it has a key, which Argot hides.
    """
    absent = ModuleType(TRACELOOP)
    absent.__dict__["Traceloop"] = None
    before = sys.modules.setdefault(TRACELOOP, absent)
    try:
        yield
    finally:
        if before is absent:
            del sys.modules[TRACELOOP]
