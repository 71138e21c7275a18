"""The verification of a turn's answer, as its reader sees it."""

from __future__ import annotations

from argot.graph.presentation.turn_reading import TurnReading
from argot.graph.run_context import RunContext
from argot.languages.catalogues import format_local_day, translate
from argot.results import Verification


def read_verification(reading: TurnReading, run: RunContext) -> Verification | None:
    """Return who verified the answer, while the reader may see all of it; None also for one that was dropped since."""
    record = reading.turn.get("verified")
    if not record or len(reading.defined_senses) < len(reading.turn.get("defined", [])):
        return None
    if not all(reading.shows(one) for one in reading.turn["sentences"]):
        return None
    found = run.glossary.verified.get(record["id"])
    # One that was verified again may say something else now.
    if found is None or found.at != record["at"]:
        return None
    return Verification(id=found.id, by=found.owner_name, at=found.at)


def write_verification_note(verified: Verification | None) -> list[str]:
    if verified is None:
        return []
    day = format_local_day(verified.at)
    if not verified.by:
        return [translate("This answer was verified on %(day)s.", day=day)]
    return [translate("This answer was verified by %(name)s on %(day)s.", name=verified.by, day=day)]
