"""The use cases, each given a principal, and the owner of the stores."""

from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase
    from argot.service.transport.knowledge_base_client import connect
    from argot.service.usecases.usecase_registry import usecase

__all__ = [
    "KnowledgeBase",
    "connect",
    "usecase",
]

# Type checkers read the imports above; a `__getattr__` would tell them that every name is there.
if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "KnowledgeBase": "knowledge_base",
            "connect": "transport.knowledge_base_client",
            "usecase": "usecases.usecase_registry",
        },
    )
