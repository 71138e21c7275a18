"""The part of `argot doctor` about the audit trail: whether its destinations can be used."""

from __future__ import annotations

import os

from argot.errors import InvalidSettings
from argot.service.audit.audit_sinks import FileSink, parse_syslog
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.settings import Settings
from argot.shown_addresses import hide_secrets

NAME = "audit trail"


def check_audit(settings: Settings) -> list[Finding]:
    """Checks that the file can be written; nothing is sent to a server, whose log would have to explain it."""
    audit = settings.audit
    if not (audit.file or audit.syslog or audit.url):
        return [make_good_finding(NAME, "kept nowhere (docs/operations.md)")]
    if audit.file and (problem := _find_file_problem(FileSink(audit.file))):
        return [make_bad_finding(NAME, problem, "free space, grant the permission, or set ARGOT_AUDIT_FILE")]
    try:
        if audit.syslog:
            parse_syslog(audit.syslog)
    except InvalidSettings as error:
        return [make_bad_finding(NAME, str(error), "see the message")]
    places = [str(audit.file or ""), hide_secrets(audit.syslog), hide_secrets(audit.url)]
    return [make_good_finding(NAME, f"kept in {', '.join(filter(None, places))}")]


def _find_file_problem(sink: FileSink) -> str:
    # A file made by this command would belong to whoever runs it, and perhaps not to the service.
    if not sink.path.exists():
        folder = sink.path.parent
        return "" if os.access(folder, os.W_OK) else f"{sink.path} cannot be created"
    error = sink.flush()
    return f"{sink.path} cannot be written: {error.strerror or error}" if error else ""
