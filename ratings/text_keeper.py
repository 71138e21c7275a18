"""The rating studies as a keeper of documents' text."""

from __future__ import annotations

from argot.ratings.store.rating_store import RatingStore
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.text_keepers import Erasure, TextKeeper
from argot.service.storage import home_folder as layout


async def _erase_studies(kb: KnowledgeBase, erasure: Erasure) -> None:
    if await kb.blocking(kb.stores.holds, "ratings"):
        store = kb.open_store(RatingStore)
        await kb.blocking(store.erase_documents, erasure.documents.addresses, erasure.is_quoted)


KEEPER = TextKeeper(
    "rating studies",
    "answers and passages that people judge",
    tables=("answers", "items", "raters", "ratings", "studies"),
    folders=(layout.RATINGS,),
    erase=_erase_studies,
)
