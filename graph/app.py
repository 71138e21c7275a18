"""The graph for LangGraph's own tooling (`langgraph.json`), which cannot pass stores in.

The stores are opened from the settings when the first question runs, never at import.
"""

from __future__ import annotations

from functools import cache

from argot.graph.build import build_graph
from argot.graph.run_context import RunContext, build_extractive_context
from argot.types import Principal

# Used only on a developer's own machine, where the developer can read the files anyway.
WORKBENCH = Principal("workbench", sees_all=True)


@cache
def open_run_context() -> RunContext:
    # Imported here because LangGraph's tooling imports this module to draw the graph, which needs no store and no
    # model.
    from argot.corpus.corpus import Corpus
    from argot.errors import InvalidSettings
    from argot.jargon_db.glossary import Glossary
    from argot.profile_files import SavedProfiles
    from argot.settings import load_settings

    settings = load_settings()
    if settings.storage.database:
        raise InvalidSettings(
            "LangGraph's tooling opens a knowledge base in a folder alone. Leave the setting 'store' empty for it."
        )
    corpus = Corpus.open(settings.home, settings)
    glossary = Glossary.open(settings.home / "glossary.db")
    profile = SavedProfiles(settings.home).find(settings.profile)
    return build_extractive_context(corpus, glossary, WORKBENCH, profile, settings)


graph = build_graph(source=open_run_context)
