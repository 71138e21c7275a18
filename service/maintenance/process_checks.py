"""What of an installation depends on the process and its settings alone: Python, packages, settings, models, Slack."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from argot import __version__
from argot.corpus.embedding.embedder import embedder_for
from argot.corpus.embedding.exported_models import exported_model
from argot.corpus.readers.ocr import described_ocr
from argot.errors import ArgotError, install_command
from argot.remedies import REINSTALL, shell_quoted
from argot.service.maintenance.findings import Finding, attempt, bad, good
from argot.service.maintenance.model_checks import model_findings, without_password
from argot.service.maintenance.provider_check import provider_findings
from argot.service.maintenance.slack_check import slack_findings
from argot.service.maintenance.telemetry_check import telemetry_findings
from argot.service.maintenance.vector_server_check import vector_server_findings
from argot.service.storage.adopted_models import MODELS
from argot.settings import ENV_PREFIX, OLD_NAMES, SETTINGS_FILE, Settings
from argot.tools.retrieval.scorer_choice import describe_scorer

EMBEDDER = "embedding model"
"""The name of its finding."""


def findings_of_process(settings: Settings) -> list[Finding]:
    """What depends on the process and its settings alone."""
    packages = [_python(), *_packages(), *_settings(settings), _embedder(settings), _reranker(settings), _ocr(settings)]
    services = [
        *vector_server_findings(settings),
        *provider_findings(settings),
        *slack_findings(settings),
        *telemetry_findings(settings),
    ]
    return [*packages, *model_findings(settings), *services]


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    detail = f"Argot {__version__}, Python {found}, {sys.executable}"
    return good("python", detail) if sys.version_info >= (3, 11) else bad("python", detail, "install Python 3.11")


def _packages() -> Iterator[Finding]:
    """Every requirement of the core, and the extras that are there; by metadata alone, without importing."""
    try:
        requirements = metadata.requires("argot") or []
    except metadata.PackageNotFoundError:
        yield bad("packages", "argot is not installed", "pip install -e .")
        return
    missing = [name for name in _core(requirements) if _version_of(name) is None]
    if missing:
        yield bad("packages", f"missing: {', '.join(missing)}", f"pip install {' '.join(missing)}")
    else:
        yield good("packages", f"all {len(list(_core(requirements)))} of the core are installed")
    chat = _version_of("chainlit")
    yield good("extra chat", f"chainlit {chat}" if chat else f"not installed ({install_command('chat')})")


def _core(requirements: list[str]) -> Iterator[str]:
    for requirement in requirements:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        # Packages of an extra may be missing.
        if name and "extra ==" not in requirement:
            yield name.group()


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _settings(settings: Settings) -> Iterator[Finding]:
    """The settings that are not at their defaults, and where each of them comes from."""
    written = SETTINGS_FILE.read_text(encoding="utf-8") if SETTINGS_FILE.exists() else ""
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        # The output gets passed on. Secret settings show as stars by themselves, but a URL may hold a password.
        if name in ("model_url", "chroma_url", "trace_endpoint", "metric_endpoint"):
            value = without_password(value)
        elif name in ("store", "blob_url"):
            # What is no address may have a password anywhere before the last @, and PostgreSQL's also in its query.
            value = re.sub(r"//.*@", "//***@", value).partition("?")[0]
        if value != field.default:
            yield good(f"setting {name}", f"{value} ({_source(name, value, written)})")
    yield good("settings", "the others are at their defaults")


def _source(name: str, value: object, written: str) -> str:
    if variable := _variable(name):
        return f"from {variable}"
    if any(re.search(rf"^\s*{one}\s*=", written, re.MULTILINE) for one in _names(name)):
        return f"from {SETTINGS_FILE.absolute()}"
    if f"/{MODELS}/" in str(value):
        return f"adopted; take it back with: argot learn back {name}"
    return "from the command line"


def _variable(name: str) -> str | None:
    """The environment variable that sets it, where one does."""
    return next((one for one in (f"{ENV_PREFIX}{n.upper()}" for n in _names(name)) if os.environ.get(one)), None)


def _names(name: str) -> list[str]:
    """The setting's name, and those it had before."""
    return [name, *(old for old, new in OLD_NAMES.items() if new == name)]


# -- models -----------------------------------------------------------------------------------------------------------


def _embedder(settings: Settings) -> Finding:
    try:
        embedder = embedder_for(settings)
        vectors = embedder.embed_queries(["is anybody there"])
    except Exception as error:  # whatever goes wrong is a finding
        return _unusable(EMBEDDER, "embedder", settings, error)
    return good(EMBEDDER, f"{settings.embedder}, {vectors.shape[1]} dimensions, {embedder.fingerprint}")


def _reranker(settings: Settings) -> Finding:
    try:
        return good("re-ranker", describe_scorer(settings))
    except Exception as error:  # as above
        return _unusable("re-ranker", "reranker", settings, error)


def _unusable(finding: str, setting: str, settings: Settings, error: Exception) -> Finding:
    """A model that cannot be used, and what helps: against a wrong name, a folder that is refused, a damaged export."""
    if isinstance(error, OSError) and error.filename and _along(Path(error.filename), settings.cache):
        reason = f"models are prepared in {settings.cache}, which cannot be used: {error.strerror}"
        return bad(finding, reason, f"set {ENV_PREFIX}CACHE to a folder that can be written, or unset it")
    if isinstance(error, ArgotError):
        return bad(finding, str(error), _default_again(setting, settings))
    told = f"{type(error).__name__}: {error}"
    if setting == "embedder" and not isinstance(error, OSError) and (export := _export(settings)):
        return bad(finding, told, f"remove its export, which is made again: rm -r {shell_quoted(export)}")
    return bad(finding, told, _default_again(setting, settings))


def _along(path: Path, folder: Path) -> bool:
    """Whether the path is the folder, lies in it, or leads to it."""
    path, folder = path.absolute(), folder.expanduser().absolute()
    return path.is_relative_to(folder) or folder.is_relative_to(path)


def _export(settings: Settings) -> Path | None:
    """The folder of this embedder's export alone; None where there is none."""
    try:
        return exported_model(settings.embedder, settings.cache)[0]
    except Exception:  # the fault was found already: this is about its remedy
        return None


def _default_again(setting: str, settings: Settings) -> str:
    """How the setting comes back to its default; where it is there already, what the default needs."""
    value, default = getattr(settings, setting), Settings.model_fields[setting].default
    if value == default:
        return "ARGOT_RERANKER=lexical needs no model" if setting == "reranker" else REINSTALL
    if variable := _variable(setting):
        return f"unset {variable}, which is {shell_quoted(value)}: {default!r} comes with Argot"
    return f"take {setting!r} out of {SETTINGS_FILE.absolute()}: {default!r} comes with Argot"


def _ocr(settings: Settings) -> Finding:
    return attempt("scans and pictures", lambda: described_ocr(settings.ocr_languages))
