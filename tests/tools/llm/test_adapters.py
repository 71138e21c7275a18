"""Adapters on a running vLLM: against a stub of its addresses that answers as vLLM's source says it does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidInput, ModelUnavailable
from argot.settings import Settings
from argot.tools.llm.adapters import can_load_adapters, load_adapter
from argot.tools.llm.model_server import ModelServer, forget_servers


class Vllm(BaseHTTPRequestHandler):
    """`loads`: whether it was started so that adapters may be loaded; `most`: its --max-lora-rank."""

    loads, most, owner = True, 32, "vllm"
    adapters: dict[str, str]
    asked: list[tuple[str, dict[str, str]]]

    def do_GET(self) -> None:
        listed = [{"id": "base", "owned_by": self.owner, "max_model_len": 4096, "parent": None}]
        listed += [{"id": name, "owned_by": self.owner, "parent": "base"} for name in self.adapters]
        self.answer(200, json.dumps({"data": listed}), "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        what = self.path.removeprefix("/v1/")
        self.asked.append((what, body))
        if not self.loads:
            self.answer(404, '{"detail":"Not Found"}', "application/json")
        elif "lora_name" not in body:
            self.answer(400, '{"error": {"message": "Field required"}}', "application/json")
        elif what == "unload_lora_adapter":
            del self.adapters[body["lora_name"]]
            self.answer(200, "Success: removed")
        elif body["lora_name"] in self.adapters:
            self.answer(400, '{"error": {"message": "has already been loaded"}}', "application/json")
        elif json.loads((Path(body["lora_path"]) / "adapter_config.json").read_text("utf-8"))["r"] > self.most:
            self.answer(400, '{"error": {"message": "LoRA rank 64 is greater than max_lora_rank 32."}}')
        else:
            self.adapters[body["lora_name"]] = body["lora_path"]
            self.answer(200, f"Success: LoRA adapter '{body['lora_name']}' added successfully.")

    def answer(self, status: int, text: str, kind: str = "") -> None:
        self.send_response(status)
        if kind:
            self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def vllm() -> Iterator[type[Vllm]]:
    handler = type("Handler", (Vllm,), {"adapters": {}, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.port = server.server_address[1]  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield handler
    server.shutdown()
    server.server_close()
    forget_servers()


def server_of(vllm: type[Vllm]) -> ModelServer:
    found = ModelServer.from_settings(Settings(model_url=f"http://127.0.0.1:{vllm.port}/v1", model="base"))  # type: ignore[attr-defined]
    assert found is not None
    return found


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    (tmp_path / "adapter_config.json").write_text('{"r": 32}')
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    return tmp_path


async def test_an_adapter_is_loaded_and_replaced_while_the_server_runs(vllm: type[Vllm], adapter: Path) -> None:
    server = server_of(vllm)
    assert await can_load_adapters(server)
    await load_adapter(server, "tuned", adapter)
    assert vllm.adapters == {"tuned": str(adapter)}
    await load_adapter(server, "tuned", adapter)
    assert [what for what, body in vllm.asked if body] == [
        "load_lora_adapter",
        "unload_lora_adapter",
        "load_lora_adapter",
    ]
    assert server.known is not None and server.known.listed == ("base", "tuned") and server.known.model == "base"
    with pytest.raises(InvalidInput, match="'base' is the name of a whole model"):
        await load_adapter(server, "base", adapter)
    await server.aclose()


async def test_a_server_that_cannot_is_told_with_the_remedy(vllm: type[Vllm], adapter: Path) -> None:
    server = server_of(vllm)
    vllm.loads = False
    assert not await can_load_adapters(server)
    with pytest.raises(ModelUnavailable, match=r"loads no adapters while it runs: .*RUNTIME_LORA_UPDATING.*LORA=32"):
        await load_adapter(server, "tuned", adapter)
    vllm.loads = True
    (adapter / "adapter_config.json").write_text('{"r": 64}')
    with pytest.raises(ModelUnavailable, match=r"did not take the adapter \(400\).*--max-lora-rank 64 or more"):
        await load_adapter(server, "tuned", adapter)
    vllm.owner = "ollama"
    with pytest.raises(ModelUnavailable, match="is no vLLM: load the adapter by its own means"):
        await load_adapter(server, "tuned", adapter)
    await server.aclose()


async def test_a_folder_without_an_adapter_is_refused_before_anything_is_asked(
    vllm: type[Vllm], tmp_path: Path
) -> None:
    server = server_of(vllm)
    with pytest.raises(InvalidInput, match="holds no adapter: adapter_config"):
        await load_adapter(server, "tuned", tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    with pytest.raises(InvalidInput, match="no configuration of an adapter"):
        await load_adapter(server, "tuned", tmp_path)
    assert not vllm.asked


async def test_a_server_that_is_down_is_told(adapter: Path) -> None:
    server = ModelServer.from_settings(Settings(model_url="http://127.0.0.1:9/v1"))
    assert server is not None
    with pytest.raises(ModelUnavailable, match=r"nobody|does not answer|cannot be reached|not reach"):
        await load_adapter(server, "tuned", adapter)
    await server.aclose()
    forget_servers()
