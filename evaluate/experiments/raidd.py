"""RAIDD, tables 1 to 3 (section 3), on the long-dependency questions of LooGLE."""

from __future__ import annotations

from argot.evaluate.experiments.experiment import Experiment, Measure, PaperColumn, PaperRow, Way, map_figures
from argot.profile import SEARCHES, SwitchValue
from argot.types import DerivableKind, SearchChoice

PAPER = "RAIDD"
_COLUMNS = (
    PaperColumn("accuracy", "Accuracy", "accurate"),
    PaperColumn("rouge-1", "ROUGE-1", "rouge-1"),
    PaperColumn("rouge-l", "ROUGE-L", "rouge-l"),
)
_PLAIN: dict[str, SwitchValue] = {
    "search_keyword": False,
    "rerank": False,
    "reformulate_query": False,
    # RAIDD has one index: a chunk is where the nearest of its texts is (2.2).
    "one_index": True,
    # Several questions lead to one chunk, so that more texts than chunks have to be found.
    "candidates": 500,
}
_CHARS_PER_TOKEN = 6
"""Characters per token, an upper bound for English, so that no passage is cut before its chunk ends."""
CHUNKS = {64: (10, 32), 128: (25, 16), 256: (50, 8), 512: (100, 4), 1024: (200, 2), 2048: (400, 1)}
"""Tokens of a chunk -> the tokens that it shares with the next, and the number of chunks retrieved."""
_KINDS: dict[SearchChoice, tuple[DerivableKind, ...]] = {
    "passages": (), "S": ("summary",), "S+": ("summary",), "Q": ("question",), "Q+": ("question",),
    "SQ": ("summary", "question"), "U": ("summary", "question"),
}  # fmt: skip


def _make_row(
    label: str, search: SearchChoice, paper: dict[str, float], tokens: int = 256, way: Way = "ask"
) -> PaperRow:
    retrieved = CHUNKS[tokens][1]
    return PaperRow(
        label,
        paper,
        way=way,
        switches={
            **SEARCHES[search],
            "passages": retrieved,
            "passages_for_model": retrieved,
            "passages_for_answer": retrieved,
        },
        settings={"passage_chars": max(400, _CHARS_PER_TOKEN * tokens + 200)},
        variant=f"{tokens}/{CHUNKS[tokens][0]}",
        derive=_KINDS[search],
        needs_model=search != "passages" or way != "ask",
    )


_VALIDATION: dict[SearchChoice, tuple[tuple[float, float, float], ...]] = {
    "passages": (
        (0.43, 0.216, 0.174), (0.46, 0.209, 0.167), (0.48, 0.249, 0.206), (0.48, 0.223, 0.189), (0.39, 0.212, 0.167),
        (0.35, 0.191, 0.152),
    ),
    "S": (
        (0.48, 0.214, 0.171), (0.41, 0.204, 0.167), (0.49, 0.230, 0.183), (0.43, 0.224, 0.178), (0.31, 0.205, 0.178),
        (0.31, 0.201, 0.163),
    ),
    "Q": (
        (0.46, 0.217, 0.173), (0.46, 0.222, 0.180), (0.44, 0.269, 0.208), (0.46, 0.218, 0.180), (0.44, 0.201, 0.167),
        (0.39, 0.203, 0.164),
    ),
    "U": (
        (0.47, 0.220, 0.181), (0.46, 0.214, 0.172), (0.52, 0.254, 0.207), (0.45, 0.225, 0.182), (0.46, 0.209, 0.171),
        (0.36, 0.203, 0.163),
    ),
}  # fmt: skip
_NAMES: dict[SearchChoice, str] = {
    "passages": "Baseline", "S": "RAIDD-S", "S+": "RAIDD-S+", "Q": "RAIDD-Q", "Q+": "RAIDD-Q+", "U": "RAIDD-U",
}  # fmt: skip
_WITH = (
    "Mistral Large (answers), Mixtral-8x7B (derived texts), text-embedding-ada-002, judged by GPT-4; "
    "LooGLE's long-dependency questions"
)
_PUBLIC_NOTES = ("The 100 LooGLE questions given are one set; the paper has 100 for validation and 100 for test.",)
_NOTES = (
    "Chunks of 256 tokens are those given. For other sizes documents are cut anew, a token being 3/4 of a word.",
    "The prompt also has each chunk's number in its document as a heading.",
    "32 questions for 1,024 tokens are counted by characters: 7 for a chunk of 256 tokens, where the paper has 8.",
    "Accuracy is decided by the judge, with the prompt of 2.3; without a model its column stays empty.",
)

VALIDATION = Experiment(
    name="raidd-1",
    paper=PAPER,
    table="Table 1",
    about="Derived texts by the size of chunks: baseline, S, Q and U",
    form="raidd",
    public="raidd_loogle",
    columns=_COLUMNS,
    profile=_PLAIN,
    rows=tuple(
        _make_row(f"{_NAMES[search]} {tokens}, k={CHUNKS[tokens][1]}", search, map_figures(_COLUMNS, *said), tokens)
        for search, rows in _VALIDATION.items()
        for tokens, said in zip(CHUNKS, rows, strict=True)
    ),
    published_with=_WITH,
    notes=_NOTES,
    public_notes=_PUBLIC_NOTES,
)  # fmt: skip

_TEST: dict[SearchChoice, tuple[float, float, float]] = {
    "passages": (0.48, 0.19291, 0.16160),
    "S": (0.50, 0.20814, 0.17116),
    "S+": (0.49, 0.20561, 0.16612),
    "Q": (0.52, 0.19178, 0.16424),
    "Q+": (0.46, 0.22677, 0.18130),
    "U": (0.48, 0.19130, 0.15976),
}

TEST = Experiment(
    name="raidd-2",
    paper=PAPER,
    table="Table 2",
    about="Every flavour of derived texts, chunks of 256 tokens",
    form="raidd",
    public="raidd_loogle",
    columns=_COLUMNS,
    profile=_PLAIN,
    rows=tuple(_make_row(_NAMES[search], search, map_figures(_COLUMNS, *said)) for search, said in _TEST.items()),
    published_with=_WITH,
    notes=_NOTES,
    public_notes=_PUBLIC_NOTES,
)

TASKS = ("timeline reorder", "multiple information retrieval", "comprehension and reasoning", "computation")
_OF_TASK: tuple[tuple[str, str, Measure], ...] = (
    ("accuracy", "Accuracy", "accurate"),
    ("CP-CCR", "CP-CCR", "found_if_accurate"),
    ("IP-CCR", "IP-CCR", "found_if_inaccurate"),
)
_BY_TASK = tuple(
    PaperColumn(f"{key} {task}".strip(), f"{title}{', ' if task else ''}{task}", measure, task, percent=True)
    for task in ("", *TASKS)
    for key, title, measure in _OF_TASK
)  # fmt: skip


def _make_task_row(label: str, search: SearchChoice, *percent: float, way: Way = "ask") -> PaperRow:
    """Make a row with the numbers as the paper prints them: accuracy of the four tasks, CP-CCR and IP-CCR, in
    percent.
    """
    accuracy, correct, incorrect = percent[:4], percent[4:8], percent[8:]
    paper = {
        f"{key} {task}": value / 100
        for key, values in (("accuracy", accuracy), ("CP-CCR", correct), ("IP-CCR", incorrect))
        for task, value in zip(TASKS if percent else (), values, strict=True)
    }
    return _make_row(label, search, paper, way=way)


PER_TASK = Experiment(
    name="raidd-3",
    paper=PAPER,
    table="Table 3",
    about="By task: accuracy, and whether the right chunk was retrieved for right (CP-CCR) and wrong answers (IP-CCR)",
    form="raidd",
    public="raidd_loogle",
    columns=_BY_TASK,
    profile=_PLAIN,
    rows=(
        _make_task_row("Baseline", "passages", 30.77, 40, 57.14, 58.82, 75, 35.71, 60, 100, 77.78, 42.86, 26.67, 42.86),
        _make_task_row("RAIDD-Q", "Q", 30.77, 31.43, 60, 47.06, 75, 18.18, 57.14, 87.5, 33.33, 41.67, 14.29, 33.33),
        _make_task_row("RAIDD-Q+", "Q+", 38.46, 37.14, 51.43, 52.94, 80, 46.15, 61.11, 88.89, 75, 31.82, 17.65, 50),
        _make_task_row(
            "RAIDD-S ICL", "S", 23.08, 11.43, 22.86, 5.88, 33.33, 25, 75, 100, 70, 35.48, 33.33, 75, way="s-icl"
        ),
        _make_task_row("RAIDD-S ICL, scored by the judge", "S", way="s-icl by judge"),
        _make_task_row("RAIDD-S", "S", 23.08, 45.71, 62.86, 47.06, 66.67, 43.75, 54.55, 100, 60, 26.32, 23.08, 55.56),
        _make_task_row("RAIDD-S+", "S+", 38.46, 45.71, 62.86, 58.82, 80, 43.75, 63.64, 100, 62.5, 36.84, 23.08, 42.86),
        _make_task_row("RAIDD-U", "U", 46.15, 42.86, 62.86, 52.94, 83.33, 40, 50, 88.89, 57.14, 35, 23.08, 50),
    ),
    published_with=_WITH,
    notes=(
        *_NOTES,
        "S-ICL: the model scores its own answers, before it sees the true ones; the paper's after that. Later prompts "
        "have 4 of the best and 4 of the worst, each with the true answer; the paper names no number. One pass over "
        "the questions.",
    ),
    public_notes=_PUBLIC_NOTES,
)

EXPERIMENTS = (VALIDATION, TEST, PER_TASK)
