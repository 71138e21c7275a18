"""A LangChain retriever that finds passages with Argot, which understands the question's jargon.

from argot.ui.api.retriever import ArgotRetriever

retriever = ArgotRetriever(url="https://argot.example.com", key="argot_...")
retriever = ArgotRetriever(home="kb")               # a knowledge base on this machine, without a service
documents = retriever.invoke("How much die area does PUC save?")
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, model_validator

from argot.errors import InvalidSettings
from argot.ui.api.http_client import RemoteClient

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun

    from argot.service.transport.background_base import BackgroundClient


class ArgotRetriever(BaseRetriever):
    """A LangChain retriever that finds the passages that answer a question best.

    The metadata of each document: `source` (URI), `document` (name), `page`, `heading`, `passage_id`, `score` (higher
    is better), `rank` from 1, and `jargon`: how the question's terms were understood.

    With `url` and `key` it asks a service, on behalf of the key's owner. With `home` it opens a knowledge base on this
    machine, or goes through the service that has it open, on behalf of `as_user`; without a user, of the person at this
    machine, who may read everything.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    url: str = ""
    key: SecretStr = SecretStr("")
    home: Path | None = None
    as_user: str | None = None
    k: int = Field(5, ge=1, le=100, description="maximum number of passages")
    context: str | None = Field(None, description="the asker's own context, which settles ambiguous terms")
    # Not named `tags`: that is LangChain's own field, for tracing.
    document_tags: list[str] | None = Field(None, description="only documents that carry one of these tags")
    _client: RemoteClient | BackgroundClient | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _check_source(self) -> ArgotRetriever:
        if bool(self.url) == (self.home is not None):
            raise ValueError("Give either url and key, or home.")
        return self

    def close(self) -> None:
        """Close the knowledge base. The next question opens it again."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return _make_documents(self._connect().call("search", **self._build_parameters(query)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _make_documents(await self._connect().acall("search", **self._build_parameters(query)))

    def _build_parameters(self, query: str) -> dict[str, Any]:
        return {"query": query, "limit": self.k, "context": self.context, "tags": self.document_tags}

    def _connect(self) -> RemoteClient | BackgroundClient:
        # Opened by the first question: opening a knowledge base loads the embedding model.
        if self._client is None:
            self._client = self._connect_remote() if self.url else self._open_local()
        return self._client

    def _connect_remote(self) -> RemoteClient:
        return RemoteClient(self.url, self.key.get_secret_value())

    def _open_local(self) -> BackgroundClient:
        from argot.service.transport.background_base import BackgroundClient
        from argot.settings import load_settings

        if self.home is None:
            raise InvalidSettings("Give either url and key, or home.")
        settings = load_settings(home=self.home)
        return BackgroundClient(settings.home, settings, self.as_user)


def _make_documents(found: Mapping[str, Any]) -> list[Document]:
    jargon = [{name: one[name] for name in ("term", "expansion", "context")} for one in found["jargon"]]
    return [
        Document(
            id=one["passage_id"],
            page_content=one["text"],
            metadata={
                "source": one["uri"],
                **{name: one[name] for name in ("document", "page", "heading", "passage_id", "score")},
                "rank": rank,
                "jargon": jargon,
            },
        )
        for rank, one in enumerate(found["passages"], 1)
    ]
