"""The evaluations as keepers of documents' text: they have none."""

from __future__ import annotations

from argot.service.maintenance.text_keepers import TextKeeper
from argot.service.storage import home_folder as layout

KEEPER = TextKeeper(
    "evaluations",
    "nothing of documents: figures by the ids of pairs",
    tables=("set_evaluations",),
    folders=(layout.EVALUATIONS,),
)
