"""The faults of a model server, in the language of the answer.

The turn stores a fault as an English clause (`tools/llm/faults.py`), as logs and traces do. Here the clause is
recognised by its template, and written in another language with the values that it contains.
"""

from __future__ import annotations

from argot.languages.catalogues import page_language, translate
from argot.languages.language_data import ENGLISH
from argot.languages.written_texts import find_template

CLAUSES = (
    "cannot be reached at %(address)s: start it, or mend ARGOT_MODEL_URL",
    "cannot be reached through the proxy of the environment: see HTTPS_PROXY and NO_PROXY",
    "shows a certificate that is not trusted: name its authority's file as SSL_CERT_FILE",
    "did not answer in time",
    "sent what is no reply",
    "sent nothing within %(seconds)s s",
    "was not done within %(seconds)s s",
    "broke off the connection",
    "broke off its answer",
    "sent an empty answer",
    "sent no usable answer",
    "sent its own prompt instead of an answer",
    "repeated itself and was stopped",
    "used up its longest answer before it wrote one: raise ARGOT_MODEL_ANSWER_TOKENS, or let it think less",
    "held its answer back by a filter of its own",
    "sent more than an answer can be long",
    "sent what cannot be read: no UTF-8",
    "sent what cannot be read: JSON of too many layers",
    "sent what cannot be read: broken JSON",
    "sent what cannot be read: a compression that is broken or unknown",
    "sent what cannot be read: something that is no part of an answer",
    "sent broken JSON",
    "did not reply with the JSON it was asked for: %(reason)s",
    "says that the prompt is longer than its model's context",
    "has too short a context for this prompt: see ARGOT_MODEL_CONTEXT",
    "sends elsewhere (%(status)s): give that address as ARGOT_MODEL_URL",
    "refused the key (%(status)s): set ARGOT_MODEL_KEY",
    "knows no such model or address (%(status)s): see ARGOT_MODEL and ARGOT_MODEL_URL",
    "has too much to do (%(status)s)",
    "is not ready (%(status)s)",
    "refused the request (%(status)s)",
    "failed (%(status)s)",
    "failed while answering",
    "answers as no model server does (%(status)s): see ARGOT_MODEL_URL",
    "answers with a page, not as a model server: see ARGOT_MODEL_URL",
    "does not answer as a model server: see ARGOT_MODEL_URL",
    "does not stream its answers",
    "does not serve the model %(model)s, but %(served)s: set ARGOT_MODEL",
    "serves %(number)s models (%(served)s): name one as ARGOT_MODEL",
    "serves no model",
    "lists no models at /v1/models: see ARGOT_MODEL_URL",
    "was cancelled",
)
"""The clauses that follow the name of the server."""
OTHER_CLAUSE = "did not help (%(trouble)s)"
"""The text in other languages for a clause that no catalogue has, such as one of an earlier version."""
SUBJECTS = ("The language model server %(trouble)s.", "The vision model server %(trouble)s.")


def translate_trouble(clause: str) -> str:
    """Write a clause about a model server in the language of the answer."""
    if page_language.get() == ENGLISH:
        return clause
    template, values = find_template(clause, CLAUSES)
    return translate(template, **values) if template else translate(OTHER_CLAUSE, trouble=clause)


def translate_model_error(text: str) -> str:
    """Write the message of a `ModelUnavailable` in the language of the page; one of another form stays as it is."""
    template, values = find_template(text, SUBJECTS)
    return translate(template, trouble=translate_trouble(values["trouble"])) if template else text
