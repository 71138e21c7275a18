"""Request models made from the parameters of use cases, so that the two cannot drift apart."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import BaseModel, ConfigDict, create_model

from argot.service.usecases.usecase_registry import Declared


def build_parameter_model(case: Declared, *, without: Collection[str] = ()) -> type[BaseModel]:
    """Build the model of a use case's parameters, without those in the path."""
    fields = case.parameters.model_fields
    wanted = {name: (field.annotation, field) for name, field in fields.items() if name not in without}
    title = "".join(part.title() for part in case.name.split("_"))
    # `forbid`: a misspelt parameter is an error, instead of silently taking the default.
    return create_model(title, __config__=ConfigDict(extra="forbid"), **wanted)  # type: ignore[call-overload, no-any-return]
