"""Trustworthy Answers, Messier Data: tables 2 to 5, 7 and 10, and figures 3 and 10 (sections 4 to 6)."""

from __future__ import annotations

from dataclasses import replace

from argot.evaluate.experiments.experiment import (
    ALONE_NOTE,
    Experiment,
    PaperColumn,
    PaperRow,
    TunedPart,
    map_figures,
)
from argot.evaluate.reference_precision import THRESHOLDS
from argot.profile import SwitchValue

PAPER = "Trustworthy Answers, Messier Data"
_DATA = "reports of vehicle crash tests and a textbook, questions generated from them; not public"
MULTIMODAL = "multimodal"
_STAND_IN = (
    "The Samsung television manual is used instead. Its questions were asked by people, and not generated from it.",
)
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
    public_notes=_STAND_IN,
    notes=("Vanilla is the embedder set here (ARGOT_EMBEDDER). Titles and headings are the headers.",),
)

_RANKED = (*_MAP, PaperColumn("hit@5", "Success@5", "hit@5"))


def _make_ranking_row(label: str, k: int, tuned: tuple[TunedPart, ...], *values: float) -> PaperRow:
    return PaperRow(
        f"{label}, k={k}",
        map_figures(_RANKED, *values) if values else {},
        way="rerank",
        # Of a tuned one, its score alone orders, as in the paper: mixed with the search's, all would look alike.
        switches={"candidates": k, "rerank": True, **({"rerank_weight": 1.0} if tuned else {})},
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
    public_notes=_STAND_IN,
    notes=(
        "A question whose gold document was not retrieved counts as 0, as in the paper.",
        "A tuned re-ranker orders by its score alone, as in the paper (rerank_weight=1). The service mixes it with the "
        "search's score (0.57 parts of it), and Argot's reader reads what words and search put first.",
        "TS+TCL, as 'argot learn reranker' trains it: the control layer reads the selected tokens' states in the whole "
        "pair, as RRADistill does; the paper's equations read question and selected tokens again (term_control=false).",
    ),
)

_SUCCESS = (PaperColumn("found", "Success of the n retrieved", "found"), PaperColumn("map@5", "MAP@5", "map@5"))

SUCCESS = Experiment(
    name="trustworthy-figure-3",
    paper=PAPER,
    table="Figure 3",
    about="How many chunks are retrieved: whether the right one is among them, and how well they are re-ranked",
    form="beir",
    public="beir/emanuals_tv",
    columns=_SUCCESS,
    profile=_DENSE,
    rows=(
        *(_make_ranking_row("Argot's reader", n, ()) for n in (10, 20, 30)),
        *(
            replace(_make_ranking_row("tuned re-ranker", n, ("reranker",)), paper=paper)
            for n, paper in ((10, {"found": 0.92, "map@5": 0.74}), (20, {}), (30, {"found": 0.96, "map@5": 0.73}))
        ),
    ),
    published_with=f"a cross-encoder from the tuned BGE-M3, over its retrieval; {_DATA}",
    public_notes=_STAND_IN,
    notes=(
        "The paper prints a plot; its text gives the figures at 10 and 30.",
        "A tuned re-ranker orders by its score alone, as in the paper (rerank_weight=1).",
    ),
)

_OF_IMAGES = tuple(replace(column, task=MULTIMODAL, title=f"{column.title}, multi-modal") for column in _MAP)
_OTHERS = tuple(replace(column, key=f"all {column.key}", title=f"{column.title}, all questions") for column in _MAP)

MULTIMODAL_QUESTIONS = Experiment(
    name="trustworthy-4",
    paper=PAPER,
    table="Table 4",
    about="Retrieval and re-ranking of questions about tables, graphs and images, beside all questions",
    form="answers",
    columns=(*_OF_IMAGES, *_OTHERS),
    profile=_DENSE,
    rows=(
        PaperRow(
            "retrieval",
            map_figures(_OF_IMAGES, 0.3482, 0.4561, 0.4684),
            takes=("embedder",),
            switches={"generate_answer": False},
            needs_model=False,
        ),
        *(_make_ranking_row("Argot's reader", k, ()) for k in (10, 20, 30)),
        *(
            replace(
                _make_ranking_row("tuned re-ranker", k, ("reranker",)),
                paper=map_figures(_OF_IMAGES, *said),
                takes=("embedder",),
            )
            for k, *said in ((10, 0.4723, 0.5587, 0.5630), (20, 0.4949, 0.5923, 0.5995), (30, 0.4933, 0.5965, 0.6041))
        ),
    ),
    published_with=f"tuned BGE-M3 and re-ranker; 1,861 questions about 143 multi-modal chunks of {_DATA}",
    notes=(
        f'Questions about tables, graphs and images are those whose "kind" in questions.jsonl is "{MULTIMODAL}".',
        "A tuned re-ranker orders by its score alone, as in the paper (rerank_weight=1). Retrieval is by the "
        "embedder set here, or by a tuned one (--embedder).",
    ),
)

_ASPECTS = (
    PaperColumn("accuracy", "Correctness (1 to 5)"),
    PaperColumn("helpfulness", "Helpfulness (1 to 5)"),
    PaperColumn("informativeness", "Informativeness (1 to 5)"),
)

ASPECTS = Experiment(
    name="trustworthy-5",
    paper=PAPER,
    table="Table 5, with table 11 and figure 7",
    about="Answers from memory and from passages, scored from 1 to 5 on three aspects",
    form="answers",
    public="ord_qa",
    columns=_ASPECTS,
    rows=(
        PaperRow(
            "non-RAG",
            map_figures(_ASPECTS, 2.18, 2.52, 2.61),
            way="aspects",
            variant="closed book",
            takes=("generator",),
        ),
        PaperRow("RAG", map_figures(_ASPECTS, 4.12, 4.19, 3.77), way="aspects", takes=("generator",)),
    ),
    published_with=f"a tuned Qwen 72B, judged by GPT-4o; {_DATA}",
    notes=(
        "The paper's generator is tuned on its questions; here it is the model given (a tuned one by --generator).",
        "Both answers are judged in one call, in random order.",
        "The row RAG is Argot's default profile, with glossary and re-ranker; the paper's is k passages and the model.",
        ALONE_NOTE,
    ),
)

_MATCHED = (
    PaperColumn("segments", "Segments"),
    PaperColumn("precision", "Sentence-level precision"),
    PaperColumn("kept_precision", "of the sentences with a reference"),
    PaperColumn("kept", "Sentences with a reference", percent=True),
    PaperColumn("seconds", "Seconds an answer"),
)


def _make_matching_row(label: str, variant: str, paper: dict[str, float]) -> PaperRow:
    return PaperRow(label, paper, way="matching", variant=variant, takes=("reranker",), needs_model=False)


_ANNOTATED_BY_PEOPLE = (
    "Annotated answers are not public: give your own with --data FILE (evaluate/experiments/README.md has the form)."
)
_ALGORITHM = (
    "The paper's algorithm: Algorithm 1 alone, scored by the re-ranker in use: --reranker FOLDER, else ARGOT_RERANKER."
)
_MATCHING_WITH = f"a tuned re-ranker of 0.5B parameters and a tuned Qwen 72B; 100 annotated answers on {_DATA}"

MATCHING = Experiment(
    name="trustworthy-7",
    paper=PAPER,
    table="Table 7",
    about="Reference matching by the algorithm and by a model, on answers whose references people annotated",
    form="references",
    columns=_MATCHED,
    rows=(
        _make_matching_row(
            "matching algorithm, no threshold", "paper 0", {"segments": 2.7, "precision": 0.72, "seconds": 3.92}
        ),
        # Of the sentences that keep a reference: over all of them, a threshold could only lower it.
        _make_matching_row("matching algorithm, threshold 0.5", "paper 0.5", {"kept_precision": 0.86}),
        PaperRow("Argot's matching, no threshold", way="matching", variant="sum 0", needs_model=False),
        PaperRow("Argot's matching, threshold 0.5", way="matching", variant="sum 0.5", needs_model=False),
        PaperRow("LLM", {"segments": 1.9, "precision": 0.81, "seconds": 13.54}, way="matching", variant="model"),
    ),
    published_with=_MATCHING_WITH,
    notes=(
        _ANNOTATED_BY_PEOPLE,
        _ALGORITHM,
        "Argot's matching scores words, without the re-ranker, and leaves out what the passage contradicts.",
        "Segments may be single sentences, as in the example below the paper's listing. The model may name no passage.",
        "Precision: of all sentences, those whose passage is among the annotated, averaged over answers.",
    ),
)

_SCORES = (
    PaperColumn("near", "Sentences with such a score", percent=True),
    PaperColumn("kept_precision", "Precision of those at or above it"),
    PaperColumn("kept", "Sentences at or above it", percent=True),
)

SCORES = Experiment(
    name="trustworthy-figure-10",
    paper=PAPER,
    table="Figure 10",
    about="The matching scores of the algorithm: their distribution, and precision by threshold",
    form="references",
    columns=_SCORES,
    rows=tuple(
        _make_matching_row(
            f"score {threshold}", f"paper {threshold}", {"kept_precision": 0.86} if threshold == 0.5 else {}
        )
        for threshold in THRESHOLDS
    ),
    published_with=_MATCHING_WITH,
    notes=(_ANNOTATED_BY_PEOPLE, _ALGORITHM, "The paper prints a plot; its text gives the precision at 0.5."),
)

EXPERIMENTS = (RETRIEVAL, RANKING, SUCCESS, MULTIMODAL_QUESTIONS, ASPECTS, MATCHING, SCORES)
