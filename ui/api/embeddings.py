"""`/v1/embeddings`: vectors of texts in the form of OpenAI's API."""

from __future__ import annotations

import base64
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.embeddings import MAX_TEXTS, TextKind, embed
from argot.ui.api.api_route import ApiRoute, cancel_on_hang_up
from argot.ui.api.completions import RequestRefusal, answer_refusal
from argot.ui.api.openapi import declare_errors, get_operation_id
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router

EMBEDDING_MODEL = "argot-embedder"


class EmbeddingOptions(BaseModel):
    """Options that OpenAI's API has no name for."""

    model_config = ConfigDict(extra="forbid")

    kind: TextKind = Field("passage", description="what the texts are; some models embed questions differently")


class EmbeddingRequest(BaseModel):
    """Texts to embed. Lists of tokens are not read: they are those of another model."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(EMBEDDING_MODEL, description="`argot-embedder`: the model of the knowledge base")
    input: str | list[str] | list[int] | list[list[int]]
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: int | None = Field(None, description="those of the model, or left out")
    argot: EmbeddingOptions | None = None


class Embedded(BaseModel):
    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Embeddings(BaseModel):
    object: Literal["list"]
    model: str
    data: list[Embedded]
    usage: dict[str, int]


def build_embedding_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(
        prefix="/v1", route_class=ApiRoute, generate_unique_id_function=get_operation_id, tags=["OpenAI-compatible"]
    )

    @router.post(
        "/embeddings",
        response_model=None,
        responses={200: {"model": Embeddings}, **declare_errors(400, 401, 404, 413, 415, 429, 503)},
    )
    @needs("asker", program=True)
    async def embeddings(request: Request, who: Who, given: EmbeddingRequest) -> Response:
        """Embed texts with the model of the knowledge base. `usage` is 0: no language model is called."""
        try:
            texts = _read_texts(given)
        except RequestRefusal as refusal:
            return answer_refusal(refusal)
        kind = given.argot.kind if given.argot else "passage"
        found = await cancel_on_hang_up(request, embed(kb, who.principal, texts=texts, kind=kind))
        if given.dimensions not in (None, found.dimensions):
            text = f"dimensions cannot be {given.dimensions}: the model has {found.dimensions}. Leave it out."
            return answer_refusal(RequestRefusal(text, "dimensions"))
        data = [
            {"object": "embedding", "index": place, "embedding": _encode(vector, given.encoding_format)}
            for place, vector in enumerate(found.vectors)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return JSONResponse({"object": "list", "model": given.model, "data": data, "usage": usage})

    return router


def _read_texts(body: EmbeddingRequest) -> list[str]:
    """Return the texts of a request.

    Raises:
        RequestRefusal: there is no such model, or the input is no text.
    """
    if body.model != EMBEDDING_MODEL:
        text = f"There is no model '{body.model[:80]}' for embeddings. Use '{EMBEDDING_MODEL}'."
        raise RequestRefusal(text, "model", 404, "model_not_found")
    texts = [body.input] if isinstance(body.input, str) else body.input
    if not texts or not all(isinstance(one, str) and one.strip() for one in texts):
        raise RequestRefusal("The input is no text, or holds an empty one. Send a text, or a list of texts.", "input")
    if len(texts) > MAX_TEXTS:
        raise RequestRefusal(f"The input has {len(texts)} texts. Send at most {MAX_TEXTS} at once.", "input")
    return [str(one) for one in texts]


def _encode(vector: list[float], form: str | None) -> list[float] | str:
    """Return a vector as numbers, or as those of 32 bits (little-endian) in base64, as OpenAI's client asks for."""
    if form != "base64":
        return vector
    import numpy as np

    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")
