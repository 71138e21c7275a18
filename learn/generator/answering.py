"""A model's performance on examples: the loss on their answers, and the answers it writes itself.

The common beginning of all prompts (instructions, examples) is read once for a whole batch: its keys and values are
shared.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from argot.learn.generator.tokens import TokenizedExample

SHARED_FROM = 32
"""Tokens that prompts must have in common for sharing to be worthwhile."""
REPLY_BATCH_SIZE = 16
"""Prompts in a batch."""
_IGNORED = -100


def compute_answer_losses(model: Any, batch: Sequence[TokenizedExample]) -> Tensor:
    """Return the mean cross-entropy of each example's answer: (examples,). The prompt has no loss."""
    rows = [one.ids for one in batch]
    shared, cache = _read_shared(model, [one.asked for one in batch], len(batch))
    longest = max(map(len, rows)) - shared
    device = next(model.parameters()).device
    ids = torch.zeros(len(rows), longest, dtype=torch.long, device=device)
    wanted = torch.full((len(rows), longest), _IGNORED, dtype=torch.long, device=device)
    # Padded on the right, where no earlier token sees it: no mask is needed.
    for row, one in enumerate(batch):
        rest = torch.tensor(one.ids[shared:], device=device)
        ids[row, : len(rest)] = rest
        wanted[row, len(rest) - len(one.answer) : len(rest)] = rest[-len(one.answer) :]
    # Logits of the prompt are never used, and with a large vocabulary are most of the memory.
    kept = longest - int((wanted != _IGNORED).any(0).nonzero()[0]) + 1
    logits = model(input_ids=ids, past_key_values=cache, use_cache=cache is not None, logits_to_keep=kept).logits
    wanted = wanted[:, 1:][:, -(logits.shape[1] - 1) :]
    losses = functional.cross_entropy(
        logits[:, :-1].float().transpose(1, 2), wanted, ignore_index=_IGNORED, reduction="none"
    )
    return losses.sum(1) / (wanted != _IGNORED).sum(1)


@torch.no_grad()
def compute_token_losses(
    model: Any, examples: Sequence[TokenizedExample], batch: int, told: Callable[[int], None]
) -> list[float]:
    """Return the loss of each example."""
    found: list[float] = []
    for first in range(0, len(examples), batch):
        batched = compute_answer_losses(model, examples[first : first + batch]).tolist()
        found += batched
        told(len(batched))
    return found


@torch.no_grad()
def write_replies(
    model: Any,
    prompts: Sequence[Sequence[int]],
    most: int,
    ends: Collection[int],
    told: Callable[[int], None] = lambda more: None,
) -> list[list[int]]:
    """Let the model reply to each prompt, the likeliest token each time, up to one of `ends`, which is left out."""
    shared, cache = _read_shared(model, prompts, 1)
    written: list[list[int]] = []
    for first in range(0, len(prompts), REPLY_BATCH_SIZE):
        batch = [prompt[shared:] for prompt in prompts[first : first + REPLY_BATCH_SIZE]]
        past = copy.deepcopy(cache)
        if past is not None:
            past.batch_repeat_interleave(len(batch))
        written += _write_batch(model, batch, shared, past, most, ends)
        told(len(batch))
    return written


def _write_batch(  # noqa: PLR0917
    model: Any, batch: Sequence[Sequence[int]], shared: int, past: Any, most: int, ends: Collection[int]
) -> list[list[int]]:
    """Write the replies to one batch. `past`: the cache of the `shared` tokens that all begin with."""
    device = next(model.parameters()).device
    longest = max(map(len, batch))
    # Padded on the left, so that all are continued at the same place.
    ids = torch.tensor([[0] * (longest - len(one)) + list(one) for one in batch], device=device)
    seen = torch.tensor([[1] * shared + [0] * (longest - len(one)) + [1] * len(one) for one in batch], device=device)
    places = (seen.cumsum(1) - 1).clamp(min=0)[:, shared:]
    written: list[list[int]] = [[] for _ in batch]
    going = set(range(len(batch)))
    for _ in range(most):
        out = model(
            input_ids=ids,
            attention_mask=seen,
            position_ids=places,
            past_key_values=past,
            use_cache=True,
            logits_to_keep=1,
        )
        past, ids = out.past_key_values, out.logits[:, -1].argmax(-1, keepdim=True)
        for row, token in enumerate(ids[:, 0].tolist()):
            if token in ends:
                going.discard(row)
            if row in going:
                written[row].append(token)
        if not going:
            break
        seen = torch.cat([seen, torch.ones_like(ids)], 1)
        places = places[:, -1:] + 1
    return written


def _read_shared(model: Any, prompts: Sequence[Sequence[int]], copies: int) -> tuple[int, Any]:
    """Return the number of tokens that all prompts begin with, and the model's cache of them for each of `copies`."""
    shared = _count_common_tokens(prompts) if len(prompts) > 1 else 0
    if shared < SHARED_FROM:
        return 0, None
    head = torch.tensor([prompts[0][:shared]], device=next(model.parameters()).device)
    cache = model(input_ids=head, use_cache=True, logits_to_keep=1).past_key_values
    if copies > 1:
        cache.batch_repeat_interleave(copies)
    return shared, cache


def _count_common_tokens(prompts: Sequence[Sequence[int]]) -> int:
    """Count the shared first tokens, fewer than the shortest prompt has: a token must be left to be read."""
    first, last = (
        min(map(tuple, prompts)),
        max(map(tuple, prompts)),
    )  # in the order of their tokens these two have the least in common
    most = min(map(len, prompts)) - 1
    return next((place for place in range(most) if first[place] != last[place]), most)
