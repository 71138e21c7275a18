from __future__ import annotations

from langgraph.types import interrupt

from argot.graph.choices import DOCUMENT
from argot.graph.node_frame import Step
from argot.graph.run_context import RunContext
from argot.graph.state import State, SubjectRecord


async def choose_document(state: State, run: RunContext) -> Step:
    """Ask which of several documents is meant if the best passages answer for each and the question names none.

    The interrupt carries only its kind, as with senses: titles are read from the store whenever they are shown, so that
    only documents are offered that the asker may read then. After a choice the search runs once more without passages
    about the other documents. "Answer anyway" continues with the passages already found. The thread remembers both
    replies.
    """
    subject = state["open_subject"]
    assert subject is not None
    # Nothing above this line may write: when the asker answers, the node runs again from the top.
    answer = str(interrupt({"kind": "choose_document", "noun": subject["noun"]}))
    offered = [f"{DOCUMENT}{passage}" for passage, _ in subject["offered"]]
    chosen = offered.index(answer) if answer in offered else None
    settled: SubjectRecord = {**subject, "chosen": chosen}
    found = f"“{subject['noun']}” " + ("as you chose" if chosen is not None else "in any document")
    return Step(
        {
            "open_subject": None,
            "subject": settled,
            "subjects": {subject["noun"]: settled},
            "asked_back": state["asked_back"] + 1,
            "effort": run.profile.effort,
        },
        found,
    )
