"""KaPQA, tables 3 to 5 and figures 2 to 7 (sections 6 and 7)."""

from __future__ import annotations

from argot.evaluate.experiments.experiment import Experiment, PaperColumn, PaperRow, map_figures
from argot.profile import SwitchValue
from argot.types import DerivableKind

PAPER = "KaPQA"
_COLUMNS = (
    PaperColumn("hit@3", "Hit rate (top 3)", "hit@3", percent=True),
    PaperColumn("rouge-l", "ROUGE-L", "rouge-l"),
    PaperColumn("bertscore", "BERTScore", "bertscore"),
    PaperColumn("geval", "G-Eval", "geval"),
)
_PLAIN: dict[str, SwitchValue] = {
    "rerank": False,
    "search_derived": False,
    "spare_model": False,
    "triples_in_one_call": False,
    "enhanced_replaces": True,
    "passages_for_model": 3,
    "passages_for_answer": 3,
}
"""The retrieval's order counts without re-ranking, no model call is spared, and three documents are passed on (6.1)."""
_DENSE: dict[str, SwitchValue] = {"search_keyword": False}
_NO_REFORMULATION: dict[str, SwitchValue] = {"reformulate_query": False}


def _make_bm25_row(*values: float) -> PaperRow:
    switches = {"search_semantic": False, **_NO_REFORMULATION}
    return PaperRow("BM25", map_figures(_COLUMNS, *values), switches=switches, needs_model=False)


def _make_dpr_row(*values: float) -> PaperRow:
    switches = {**_DENSE, **_NO_REFORMULATION}
    return PaperRow("DPR", map_figures(_COLUMNS, *values), switches=switches, needs_model=False)


def _make_triples_row(*values: float) -> PaperRow:
    label = "augmentation with domain-specific triples"
    return PaperRow(label, map_figures(_COLUMNS, *values), switches=_DENSE, derive=("triple",))


def _make_general_row(*values: float) -> PaperRow:
    label = "via general purpose LLM"
    return PaperRow(label, map_figures(_COLUMNS, *values), switches={**_DENSE, "use_triples": False})


def _make_unclassified_row(*values: float) -> PaperRow:
    switches = {**_DENSE, "classify_triples": False}
    return PaperRow(
        "w/o triple relevance classifier", map_figures(_COLUMNS, *values), switches=switches, derive=("triple",)
    )


_ORACLE = PaperRow(
    "oracle: triples of the gold documents",
    map_figures(_COLUMNS, 0.807, 0.455, 0.870, 0.649),
    way="oracle",
    switches=_DENSE,
    derive=("triple",),
    note="The triples come from the gold documents, so it is an upper bound and no system.",
)
_MODELS = "GPT-3.5 0301, judged by GPT-4 0314, DPR retrieval"
_STAND_IN = (
    "The set is not public; the Samsung television manual (emanuals) is used instead, which has how-to questions, too.",
)
_NOTES = (
    "DPR: semantic search with the embedder set here. The model gets the best three passages.",
    "A document is found if any of its passages is; the paper's are sections of web pages, without pictures and links.",
    "G-Eval (1 to 5) is shown from 0 to 1. Without a model answers are quotations, and the judge's column stays empty.",
)

ACROBAT = Experiment(
    name="kapqa-3",
    paper=PAPER,
    table="Table 3",
    about="Query reformulation with triples, its ablations and its oracle, on how-to questions (Acrobat)",
    form="answers",
    public="emanuals",
    columns=_COLUMNS,
    profile=_PLAIN,
    rows=(
        _make_bm25_row(0.412, 0.301, 0.835, 0.412),
        _make_dpr_row(0.736, 0.409, 0.859, 0.574),
        _make_triples_row(0.747, 0.416, 0.860, 0.578),
        _make_general_row(0.702, 0.393, 0.855, 0.562),
        _make_unclassified_row(0.657, 0.385, 0.852, 0.557),
        _ORACLE,
    ),
    published_with=f"{_MODELS}; Adobe Acrobat questions, which are not public",
    notes=_NOTES,
    public_notes=_STAND_IN,
)

PHOTOSHOP = Experiment(
    name="kapqa-4",
    paper=PAPER,
    table="Table 4",
    about="The same on well-formed, synthetic questions (Photoshop)",
    form="answers",
    public="emanuals",
    columns=_COLUMNS,
    profile=_PLAIN,
    rows=(
        _make_bm25_row(0.7917, 0.336, 0.822, 0.494),
        _make_dpr_row(0.9270, 0.470, 0.879, 0.828),
        _make_triples_row(0.9270, 0.480, 0.880, 0.776),
        _make_general_row(0.8333, 0.406, 0.859, 0.692),
        _make_unclassified_row(0.9167, 0.447, 0.873, 0.755),
    ),
    published_with=f"{_MODELS}; synthetic Photoshop questions, which are not public",
    notes=_NOTES,
    public_notes=_STAND_IN,
)

_NDCG = (PaperColumn("ndcg@10", "NDCG", "ndcg@10"),)

NDCG = Experiment(
    name="kapqa-5",
    paper=PAPER,
    table="Table 5",
    about="The rank of the gold document with and without reformulation",
    form="answers",
    public="emanuals",
    columns=_NDCG,
    profile=_PLAIN,
    rows=(
        PaperRow("query reformulation with triples", {"ndcg@10": 0.447}, switches=_DENSE, derive=("triple",)),
        PaperRow("query reformulation without triples", {"ndcg@10": 0.453}, switches={**_DENSE, "use_triples": False}),
        PaperRow(
            "no query reformulation (DPR)",
            {"ndcg@10": 0.507},
            switches={**_DENSE, **_NO_REFORMULATION},
            needs_model=False,
        ),
    ),
    published_with="GPT-3.5 0301; Adobe questions, which are not public",
    notes=(
        "The paper names neither the rank of its cut-off nor which of its two sets this was; here the cut-off is 10.",
        "DPR: semantic search with the embedder set here.",
        _NOTES[1],
    ),
    public_notes=_STAND_IN,
)

_TRIPLES: dict[str, SwitchValue] = _DENSE
_NO_TRIPLES: dict[str, SwitchValue] = {**_DENSE, "use_triples": False}
_DPR: dict[str, SwitchValue] = {**_DENSE, **_NO_REFORMULATION}
_PLOTTED = "The paper prints a plot without its figures."
_POSITIONS = (
    PaperColumn("first", "G-Eval, gold first", "geval", place=1),
    PaperColumn("second", "second", "geval", place=2),
    PaperColumn("third", "third", "geval", place=3),
    PaperColumn("absent", "not passed on", "geval", place=0),
    PaperColumn("hit@3", "Hit rate (top 3)", "hit@3", percent=True),
)


def _make_position_experiment(figure: int, questions: str) -> Experiment:
    return Experiment(
        name=f"kapqa-figure-{figure}",
        paper=PAPER,
        table=f"Figure {figure}",
        about=f"G-Eval by the position of the gold document among the three that are passed on ({questions})",
        form="answers",
        public="emanuals",
        columns=_POSITIONS,
        profile=_PLAIN,
        rows=(
            PaperRow("DPR", switches=_DPR),
            PaperRow("augmentation with domain-specific triples", switches=_TRIPLES, derive=("triple",)),
        ),
        published_with=f"{_MODELS}; Adobe {questions} questions, which are not public",
        notes=(_PLOTTED, *_NOTES),
        public_notes=_STAND_IN,
    )


PASSED = (1, 3, 5, 10)
"""Numbers of documents passed on. The paper does not name its own."""
_BY_NUMBER = (PaperColumn("ndcg@10", "NDCG", "ndcg@10"), PaperColumn("geval", "G-Eval", "geval"))


def _make_number_rows(
    label: str, switches: dict[str, SwitchValue], derive: tuple[DerivableKind, ...]
) -> list[PaperRow]:
    return [
        PaperRow(
            f"{label}, {passed} passed on",
            switches={**switches, "passages": passed, "passages_for_model": passed, "passages_for_answer": passed},
            derive=derive,
            needs_model=switches is not _DPR,
        )
        for passed in PASSED
    ]


def _make_number_experiment(figures: tuple[int, int], questions: str) -> Experiment:
    first, second = figures
    return Experiment(
        name=f"kapqa-figure-{first}",
        paper=PAPER,
        table=f"Figures {first} and {second}",
        about=f"NDCG and G-Eval by the number of documents passed on ({questions})",
        form="answers",
        public="emanuals",
        columns=_BY_NUMBER,
        profile=_PLAIN,
        rows=(
            *_make_number_rows("DPR", _DPR, ()),
            *_make_number_rows("reformulation without triples", _NO_TRIPLES, ()),
            *_make_number_rows("reformulation with triples", _TRIPLES, ("triple",)),
        ),
        published_with=f"GPT-4o, other embeddings than in the tables; Adobe {questions} questions, not public",
        notes=(
            _PLOTTED,
            "NDCG is that of the documents passed on. DPR: semantic search with the embedder set here.",
            *_NOTES[1:],
        ),
        public_notes=_STAND_IN,
    )


EXPERIMENTS = (
    ACROBAT,
    PHOTOSHOP,
    NDCG,
    _make_position_experiment(2, "Acrobat"),
    _make_position_experiment(3, "Photoshop"),
    _make_number_experiment((4, 5), "Acrobat"),
    _make_number_experiment((6, 7), "Photoshop"),
)
