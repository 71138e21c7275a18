"""A host name that resolves first to a public and then to a local address reaches nothing on this machine."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from argot.corpus.connectors.listing import SourceDown
from argot.corpus.connectors.public_network import normalize_host, resolve_public_addresses

SCRIPT = Path(__file__).parents[1] / "support" / "rebinding.py"
NAMESPACE = ["unshare", "--map-root-user", "--net", "--mount"]
NOT_RESOLVED = "web wide"
"""httpx refuses this spelling before it looks it up."""


def namespace_fault() -> str:
    if not all(map(shutil.which, ("unshare", "ip", "mount", "git"))):
        return "unshare, ip, mount and git are needed"
    tried = subprocess.run([*NAMESPACE, "ip", "link", "set", "lo", "up"], capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode else ""


def test_every_connector_connects_to_the_checked_address(tmp_path: Path) -> None:
    if fault := namespace_fault():
        pytest.skip(f"no network namespace can be made here: {fault}")
    command = [*NAMESPACE, sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    told = json.loads(done.stdout)
    assert {road: found["said"] for road, found in told.items() if found["inside"]} == {}
    # Every connector was really used; otherwise 0 connections would prove nothing.
    assert [road for road, found in told.items() if not found["public"]] == [NOT_RESOLVED]
    assert len(told) >= 25


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Example.ORG.", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("ｅｘａｍｐｌｅ。org", "example.org"),
        ("１２７.0.0.1", "127.0.0.1"),
        ("my_host", "my_host"),
        ("[2001:db8::1]", "2001:db8::1"),
    ],
)
def test_a_host_name_is_normalised(written: str, plain: str) -> None:
    assert normalize_host(written) == plain


@pytest.mark.parametrize(
    "host", ["%31%32%37.0.0.1", "fe80::1%eth0", "a@127.0.0.1", "a b", "", "..", "a..b", "a/b", "\u200d"]
)
def test_an_ambiguous_host_name_is_refused(host: str) -> None:
    with pytest.raises(SourceDown, match="is not a host name"):
        normalize_host(host)


@pytest.mark.parametrize("address", ["64:ff9b:1::7f00:1", "2002:7f00:1::", "::ffff:0:127.0.0.1", "::127.0.0.1"])
def test_a_private_ipv4_address_embedded_in_ipv6_is_refused(address: str) -> None:
    with pytest.raises(SourceDown, match="private network"):
        resolve_public_addresses(address, 80)
