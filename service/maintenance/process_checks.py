"""What of an installation depends on the process and its settings alone: Python, packages, settings, models, Slack."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib import metadata

from argot import __version__
from argot.corpus.readers.ocr import described_ocr
from argot.errors import install_command
from argot.remedies import shell_quoted
from argot.service.maintenance.findings import Finding, attempt, bad, good
from argot.service.maintenance.model_checks import model_findings, without_password
from argot.service.maintenance.slack_check import slack_findings
from argot.settings import ENV_PREFIX, OLD_NAMES, SETTINGS_FILE, Settings


def findings_of_process(settings: Settings) -> list[Finding]:
    """What depends on the process and its settings alone."""
    packages = [_python(), *_packages(), *_settings(settings), _embedder(settings), _reranker(settings), _ocr(settings)]
    return [*packages, *model_findings(settings), *slack_findings(settings)]


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
        if name == "model_url":
            value = without_password(value)
        if value != field.default:
            yield good(f"setting {name}", f"{value} ({_source(name, written)})")
    yield good("settings", "the others are at their defaults")


def _source(name: str, written: str) -> str:
    names = [name, *(old for old, new in OLD_NAMES.items() if new == name)]
    for variable in (f"{ENV_PREFIX}{one.upper()}" for one in names):
        if os.environ.get(variable):
            return f"from {variable}"
    if any(re.search(rf"^\s*{one}\s*=", written, re.MULTILINE) for one in names):
        return f"from {SETTINGS_FILE.absolute()}"
    return "from the command line"


def _embedder(settings: Settings) -> Finding:
    def look() -> str:
        from argot.corpus.embedding.embedder import embedder_for

        embedder = embedder_for(settings)
        vectors = embedder.embed_queries(["is anybody there"])
        return f"{settings.embedder}, {vectors.shape[1]} dimensions, {embedder.fingerprint}"

    return attempt(
        "embedding model", look, f"remove the export, it is made again: rm -r {shell_quoted(settings.cache)}"
    )


def _reranker(settings: Settings) -> Finding:
    def look() -> str:
        from argot.tools.retrieval.scorer_choice import described_scorer

        return described_scorer(settings)

    return attempt("re-ranker", look, "ARGOT_RERANKER=lexical needs no model")


def _ocr(settings: Settings) -> Finding:
    return attempt("scans and pictures", lambda: described_ocr(settings.ocr_languages))
