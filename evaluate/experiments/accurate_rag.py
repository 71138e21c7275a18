"""AccurateRAG, tables 1 and 2 (section 3)."""

from __future__ import annotations

from argot.evaluate.experiments.experiment import (
    ALONE_NOTE,
    Experiment,
    PaperColumn,
    PaperRow,
    TunedPart,
    map_figures,
)
from argot.profile import Profile, SwitchValue

PAPER = "AccurateRAG"
_ANOTHER = "another system; its figures stand here for comparison"
_UNSTRUCTURED = "Unstructured is no part of Argot"
_TUNED: tuple[TunedPart, ...] = ("embedder", "generator")
_RETRIEVER: dict[str, SwitchValue] = {
    "search_derived": False,
    "reformulate_query": False,
    "rerank": False,
    "rank_fusion": True,
    "weight_semantic": 1.0,
}
"""One search, or two fused by rank, without any later stage (2.3)."""
_CHOSEN: dict[str, dict[str, SwitchValue]] = {part: {"search_keyword": False} for part in ("hotpotqa", "pubmedqa")}
"""The search that the paper chose for two sets on their validation parts: by meaning alone; for APIBench both (3.3)."""
_AS_IT_IS: dict[str, SwitchValue] = {
    "search_keyword": True,
    "reformulate_query": True,
    "rerank": True,
    "rank_fusion": False,
    "weight_semantic": Profile().weight_semantic,
}
_ACCURACY = (PaperColumn("accuracy", "Accuracy", "correct", percent=True),)

FINANCE = Experiment(
    name="accurate-rag-1",
    paper=PAPER,
    table="Table 1",
    about="FinanceBench: questions on long filings in PDF",
    form="answers",
    public="financebench",
    columns=_ACCURACY,
    # There is no validation set, so the paper uses semantic search only (3.2); it has no re-ranker.
    profile={**_RETRIEVER, "search_keyword": False},
    rows=(
        PaperRow("ada-002 (document-level) + GPT-4-Turbo", {"accuracy": 0.19}, never=_ANOTHER),
        PaperRow("embedder w/ FT + generator", {"accuracy": 0.42}, tuned=("embedder",)),
        PaperRow("embedder w/o FT + generator", {"accuracy": 0.387}),
        PaperRow('Unstructured "fast" + embedder w/o FT', {"accuracy": 0.347}, never=_UNSTRUCTURED),
        PaperRow(
            'Unstructured "hi-res" + embedder w/o FT', {"accuracy": 0.267}, never=_UNSTRUCTURED
        ),
        PaperRow("Argot as it is", switches=_AS_IT_IS),
    ),
    published_with="bge-large-en-v1.5 and GLM-4-9B-Chat on all 150 questions, judged by people",
    notes=(
        "The judge is a model (TRUE or FALSE, figure 4); the paper's scores were verified by people.",
        "Passages have no cut of their neighbours, which found fewer right ones. Two extractions of a PDF are aligned "
        "on every page if ARGOT_ALIGN_EXTRACTIONS is on; else on pages whose own text is broken.",
        ALONE_NOTE,
    ),
    public_notes=("Only the questions (of 150) whose PDF is there are asked.",),
)  # fmt: skip

_SETS = (
    PaperColumn("hotpotqa", "HotpotQA", "exact", part="hotpotqa", percent=True),
    PaperColumn("pubmedqa", "PubMedQA", part="pubmedqa", percent=True),
    PaperColumn("huggingface", "HF", "api", part="huggingface", percent=True),
    PaperColumn("torchhub", "Torch Hub", "api", part="torchhub", percent=True),
    PaperColumn("tensorflowhub", "TF Hub", "api", part="tensorflowhub", percent=True),
)

BENCHMARKS = Experiment(
    name="accurate-rag-2",
    paper=PAPER,
    table="Table 2",
    about="Five public sets: exact match, yes/no/maybe, and API calls compared as syntax trees",
    form="benchmarks",
    columns=_SETS,
    rows=(
        PaperRow("RankRAG, Llama-3-8B", map_figures(_SETS, 0.3530, 0.650, None, None, None), never=_ANOTHER),
        PaperRow(
            "AccurateRAG",
            map_figures(_SETS, 0.4871, 0.824, 0.7721, 0.9355, 0.8891),
            tuned=_TUNED,
            switches=_RETRIEVER,
            part_switches=_CHOSEN,
        ),
        PaperRow(
            "RAFT, Llama-2-7B, GPT-4 CoT", map_figures(_SETS, 0.3528, 0.733, 0.74, 0.8495, 0.8686), never=_ANOTHER
        ),
        PaperRow(
            "AccurateRAG, Llama-2-7B",
            map_figures(_SETS, 0.4571, 0.746, 0.6836, 0.8871, 0.8803),
            tuned=_TUNED,
            switches=_RETRIEVER,
            part_switches=_CHOSEN,
        ),
        PaperRow("RAFT, Llama-2-7B, no CoT", map_figures(_SETS, 0.2562, 0.683, 0.5907, 0.8656, 0.8321), never=_ANOTHER),
        PaperRow("Argot with the model given", needs_model=False),
    ),
    published_with="bge-large-en-v1.5 with Llama-3-8B or CodeGemma1.1-7b-it, all tuned on the sets' own training parts",
    notes=(
        "AccurateRAG's rows search as the paper chose on the validation parts: HotpotQA and PubMedQA by meaning, "
        "APIBench by words as well. Argot's own row uses both for all.",
        'The rows "AccurateRAG" and "AccurateRAG, Llama-2-7B" are measured with the same models, the embedder and '
        "generator given: only the paper's figures beside them differ. A run for each generator tells them apart.",
        ALONE_NOTE,
        "PubMedQA: the three options are chosen from the passages found among all abstracts.",
        "An API call is right if it is the same function with every text of the true call's arguments.",
    ),
)

EXPERIMENTS = (FINANCE, BENCHMARKS)
