"""The five public sets of AccurateRAG's table 2; a folder may hold some of them only.

hotpotqa/hotpot_dev_distractor_v1.json    as released: [{"_id", "question", "answer", "context": [[title, [...]], ...]}]
pubmedqa/ori_pqal.json, test_ground_truth.json    as released: abstracts, and the labels of the test part
apibench/api/SET_api.jsonl, apibench/questions/questions_SET_0_shot.jsonl, apibench/apibench/*_eval.json
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argot.corpus.corpus import Source
from argot.errors import InvalidInput
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.experiments.quiz_data import QuizQuestion
from argot.evaluate.markdown_sources import make_markdown_source
from argot.files import read_text
from argot.json_text import json_lines

DECISIONS = ("yes", "no", "maybe")
_EVALUATION_FILES = {"huggingface": "huggingface", "torchhub": "torchhub", "tensorflowhub": "tensorflow"}
BENCHMARKS = ("hotpotqa", "pubmedqa", *_EVALUATION_FILES)
_INSTRUCTION = re.compile(r"###\s*Instruction:\s*(.*?)\s*###\s*Output", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Benchmark:
    questions: Sequence[AnswerQuestion]
    sources: Sequence[Source]
    quiz: Sequence[QuizQuestion] = ()


def load_benchmarks(folder: Path) -> dict[str, Benchmark]:
    """Load the benchmarks in the folder, by name.

    Raises:
        InvalidInput: the folder has none, or one is malformed.
    """
    readers: dict[str, tuple[Path, Callable[[Path], Benchmark]]] = {
        "hotpotqa": (folder / "hotpotqa" / "hotpot_dev_distractor_v1.json", _read_hotpotqa),
        "pubmedqa": (folder / "pubmedqa" / "ori_pqal.json", _read_pubmedqa),
        **{
            name: (folder / "apibench" / "api" / f"{name}_api.jsonl", _make_api_reader(name))
            for name in _EVALUATION_FILES
        },
    }
    found = {name: read(path) for name, (path, read) in readers.items() if path.is_file()}
    if not found:
        looked = ", ".join(str(path.relative_to(folder)) for path, _ in readers.values())
        raise InvalidInput(f"{folder} holds none of the sets. Looked for: {looked}.")
    return found


def _read_hotpotqa(path: Path) -> Benchmark:
    questions, sources = [], dict[str, Source]()
    for row in _load_json(path):
        _require(row, path, "_id", "question", "answer", "context")
        questions.append(AnswerQuestion(row["_id"], "hotpotqa", row["question"], (), row["answer"]))
        for title, sentences in row["context"]:
            name = f"{_make_file_name(title)}.md"
            sources.setdefault(name, make_markdown_source("hotpotqa", name, title, "".join(sentences)))
    return Benchmark(questions, list(sources.values()))


def _read_pubmedqa(path: Path) -> Benchmark:
    rows, labels = _load_json(path), path.with_name("test_ground_truth.json")
    decided: dict[str, str] = (
        _load_json(labels) if labels.is_file() else {key: one["final_decision"] for key, one in rows.items()}
    )
    quiz, sources = [], []
    for key, row in rows.items():
        _require(row, path, "QUESTION", "CONTEXTS")
        sources.append(make_markdown_source("pubmedqa", f"{key}.md", "", "\n\n".join(row["CONTEXTS"])))
        if key in decided:
            if decided[key] not in DECISIONS:
                raise InvalidInput(f"{labels}: {key} is {decided[key]!r}, and not {' or '.join(DECISIONS)}.")
            quiz.append(QuizQuestion(row["QUESTION"], DECISIONS, DECISIONS.index(decided[key]), ""))
    return Benchmark((), sources, quiz)


def _make_api_reader(name: str) -> Callable[[Path], Benchmark]:
    def read_bench(path: Path) -> Benchmark:
        sources = []
        for number, row in json_lines(path):
            _require(row, path, "api_call")
            about = "\n\n".join(
                f"{key}: {row[key]}" for key in ("domain", "functionality", "description") if row.get(key)
            )
            text = f"{about}\n\n```python\n{row['api_call']}\n```"
            sources.append(make_markdown_source(name, f"{name}-{number}.md", str(row.get("api_name", "")), text))
        return Benchmark(_load_api_questions(path.parents[1], name), sources)

    return read_bench


def _load_api_questions(folder: Path, name: str) -> list[AnswerQuestion]:
    path = folder / "apibench" / f"{_EVALUATION_FILES[name]}_eval.json"
    questions = []
    for number, row in json_lines(path):
        _require(row, path, "code", "api_call")
        asked = _INSTRUCTION.search(row["code"])
        if asked:
            questions.append(AnswerQuestion(f"{name}{number}", name, asked[1], (), row["api_call"]))
    if not questions:
        raise InvalidInput(f"{path} holds no question: 'code' begins with '###Instruction: ... ###Output'.")
    return questions


def _require(row: Any, path: Path, *names: str) -> None:
    missing = [name for name in names if name not in row] if isinstance(row, dict) else list(names)
    if missing:
        raise InvalidInput(f"{path}: an entry lacks {', '.join(missing)}.")


def _make_file_name(title: str) -> str:
    return re.sub(r"[^\w .()-]", "-", title)


def _load_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON: {error}.") from error
