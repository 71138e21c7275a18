"""Tests of `argot doctor` on the language model: each fault with its remedy, and never the key."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from argot.errors import ModelUnavailable
from argot.service.maintenance.model_checks import check_model_server, check_vision_server
from argot.service.operations.doctor import diagnose
from argot.service.storage.adopted_models import AdoptedModel, AdoptedModels, find_model_path, keep_adopted
from argot.settings import Settings

PROBE = '{"word": "blue-17"}'


def by_name(findings: list[Any]) -> dict[str, Any]:
    return {one["name"].removeprefix("model: "): one for one in findings}


def test_doctor_accepts_a_base_without_a_model_server() -> None:
    (finding,) = check_model_server(Settings())
    assert (finding["ok"], finding["remedy"]) == (True, "")
    assert "quoted from documents" in finding["detail"]
    assert "ARGOT_MODEL_URL" in finding["detail"]


def test_doctor_describes_a_server_with_all_capabilities(scripted_model: Any) -> None:
    scripted_model.reply("", PROBE)
    found = by_name(check_model_server(scripted_model.settings(model_key="s3cret")))
    assert all(one["ok"] for one in found.values())
    assert found["language model"]["detail"] == f"scripted, answers at 127.0.0.1:{scripted_model.port}"
    assert found["context"]["detail"] == "4096 tokens"
    assert found["JSON schemas"]["detail"] == "enforced"
    assert found["log-probabilities"]["detail"] == "returned"
    assert found["token counts"]["detail"] == "by the server's own tokenizer"
    assert "only loaded at its start" in found["adapters"]["detail"]
    assert "LORA=32" in found["adapters"]["detail"]
    asked = scripted_model.asked()
    assert len(asked) == 2
    assert max(one.body["max_tokens"] for one in asked) <= 16
    assert "s3cret" not in str(found)


def test_doctor_recognises_a_server_that_loads_adapters_at_runtime(scripted_model: Any) -> None:
    scripted_model.reply("", PROBE)
    scripted_model.loads_adapters = True
    assert by_name(check_model_server(scripted_model.settings()))["adapters"]["detail"] == "loaded while it runs"


@pytest.mark.parametrize(
    ("fault", "thing", "words"),
    [
        ("no_schema", "JSON schemas", "the prompt describes the schema"),
        ("invalid_json", "JSON schemas", "the prompt describes the schema"),
        ("no_logprobs", "log-probabilities", "not returned"),
    ],
)
def test_doctor_reports_each_missing_capability_of_a_server(
    scripted_model: Any, fault: str, thing: str, words: str
) -> None:
    scripted_model.reply("", PROBE)
    scripted_model.fault(fault)
    found = by_name(check_model_server(scripted_model.settings()))
    assert words in found.pop(thing)["detail"]
    assert not [one for one in found.values() if "not " in one["detail"]]


def test_doctor_reports_a_server_without_tokenizer_or_context_length(scripted_model: Any) -> None:
    scripted_model.tokenizes, scripted_model.owned_by = False, "someone"
    found = by_name(check_model_server(scripted_model.settings()))
    assert "estimated" in found["token counts"]["detail"]
    assert (found["context"]["ok"], "ARGOT_MODEL_CONTEXT" in found["context"]["remedy"]) == (False, True)
    found = by_name(check_model_server(scripted_model.settings(model_context=8192)))
    assert (found["context"]["ok"], found["context"]["detail"]) == (True, "8192 tokens")


def test_doctor_reports_a_context_too_short_for_answers(scripted_model: Any) -> None:
    scripted_model.context = 1024
    assert "--max-model-len" in by_name(check_model_server(scripted_model.settings()))["context"]["remedy"]


@pytest.mark.parametrize(
    ("fault", "options", "detail", "remedy"),
    [
        ("refuse", {}, "cannot be reached", "ARGOT_MODEL_URL"),
        ("hang", {}, "sent nothing within 0.5 s", "ARGOT_MODEL_URL"),
        ("status", {"code": 401}, "refused the key", "ARGOT_MODEL_KEY"),
        ("status", {"code": 404}, "knows no such model or address", "ARGOT_MODEL_URL"),
        ("status", {"code": 500}, "failed (500)", "log"),
        ("html", {}, "answers with a page", "ARGOT_MODEL_URL"),
        ("redirect", {}, "sends elsewhere", "ARGOT_MODEL_URL"),
        ("garbage", {}, "broke off", "log"),
    ],
)
def test_doctor_gives_a_remedy_for_each_fault_of_a_server(
    scripted_model: Any, fault: str, options: dict[str, Any], detail: str, remedy: str
) -> None:
    scripted_model.fault(fault, **options)
    settings = scripted_model.settings(
        model_key="s3cret", **({"model_first_token_seconds": 0.5} if fault == "hang" else {})
    )
    (finding,) = check_model_server(settings)
    assert not finding["ok"]
    assert detail in finding["detail"]
    assert remedy in finding["remedy"]
    assert "s3cret" not in str(finding)


def test_doctor_reports_a_server_that_lists_models_and_then_hangs(scripted_model: Any) -> None:
    scripted_model.fault("slow")
    (finding,) = check_model_server(scripted_model.settings(model_first_token_seconds=1.0))
    assert "sent nothing within 1 s" in finding["detail"]


def test_doctor_reports_a_model_that_is_not_served(scripted_model: Any) -> None:
    (finding,) = check_model_server(scripted_model.settings(model="huge"))
    assert finding["detail"].endswith("does not serve the model huge, but scripted")
    assert finding["remedy"] == "set ARGOT_MODEL"


def test_doctor_shows_no_password_of_an_invalid_url(tmp_path: Any) -> None:
    findings = diagnose(tmp_path / "kb", Settings(model_url="http://ann:hunter2@models.example/v1", model_key="s3cret"))
    assert "hunter2" not in str(findings)
    assert "s3cret" not in str(findings)
    (finding,) = [one for one in findings if one["name"] == "language model"]
    assert "ARGOT_MODEL_KEY" in finding["detail"]


def test_doctor_accepts_a_server_with_another_name_for_max_tokens(scripted_model: Any) -> None:
    scripted_model.reply("", PROBE)
    scripted_model.fault("no_max_tokens")
    assert all(one["ok"] for one in check_model_server(scripted_model.settings()))


async def test_a_server_is_asked_once_for_its_description(scripted_model: Any) -> None:
    from argot.tools.llm.model_server import ModelServer

    server = ModelServer.from_settings(scripted_model.settings())
    assert server
    first = await server.describe()
    asked = len(scripted_model.requests)
    assert await server.describe() == first
    assert len(scripted_model.requests) == asked
    await server.aclose()


async def test_warming_an_unreachable_server_fails_with_the_reason(scripted_model: Any) -> None:
    from argot.tools.llm.model_server import ModelServer

    scripted_model.fault("refuse")
    server = ModelServer.from_settings(scripted_model.settings())
    assert server
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        async with asyncio.timeout(120):
            await server.describe()


def test_doctor_names_the_vision_model_and_whether_it_sees(scripted_model: Any) -> None:
    (none,) = check_vision_server(Settings())
    assert none["ok"] and "ARGOT_VISION_URL" in none["detail"]
    settings = Settings(vision_url=scripted_model.url, vision_key="s3cret")
    (sees,) = check_vision_server(settings)
    assert sees["ok"] and sees["detail"] == f"scripted, sees pictures, answers at 127.0.0.1:{scripted_model.port}"
    assert len(scripted_model.requests[-1].pictures) == 1
    scripted_model.fault("no_pictures")
    (blind,) = check_vision_server(settings)
    assert not blind["ok"] and "refuses pictures" in blind["detail"] and "s3cret" not in str(blind)
    scripted_model.heal()
    scripted_model.fault("refuse")
    (gone,) = check_vision_server(settings)
    assert not gone["ok"] and "ARGOT_VISION_URL" in gone["remedy"]


def test_doctor_accepts_a_vision_server_with_another_name_for_max_tokens(scripted_model: Any) -> None:
    scripted_model.fault("no_max_tokens")
    (found,) = check_vision_server(Settings(vision_url=scripted_model.url))
    assert found["ok"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, ""),
        ({"model": "r0002"}, ""),
        ({"model": "small"}, "; not in force: the setting 'model' is 'small', and wins"),
    ],
)
def test_doctor_tells_an_adopted_generator_that_the_setting_keeps_from_answering(
    tmp_path: Path, given: dict[str, str], said: str
) -> None:
    model = AdoptedModel("generator", "r0002", "ours", "r0002-1", "rouge_l", 0.1, 0.05, 0.2, "ann", "2027-01-31")
    find_model_path(tmp_path, model).mkdir(parents=True)
    keep_adopted(tmp_path, AdoptedModels({"generator": (model,)}))
    found = {one["name"]: one["detail"] for one in diagnose(tmp_path, Settings(**given))}
    assert found["adopted generator"] == f"ours (r0002), since 2027-01-31{said}"
