"""One page or file of the web, fetched and added; `source_add` synchronises whole sites."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from argot.errors import InvalidInput
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.uploads import REPORT, UploadReport, put_in
from argot.service.usecases.operations.queued_work import wait_for_outcome
from argot.service.usecases.usecase_registry import Reader, Text, usecase
from argot.types import Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRequest, JobRun

if TYPE_CHECKING:
    from argot.corpus.corpus import Source

FETCH = "fetch"
"""The kind of the jobs that fetch the content of an address."""
PARALLEL_FETCHES = 3
"""A slow server holds a thread for up to two minutes, and questions need threads, too."""


@usecase("manager", everywhere=True)
async def document_fetch(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    address: Annotated[Text, Field(max_length=2000)],
    audience: list[Reader] | None = None,
    tags: list[Text] | None = None,
) -> UploadReport:
    """Fetch what is at a web address now, and add it; the report is as for `upload`.

    The same address again is a new revision. Addresses of private networks are refused, also after redirects; a source
    with `private` can reach them. The size limit is that of a file, the time limit two minutes.

    Raises:
        InvalidInput: it cannot be fetched or read; nothing was added.
    """
    # Before it is stored with a job.
    _require_no_password(address)
    parameters: dict[str, Any] = {"address": address, "audience": audience, "tags": tags}
    if await kb.jobs.has_workers(FETCH):
        found = await wait_for_outcome(kb, JobRequest(FETCH, principal, parameters, label=address))
        return REPORT.validate_python(found)
    return await _fetch_document(kb, principal, **parameters)


@job_kind(FETCH, busy="{label} is being fetched.", lane="awaited")
async def fetch_work(run: JobRun) -> Any:
    """Return an `UploadReport` as JSON."""
    return convert_to_json(await _fetch_document(run.kb, run.principal, **run.parameters))


def _make_fetching_places() -> asyncio.Semaphore:
    return asyncio.Semaphore(PARALLEL_FETCHES)


async def _fetch_document(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    address: str,
    audience: Sequence[str] | None,
    tags: Sequence[str] | None,
) -> UploadReport:
    async with kb.part(_make_fetching_places):  # who waits holds no thread
        most = int(kb.settings.limits.max_file_mb * 1_000_000)
        source = await kb.blocking(fetch_source, address, most)
    readers = None if audience is None else frozenset(audience)
    return await put_in(kb, principal, source, audience=readers, tags=tags)


def _require_no_password(address: str) -> None:
    """
    Raises:
        InvalidInput
    """
    if "@" in re.split(r"[/?#]", address.partition("//")[2], maxsplit=1)[0]:
        raise InvalidInput("The address holds a name or a password, which is not to be stored. Leave them out.")


def fetch_source(address: str, most_bytes: int) -> Source:
    """Fetch an address as a source with its bytes; its URI is the final one after redirects.

    Raises:
        InvalidInput
    """
    from argot.corpus.connectors.listing import SourceDown
    from argot.corpus.connectors.public_network import PrivateHost
    from argot.corpus.connectors.web_fetch import FetchFailed, WebFetcher, normalize_url, parse_origin
    from argot.corpus.connectors.web_pages import guess_file_name
    from argot.corpus.corpus import Source

    url = address.strip()
    try:
        _require_no_password(url)
        start = normalize_url(url)
        with WebFetcher(parse_origin(start), most_bytes=most_bytes) as fetcher:
            found = fetcher.get(start, allowed=lambda _: True)
    except PrivateHost as error:
        raise InvalidInput(
            f"{url} was not added: {error.host} lies in a private network ({error.address}). An administrator can"
            f" name it as a source: argot source add {url} --with private=yes"
        ) from error
    except (FetchFailed, SourceDown, ValueError) as error:
        raise InvalidInput(f"{url} was not added: {str(error).rstrip('.')}.") from error
    if found is None or found.status != 200:
        raise InvalidInput(f"{url} was not added: the server answers with status {found.status if found else 0}.")
    name = guess_file_name(found.url, found.media_type)
    if not name:
        kind = found.media_type or "unknown"
        raise InvalidInput(f"{url} was not added: Argot cannot read files of this kind ({kind}).")
    return Source(found.url, name, lambda: found.data, len(found.data))
