"""Counts a prompt's tokens, with the server's own tokenizer if it has one, and fits passages into its context."""

from __future__ import annotations

import asyncio
import hashlib
import json
import string
import time
from collections.abc import Callable, Sequence

from argot.tools.llm.completion import Messages
from argot.tools.llm.endpoint import Endpoint
from argot.tools.llm.faults import StatusError, TooLong, WrongAnswer

TEMPLATE_TOKENS = 96
"""The maximum that a chat template adds: its marks, and a date or a role of its own (gpt-oss: about 70)."""
MAX_CACHED_COUNTS = 256  # of prompts; the oldest is dropped first
MAX_COUNT_FACTOR = 2
"""A count above the upper bound by this factor is wrong, and would leave no room for any passage."""
COUNT_SECONDS = 2.0
"""A count takes milliseconds; if it takes longer, tokens are estimated."""
REST_SECONDS = 60.0
"""How long tokens are estimated after a count failed, before the server is asked again."""
LETTERS_PER_TOKEN = 3
"""English has more than four; jargon, which is split into pieces, has fewer."""
SURE_SHARE = 0.8
"""A prompt estimated at this share of the room need not be counted. Capitals, DNA or base64 may take 1.6 times as many
tokens as estimated; then the server finds the prompt too long."""
PIECE_SEPARATOR = "\n\n"
_LETTERS = (string.ascii_letters + " ").encode()


def compute_byte_bound(messages: Messages) -> int:
    """Return an upper bound of these messages' tokens: each token stands for at least one byte."""
    return TEMPLATE_TOKENS + sum(len(text.encode()) for _, text in messages)


def estimate_tokens(messages: Messages) -> int:
    """Return about how many tokens they have, erring on the high side: a digit, a mark and a byte beyond ASCII count as
    one each.
    """
    total = TEMPLATE_TOKENS
    for _, text in messages:
        # Bytes, not characters: a tokenizer may use one token for each byte of "電".
        encoded = text.encode()
        others = len(encoded.translate(None, _LETTERS))
        total += (len(encoded) - others) // LETTERS_PER_TOKEN + others
    return total


async def count_tokens(server: Endpoint, messages: Messages) -> int:
    """Return the tokens of the messages with everything the chat template adds: vLLM's POST /tokenize, or an
    estimate.
    """
    key = hashlib.blake2b(json.dumps(messages).encode(), digest_size=16).digest()
    if key in server.counts:
        return server.counts[key]
    found = await _count_bounded(server, messages) if can_count_tokens(server) else None
    if found is None:
        return estimate_tokens(messages)
    if len(server.counts) >= MAX_CACHED_COUNTS:
        server.counts.pop(next(iter(server.counts)))
    server.counts[key] = found
    return found


def can_count_tokens(server: Endpoint) -> bool:
    """Return whether the server has its own tokenizer, and it did not just fail to answer."""
    return server.quirks.tokenizer and time.monotonic() >= server.counts_again


async def _count_bounded(server: Endpoint, messages: Messages) -> int | None:
    """Return the server's count; None if it does not arrive within a small part of a call's time, or the endpoint
    fails.

    Raises:
        Exception: nothing listens at that address.
    """
    await server.served_model()  # not part of the count: without it there is no call either
    bound = min(COUNT_SECONDS, server.settings.model_server.first_token_seconds / 4)
    try:
        async with asyncio.timeout(bound):
            return await _ask(server, messages)
    except TimeoutError:
        pass
    except Exception as error:
        if server.fault(error).refused:
            raise
    server.counts_again = time.monotonic() + REST_SECONDS
    return None


async def _ask(server: Endpoint, messages: Messages) -> int | None:
    """Return the count of vLLM's /tokenize; None, and always from then on, if the server has no such endpoint."""
    served = await server.served_model()
    chat_messages = [{"role": role, "content": text} for role, text in messages]
    body = {"model": served.model, "messages": chat_messages, "add_generation_prompt": True}
    for more in (server.quirks.thinking(served.is_vllm), {}):  # a template may not accept such arguments
        try:
            answer = await server.connection().request("POST", f"{server.address.root}/tokenize", {**body, **more})
        except WrongAnswer:
            break
        except StatusError as error:
            # The server may be refusing the template's argument: once more without.
            if error.status == 400:
                continue
            break
        found = answer.get("count") if isinstance(answer, dict) else None
        if type(found) is int and 0 < found <= MAX_COUNT_FACTOR * compute_byte_bound(messages):
            return found
    server.quirks.tokenizer = False
    return None


async def fit_pieces(
    server: Endpoint,
    reply: int,
    pieces: Sequence[str],
    messages: Callable[[str], Messages],
    *,
    may_estimate: bool = False,
) -> str:
    """Return the pieces, best first, that leave room for a reply of `reply` tokens. One count if all fit, else usually
    two.

    Args:
        may_estimate: pieces that fit by a large margin are not counted, because the caller tries again with fewer if
            the server finds the prompt too long.

    Raises:
        TooLong: not even the first fits.
    """
    room = (await server.served_model()).context_tokens - reply
    everything = PIECE_SEPARATOR.join(pieces)
    if may_estimate and estimate_tokens(messages(everything)) <= SURE_SHARE * room:
        return everything
    fits, too_many = 0, len(pieces) + 1
    guess = len(pieces)
    # Bisection, with guesses by size: `fits` fits, `too_many` does not.
    while too_many - fits > 1:
        asked = messages(PIECE_SEPARATOR.join(pieces[:guess]))
        size = compute_byte_bound(asked)
        # Pieces that fit even at one token per byte need no count, and no request.
        tokens = size if size <= room else await count_tokens(server, asked)
        if tokens <= room:
            fits = guess
        else:
            too_many = guess
        guess = _guess(pieces, fits, too_many, guess, (room - tokens) * size / tokens)
    if pieces and not fits:
        raise TooLong
    return PIECE_SEPARATOR.join(pieces[:fits])


def _guess(pieces: Sequence[str], fits: int, too_many: int, last: int, spare_bytes: float) -> int:
    """Return how many pieces may fit: the last try, corrected by its spare or missing bytes."""
    guess = last
    while spare_bytes < 0 and guess > fits:
        guess -= 1
        spare_bytes += len(pieces[guess].encode())
    while guess < len(pieces) and spare_bytes >= len(pieces[guess].encode()):
        spare_bytes -= len(pieces[guess].encode())
        guess += 1
    # Always between the two, so that every try narrows the range, however wrong the guess.
    return min(max(guess, fits + 1), too_many - 1)
