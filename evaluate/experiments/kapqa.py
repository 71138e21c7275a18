"""KaPQA, tables 3 to 5 (sections 6 and 7)."""

from __future__ import annotations

from argot.evaluate.experiments.experiment import Experiment, PaperColumn, PaperRow, map_figures
from argot.profile import SwitchValue

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
_NOTES = (
    "The set is not public; the Samsung television manual (emanuals) is used instead, which has how-to questions, too.",
    "DPR: semantic search with the embedder set here. The model gets the best three passages.",
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
)

_NDCG = (PaperColumn("ndcg@10", "NDCG", "ndcg@10"),)

NDCG = Experiment(
    name="kapqa-5",
    paper=PAPER,
    table="Table 5",
    about="The rank of the gold document with and without reformulation (Photoshop)",
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
    published_with="GPT-3.5 0301; synthetic Photoshop questions, which are not public",
    notes=(_NOTES[0], "The paper does not name the rank of its cut-off; here it is 10."),
)

EXPERIMENTS = (ACROBAT, PHOTOSHOP, NDCG)
