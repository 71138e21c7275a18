"""The Helm chart agrees with the code, the image and its schema. Where helm is installed, it renders the chart."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import containerfile
import jsonschema
import pytest
import yaml
from pydantic import SecretStr
from repository import ROOT

from argot import __version__
from argot.settings import SETTING_FIELDS, list_valid_names

CHART = ROOT / "deploy" / "helm" / "argot"
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text("utf-8"))
TEMPLATES = {path.name: path.read_text("utf-8") for path in sorted((CHART / "templates").iterdir())}
DEPLOYMENT = TEMPLATES["deployment.yaml"]
SERVER = (ROOT / "ui" / "server.py").read_text("utf-8")
FULL = {
    "settings": {"public_url": "https://argot.example.com", "trusted_proxies": "10.42.0.0/16"},
    "secret": "argot",
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "certificate", "annotations": {"a": "b"}},
    "persistence": {"size": "5Gi", "storageClass": "fast"},
}


def refused(values: dict[str, Any]) -> bool:
    """Tell whether the schema refuses the chart's values with the given ones on top."""
    merged = {name: {**VALUES[name], **values[name]} if isinstance(VALUES.get(name), dict) else values[name]
              for name in values}  # fmt: skip
    return any(True for _ in jsonschema.Draft7Validator(SCHEMA).iter_errors({**VALUES, **merged}))


def test_the_chart_has_the_version_of_argot() -> None:
    assert yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))["appVersion"] == __version__


def test_the_schema_accepts_the_chart_values_and_no_others() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert set(SCHEMA["properties"]) - {"global"} == set(VALUES)
    for name, value in VALUES.items():
        if isinstance(value, dict) and "properties" in SCHEMA["properties"][name]:
            assert set(SCHEMA["properties"][name]["properties"]) == set(value), name
    assert not refused({}) and not refused(FULL)
    assert refused({"replicas": 2})
    assert refused({"settings": {"model_ulr": "http://127.0.0.1:8011/v1"}})
    assert refused({"settings": {"max_question_chars": 4000}}), "Helm would write large numbers as 1e+06"
    assert refused({"persistence": {"size": "much"}})


def test_the_settings_of_the_chart_exist_in_argot() -> None:
    secret = {name for name, field in SETTING_FIELDS.items() if field.annotation is SecretStr}
    fixed = {"home", "cache", "host", "port"}
    assert {f"ARGOT_{name.upper()}" for name in fixed} <= set(containerfile.environment())
    assert set(SCHEMA["properties"]["settings"]["propertyNames"]["enum"]) == set(list_valid_names()) - secret - fixed
    commented = re.findall(r'^  # (\w+): "', (CHART / "values.yaml").read_text("utf-8"), re.MULTILINE)
    assert commented and set(commented) <= set(list_valid_names())


def test_the_templates_use_exactly_the_chart_values() -> None:
    used = {path for text in TEMPLATES.values() for path in re.findall(r"\.Values\.([\w.]+)", text)}
    there = {name for name, value in VALUES.items() if not isinstance(value, dict) or not value or name == "resources"}
    there |= {f"{name}.{part}" for name in VALUES if isinstance(VALUES[name], dict) and name != "resources"
              for part in VALUES[name]}  # fmt: skip
    assert {path for path in used if not path.startswith("settings.")} | {"settings"} == there


def test_one_pod_at_a_time_owns_the_folder() -> None:
    assert "replicas: 1\n" in DEPLOYMENT and "type: Recreate\n" in DEPLOYMENT
    assert "accessModes: [ReadWriteOnce]" in TEMPLATES["persistentvolumeclaim.yaml"]
    stop: float = SETTING_FIELDS["stop_seconds"].default
    assert VALUES["terminationGracePeriodSeconds"] > stop


def test_kubernetes_sets_no_variables_that_look_like_settings() -> None:
    """Check that links are off: Kubernetes would set ARGOT_PORT=tcp://... and ARGOT_SERVICE_HOST for a service."""
    assert "enableServiceLinks: false\n" in DEPLOYMENT


def test_the_chart_agrees_with_the_image() -> None:
    user, port = containerfile.said("USER").partition(":")[0], containerfile.said("EXPOSE")
    for line in (f"runAsUser: {user}", f"runAsGroup: {user}", f"fsGroup: {user}", "runAsNonRoot: true"):
        assert line in DEPLOYMENT, line
    assert f"containerPort: {port}" in DEPLOYMENT and f"port: {port}, targetPort: http" in TEMPLATES["service.yaml"]
    helpers = TEMPLATES["_helpers.tpl"]
    assert f"mountPath: {containerfile.said('VOLUME')}" in helpers
    assert "readOnlyRootFilesystem: true" in helpers and "drop: [ALL]" in helpers
    (command,) = re.findall(r"command: \[([^\]]*)\]", DEPLOYMENT)
    assert f"/usr/local/bin/{command}" in " ".join(rest for _, rest in containerfile.last_stage())


def test_the_probes_request_addresses_that_exist() -> None:
    probes = dict(re.findall(r"(\w+)Probe:\n +httpGet: {path: (/\w+), port: http}", DEPLOYMENT))
    assert probes == {"startup": "/health", "liveness": "/health", "readiness": "/ready"}
    for path in probes.values():
        assert f'"{path}"' in SERVER


@pytest.mark.skipif(not shutil.which("helm"), reason="helm is not installed")
@pytest.mark.parametrize("values", [{}, FULL], ids=["default", "full"])
def test_helm_renders_the_chart(values: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    subprocess.run(["helm", "lint", "--strict", CHART, "-f", file], check=True)
    shown = subprocess.run(["helm", "template", CHART, "-f", file], check=True, capture_output=True, text=True).stdout
    kinds = {one["kind"] for one in yaml.safe_load_all(shown) if one}
    assert kinds == {"Deployment", "PersistentVolumeClaim", "Service", *({"Ingress"} if values else ())}
