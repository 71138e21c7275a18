"""Trustworthy Answers, Messier Data: tables 2, 3 (with 10), 5 and 7 (sections 4 to 6)."""

from __future__ import annotations

from argot.evaluate.experiments.experiment import Experiment, PaperColumn, PaperRow, Tuned, map_figures
from argot.profile import SwitchValue

PAPER = "Trustworthy Answers, Messier Data"
_DATA = "reports of vehicle crash tests and a textbook, questions generated from them; not public"
_DENSE: dict[str, SwitchValue] = {
    "search_keyword": False,
    "search_derived": False,
    "reformulate_query": False,
    "rerank": False,
}
_MAP = tuple(PaperColumn(f"map@{k}", f"MAP@{k}", measure) for k, measure in ((1, "map@1"), (5, "map@5"), (10, "map@10")))  # type: ignore[arg-type]  # fmt: skip  # noqa: E501

RETRIEVAL = Experiment(
    name="trustworthy-2",
    paper=PAPER,
    table="Table 2",
    about="Retrieval with and without headers before the chunks, and with a tuned embedder",
    form="beir",
    public="beir/emanuals_tv",
    columns=_MAP,
    profile=_DENSE,
    rows=(
        PaperRow(
            "BGE-Vanilla, Ver.0 (no header)",
            map_figures(_MAP, 0.1978, 0.2672, 0.2766),
            variant="without headers",
            needs_model=False,
        ),
        PaperRow("BGE-Vanilla, Ver.1 (header)", map_figures(_MAP, 0.2991, 0.3978, 0.4091), needs_model=False),
        PaperRow(
            "BGE-FT, Ver.1 (header)",
            map_figures(_MAP, 0.6048, 0.7111, 0.7175),
            tuned=("embedder",),
            needs_model=False,
        ),
    ),
    published_with=f"BGE-M3; {_DATA}",
    notes=(
        "Any folder in BEIR form; without --data the Samsung television manual. Its questions were not generated.",
        "Vanilla is the embedder set here (ARGOT_EMBEDDER). Titles and headings are the headers.",
    ),
)

_RANKED = (*_MAP, PaperColumn("hit@5", "Success@5", "hit@5"))


def _make_ranking_row(label: str, k: int, tuned: tuple[Tuned, ...], *values: float) -> PaperRow:
    return PaperRow(
        f"{label}, k={k}",
        map_figures(_RANKED, *values) if values else {},
        way="rerank",
        switches={"candidates": k, "rerank": True},
        tuned=tuned,
        needs_model=False,
    )


_TS_TCL = ((10, 0.6444, 0.7416, 0.7464, 0.8839), (20, 0.6362, 0.7353, 0.7413, 0.8822), (30, 0.6328, 0.7316, 0.7378, 0.8796))  # fmt: skip  # noqa: E501
_WITHOUT = ((10, 0.6349, 0.7341, 0.7394, 0.8801), (20, 0.6271, 0.7276, 0.7344, 0.8769), (30, 0.6237, 0.7243, 0.7314, 0.8748))  # fmt: skip  # noqa: E501

RANKING = Experiment(
    name="trustworthy-3",
    paper=PAPER,
    table="Table 3, with table 10",
    about="Re-ranking by how many chunks are retrieved, with and without TS+TCL",
    form="beir",
    public="beir/emanuals_tv",
    columns=_RANKED,
    profile=_DENSE,
    rows=(
        PaperRow("no re-ranker", needs_model=False),
        *(_make_ranking_row("Argot's reader", k, ()) for k in (10, 20, 30)),
        *(_make_ranking_row("re-ranker with TS+TCL", k, ("reranker",), *said) for k, *said in _TS_TCL),
        *(_make_ranking_row("re-ranker without TS+TCL", k, ("plain_reranker",), *said) for k, *said in _WITHOUT),
    ),
    published_with=f"a cross-encoder from the tuned BGE-M3, over its retrieval; {_DATA}",
    notes=("A question whose gold document was not retrieved counts as 0, as in the paper.",),
)

_ASPECTS = (
    PaperColumn("accuracy", "Correctness (1 to 5)"),
    PaperColumn("helpfulness", "Helpfulness (1 to 5)"),
    PaperColumn("informativeness", "Informativeness (1 to 5)"),
)

ASPECTS = Experiment(
    name="trustworthy-5",
    paper=PAPER,
    table="Table 5",
    about="Answers from memory and from passages, scored from 1 to 5 on three aspects",
    form="answers",
    public="ord_qa",
    columns=_ASPECTS,
    rows=(
        PaperRow("non-RAG", map_figures(_ASPECTS, 2.18, 2.52, 2.61), way="aspects", variant="closed book"),
        PaperRow("RAG", map_figures(_ASPECTS, 4.12, 4.19, 3.77), way="aspects"),
    ),
    published_with=f"a tuned Qwen 72B, judged by GPT-4o; {_DATA}",
    notes=(
        "The paper's generator is tuned on its questions; here it is the model given (a tuned one by --generator).",
        "Both answers are judged in one call, in random order.",
    ),
)

_MATCHED = (
    PaperColumn("segments", "Segments"),
    PaperColumn("precision", "Sentence-level precision"),
    PaperColumn("seconds", "Seconds an answer"),
)

MATCHING = Experiment(
    name="trustworthy-7",
    paper=PAPER,
    table="Table 7, with figure 10",
    about="Reference matching by the algorithm and by a model, on answers whose references people annotated",
    form="references",
    columns=_MATCHED,
    rows=(
        PaperRow(
            "matching algorithm, no threshold",
            map_figures(_MATCHED, 2.7, 0.72, 3.92),
            way="matching",
            variant="published 0",
            needs_model=False,
        ),
        PaperRow(
            "matching algorithm, threshold 0.5",
            {"precision": 0.86},
            way="matching",
            variant="published 0.5",
            needs_model=False,
        ),
        PaperRow("Argot's matching, no threshold", way="matching", variant="sum 0", needs_model=False),
        PaperRow("Argot's matching, threshold 0.5", way="matching", variant="sum 0.5", needs_model=False),
        PaperRow("LLM", map_figures(_MATCHED, 1.9, 0.81, 13.54), way="matching", variant="model"),
    ),
    published_with=f"a tuned re-ranker of 0.5B parameters and a tuned Qwen 72B; 100 annotated answers on {_DATA}",
    notes=(
        "Annotated answers are not public: give your own with --data FILE"
        " (evaluate/experiments/README.md has the form).",
        "Precision: of the sentences matched, those whose passage is among the annotated, averaged over answers.",
    ),
)

EXPERIMENTS = (RETRIEVAL, RANKING, ASPECTS, MATCHING)
