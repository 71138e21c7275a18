"""Findings in texts as SARIF 2.1.0 (OASIS), the format in which continuous integration shows findings beside lines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from argot import __version__
from argot.locations import place
from argot.service.usecases.glossary.text_checks import TextCheck, TextFinding

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES = {
    "forbidden-name": "The glossary forbids this name of a term.",
    "deprecated-name": "The glossary deprecates this name of a term.",
    "undefined-abbreviation": "Neither the text nor the glossary explains this abbreviation.",
    "explained-late": "The text uses this abbreviation before it explains it.",
    "second-spelling": "The text spells this term in more than one way.",
}


def build_sarif(checks: Mapping[str, TextCheck], failures: Mapping[str, str]) -> dict[str, Any]:
    """Build the log of one run.

    Args:
        checks: by the path of the file, relative to the folder in which the command runs.
        failures: paths of files that could not be checked, with the reason.
    """
    notices = [
        {"level": "error", "message": {"text": why}, "locations": [_build_location(path, None)]}
        for path, why in failures.items()
    ]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _build_driver()},
                # Columns count characters as editors show them, not UTF-16 code units.
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": not failures, "toolExecutionNotifications": notices}],
                "results": [_build_result(path, one) for path, check in checks.items() for one in check.findings],
            }
        ],
    }


def _build_driver() -> dict[str, Any]:
    rules = [{"id": kind, "shortDescription": {"text": text}} for kind, text in RULES.items()]
    return {"name": "argot", "semanticVersion": __version__, "rules": rules}


def _build_result(path: str, one: TextFinding) -> dict[str, Any]:
    # The place in words, for files without lines.
    where = place(path, one.page, one.page_kind).removeprefix(", ") if one.line is None else ""
    message = f"{one.reason} {one.remedy}" + (f" ({where}: “{one.before}{one.text}{one.after}”)" if where else "")
    # Stays the same when lines above are added, so that a finding that was closed is not opened again.
    mark = hashlib.sha256("\0".join((one.kind, path, one.before, one.text)).encode()).hexdigest()
    return {
        "ruleId": one.kind,
        "ruleIndex": list(RULES).index(one.kind),
        "level": one.level,
        "message": {"text": message},
        "locations": [_build_location(path, one)],
        "partialFingerprints": {"argotFinding/v1": mark[:32]},
        "properties": {"term": one.term, "count": one.count, **({"page": one.page} if one.page else {})},
    }


def _build_location(path: str, one: TextFinding | None) -> dict[str, Any]:
    made: dict[str, Any] = {"artifactLocation": {"uri": quote(path.replace("\\", "/"), safe="/")}}
    if one is not None and one.line is not None:
        made["region"] = {
            "startLine": one.line,
            "startColumn": one.column,
            "endLine": one.end_line,
            "endColumn": one.end_column,
            "snippet": {"text": one.text},
        }
    return {"physicalLocation": made}
