"""The application to compare with: a minimal one for the same task, with LangGraph, Chroma and server-sent events.

    ARGOT_MODEL_URL=http://HOST:PORT/v1 python bench/minimal_app.py --documents DIR --store DIR [--port 0]

Two nodes (retrieve, generate), checkpoints in SQLite, one streamed answer, the same embedding model and the same
documents as Argot; no glossary, no keyword search, no re-ranking, no access rights, no check of citations. Documents
posted to `/add` are ingested in a worker thread, as is usual. The protocol of `/ask` is that of Argot's `/api/ask`, as
far as a load test needs it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypedDict

PASSAGE_CHARS = 1200
PASSAGES = 5
SYSTEM = "Answer the question from the passages below, in a few sentences, and cite passages as [1], [2]."


class State(TypedDict, total=False):
    question: str
    passages: list[str]
    answer: str
    turns: list[dict[str, str]]


class Index:
    """Chroma with Argot's embedder; passages are paragraphs joined up to a maximum length."""

    def __init__(self, store: Path) -> None:
        import chromadb

        from argot.corpus.embedding.embedder import load_embedder
        from argot.settings import Settings

        self.embedder = load_embedder(Settings())
        client = chromadb.PersistentClient(str(store), chromadb.Settings(anonymized_telemetry=False))
        self.collection = client.get_or_create_collection("passages", embedding_function=None)

    def add(self, name: str, text: str) -> int:
        passages = cut_passages(text)
        if passages:
            vectors = self.embedder.embed_passages(passages)
            ids = [f"{name}#{number}" for number in range(len(passages))]
            self.collection.upsert(ids=ids, embeddings=list(vectors), documents=passages)
        return len(passages)

    def search(self, question: str) -> list[str]:
        vector = self.embedder.embed_passages([question])[0]
        found: Any = self.collection.query(query_embeddings=[vector], n_results=PASSAGES)
        return list(found["documents"][0])


def cut_passages(text: str) -> list[str]:
    passages = [""]
    for paragraph in filter(None, (part.strip() for part in text.split("\n\n"))):
        if passages[-1] and len(passages[-1]) + len(paragraph) > PASSAGE_CHARS:
            passages.append("")
        passages[-1] = f"{passages[-1]}\n\n{paragraph}".strip()
    return [passage for passage in passages if passage]


def build_graph(index: Index, saver: Any) -> Any:
    from langchain_openai import ChatOpenAI
    from langgraph.graph import END, START, StateGraph

    model = ChatOpenAI(base_url=os.environ["ARGOT_MODEL_URL"], api_key="none", model="stub", streaming=True)  # type: ignore[arg-type]

    async def retrieve(state: State) -> State:
        return {"passages": await asyncio.to_thread(index.search, state["question"])}

    async def generate(state: State) -> State:
        passages = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(state["passages"], 1))
        turns = [(role, turn[role]) for turn in state.get("turns", [])[-3:] for role in ("user", "assistant")]
        said = await model.ainvoke([("system", SYSTEM), *turns, ("user", f"{passages}\n\n{state['question']}")])
        answer = str(said.content)
        turn = {"user": state["question"], "assistant": answer}
        return {"answer": answer, "turns": [*state.get("turns", []), turn]}

    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("generate", generate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "generate")
    graph.add_edge("generate", END)
    return graph.compile(checkpointer=saver)


def build_app(index: Index, store: Path, ready: Callable[[], None]) -> Any:
    from fastapi import FastAPI
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from starlette.requests import Request
    from starlette.responses import JSONResponse, StreamingResponse

    graphs: list[Any] = []

    @asynccontextmanager
    async def run_lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncSqliteSaver.from_conn_string(str(store / "threads.db")) as saver:
            graphs.append(build_graph(index, saver))
            ready()
            yield

    app = FastAPI(lifespan=run_lifespan)

    async def ask(request: Request) -> StreamingResponse:
        asked = await request.json()
        thread = asked.get("thread") or f"t{os.urandom(8).hex()}"

        async def stream_events() -> AsyncIterator[str]:
            config = {"configurable": {"thread_id": thread}}
            async for piece, _ in graphs[0].astream({"question": asked["question"]}, config, stream_mode="messages"):
                if piece.content:
                    yield _format_event("token", {"text": piece.content})
            yield _format_event(
                "result", {"status": "answered", "thread": thread, "model_calls": [{"prompt": "answer"}]}
            )

        return StreamingResponse(stream_events(), media_type="text/event-stream")

    async def add(request: Request) -> JSONResponse:
        given = await request.json()
        return JSONResponse({"passages": await asyncio.to_thread(index.add, given["name"], given["text"])})

    app.add_route("/api/ask", ask, methods=["POST"])
    app.add_route("/add", add, methods=["POST"])
    return app


def _format_event(kind: str, data: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"


def main() -> None:
    import uvicorn

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    arguments.store.mkdir(parents=True, exist_ok=True)
    index = Index(arguments.store)
    for path in sorted(arguments.documents.rglob("*.md")):
        index.add(path.name, path.read_text("utf-8"))
    index.search("warm")
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", arguments.port))
        listener.listen(128)  # connections made before the server accepts wait, and are not refused
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = build_app(index, arguments.store, lambda: print(f"is open at {url} ", file=sys.stderr, flush=True))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        asyncio.run(server.serve(sockets=[listener]))


if __name__ == "__main__":
    main()
