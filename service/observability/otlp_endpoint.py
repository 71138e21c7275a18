"""Common parts of sending traces and metrics by OpenTelemetry's protocol (OTLP) over HTTP."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

SEND_SECONDS = 5
STOP_SECONDS = 3.0
"""A stop waits no longer than this for unsent data."""
# Their messages about each failure are logged here, once.
_LIBRARY_LOGS = ("opentelemetry.exporter.otlp", "opentelemetry.sdk")

logger = logging.getLogger(__name__)


def make_otlp_url(endpoint: str, usual_path: str) -> str:
    """Return the address to send to: that of the setting, with the usual path if it has none."""
    return endpoint if urlsplit(endpoint).path.strip("/") else endpoint.rstrip("/") + usual_path


def quiet_libraries() -> None:
    """Keep OpenTelemetry's packages from logging each failure."""
    for name in _LIBRARY_LOGS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class Reachability:
    """State of an endpoint: it accepts data or fails. Each change is logged once."""

    def __init__(self, what: str, url: str) -> None:
        self._what, self._where = what, urlsplit(url).netloc.rpartition("@")[2]
        self.failing = False

    def note_attempt(self, *, sent: bool) -> None:
        if not sent and not self.failing:
            warning = "%s do not reach %s: they are dropped until they do. Questions go on"
            logger.warning(warning, self._what, self._where)
        elif sent and self.failing:
            logger.warning("%s reach %s again", self._what, self._where)
        self.failing = not sent
