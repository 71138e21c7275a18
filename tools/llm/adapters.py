"""Adapters (LoRA) on a running vLLM: a tuned model is served without a restart, beside the one it was tuned from."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput, ModelUnavailable
from argot.tools.llm.endpoint import Endpoint
from argot.tools.llm.faults import StatusError
from argot.tools.llm.limits import Clock

START_HINT = (
    "start it with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora --max-lora-rank 32 (LORA=32 in front of "
    "deploy/vllm/gpu/serve.sh does both)"
)
ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
_NO_SUCH_ADDRESS = (404, 405)


async def load_adapter(server: Endpoint, name: str, folder: Path) -> None:
    """Have vLLM serve the adapter in `folder` as the model `name`; an adapter already served by that name is replaced.

    vLLM reads the folder itself, and must see it under the same path. Questions asked between the unloading and the
    loading are answered without a model.

    Raises:
        InvalidInput: the folder holds no adapter, or the name is that of the model itself.
        ModelUnavailable: the server does not answer, is no vLLM, cannot load adapters while it runs, or not this one.
    """
    rank, place = await asyncio.to_thread(_read_rank_and_place, folder)
    await server.load()
    try:
        known = await _wait_within_bounds(server, server.served_model(fresh=True))
        if not known.is_vllm:
            raise ModelUnavailable(
                "The language model server is no vLLM: load the adapter by its own means, under the name "
                f"'{name}', and set ARGOT_MODEL={name}."
            )
        if name in known.listed and not await _is_adapter(server, name):
            raise InvalidInput(f"'{name}' is the name of a whole model on this server. Give the adapter another one.")
        if name in known.listed:
            await _send_order(server, "unload_lora_adapter", {"lora_name": name})
        await _send_order(server, "load_lora_adapter", {"lora_name": name, "lora_path": place})
        known = await _wait_within_bounds(server, server.served_model(fresh=True))
    except StatusError as error:
        raise _describe_refusal(error, folder, rank) from None
    except (InvalidInput, ModelUnavailable):
        raise
    except Exception as error:
        raise server.fault(error).error() from None
    if name not in known.listed:
        raise ModelUnavailable(f"The language model server took the adapter, and does not list it as '{name}'.")


async def can_load_adapters(server: Endpoint) -> bool:
    """Return whether this vLLM loads adapters while it runs; the request names none, and so changes nothing."""
    try:
        await _send_order(server, "load_lora_adapter", {})
    except StatusError as error:
        return error.status not in _NO_SUCH_ADDRESS
    except Exception as error:
        raise server.fault(error).error() from None
    return True


async def _send_order(server: Endpoint, what: str, body: dict[str, str]) -> None:
    await _wait_within_bounds(server, server.connection().order(f"{server.address.api}/{what}", body))


async def _wait_within_bounds(server: Endpoint, asking: Any) -> Any:
    return await Clock.of(server.settings).wait(asking)


async def _is_adapter(server: Endpoint, name: str) -> bool:
    """Return whether the model is an adapter: vLLM lists adapters with a parent, the model they belong to."""
    listed = await _wait_within_bounds(server, server.connection().request("GET", f"{server.address.api}/models"))
    return any(one.get("id") == name and one.get("parent") for one in listed.get("data", ()))


def _read_rank_and_place(folder: Path) -> tuple[int, str]:
    """Return the adapter's rank, and its folder as passed to the server.

    Raises:
        InvalidInput: the folder holds no adapter.
    """
    missing = [one for one in ADAPTER_FILES if not (folder / one).is_file()]
    if missing:
        raise InvalidInput(
            f"{folder} holds no adapter: {', '.join(missing)} missing. Give the folder model/ of a training."
        )
    try:
        return int(json.loads((folder / ADAPTER_FILES[0]).read_text("utf-8"))["r"]), str(folder.resolve())
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{folder / ADAPTER_FILES[0]} is no configuration of an adapter: {error!r}.") from error


def _describe_refusal(error: StatusError, folder: Path, rank: int) -> ModelUnavailable:
    if error.status in _NO_SUCH_ADDRESS and "lora" not in error.said.casefold():
        return ModelUnavailable(f"The language model server loads no adapters while it runs: {START_HINT}.")
    if error.status in (401, 403):
        return ModelUnavailable(f"The language model server refused the key ({error.status}): set ARGOT_MODEL_KEY.")
    # Not in the server's own words, which may quote anything; its log has them.
    return ModelUnavailable(
        f"The language model server did not take the adapter ({error.status}). It must see {folder} under that path, "
        f"serve the model that the adapter is for, and have been started with --enable-lora and --max-lora-rank "
        f"{max(8, rank)} or more; its log says which."
    )
