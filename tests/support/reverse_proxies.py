"""The examples in deploy/proxy, run by a real nginx or Caddy; only names, paths and ports are replaced.

with front("nginx", folder, service.port) as opened:
    opened.client().get("/health")

With two ports it is the example with two services.
"""

import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from repository import ROOT

NAME = "argot.example.com"
ORIGIN = f"https://{NAME}"
INSTALLED = [name for name in ("nginx", "caddy") if shutil.which(name)]
PATIENCE = 120.0
_BEFORE = {"nginx.conf": "server 127.0.0.1:", "Caddyfile": "reverse_proxy 127.0.0.1:"}
AROUND_NGINX = """
user root; daemon off; pid {folder}/pid; error_log stderr; worker_processes 1;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  {sites}
}}
"""
BEFORE_CADDY = """
{{
  admin off
  skip_install_trust
  storage file_system {folder}/storage
  http_port {http}
  https_port {https}
}}
"""


@dataclass
class Front:
    """A proxy that listens on this machine only."""

    http: int
    https: int

    def client(self, **headers: str) -> httpx.Client:
        """Return an https client that uses the proxy's public name, as a browser does."""
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.https}", headers={"Host": NAME, "Origin": ORIGIN, **headers},
            verify=_any_certificate(), timeout=PATIENCE, event_hooks={"request": [_named]},
        )  # fmt: skip

    def connect(self) -> ssl.SSLSocket:
        raw = socket.create_connection(("127.0.0.1", self.https), timeout=PATIENCE)
        return _any_certificate().wrap_socket(raw, server_hostname=NAME)


def _any_certificate() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _named(request: httpx.Request) -> None:
    request.extensions["sni_hostname"] = NAME


def put_in(text: str, changes: dict[str, str]) -> str:
    """Replace each of these texts, which must occur exactly once in an example."""
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def example(name: str, *ports: int) -> str:
    """Return the text of an example for services on these ports."""
    if len(ports) == 1:
        return put_in(
            (ROOT / "deploy" / "proxy" / name).read_text("utf-8"),
            {f"{_BEFORE[name]}8000": f"{_BEFORE[name]}{ports[0]}"},
        )
    text = (ROOT / "deploy" / "proxy" / "replicas" / name).read_text("utf-8")
    for number, port in enumerate(ports):
        assert text.count(f"192.0.2.1{number + 1}:8000") == 2
        text = text.replace(f"192.0.2.1{number + 1}:8000", f"127.0.0.1:{port}")
    return text


def nginx_example(folder: Path, ports: tuple[int, ...], opened: Front) -> str:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    subprocess.run([*request, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return put_in(
        example("nginx.conf", *ports),
        {
            "listen 80;": f"listen 127.0.0.1:{opened.http};",
            "listen 443 ssl": f"listen 127.0.0.1:{opened.https} ssl",
            "/etc/ssl/argot/fullchain.pem": str(certificate),
            "/etc/ssl/argot/privkey.pem": str(key),
        },
    )


def caddy_example(folder: Path, ports: tuple[int, ...], opened: Front) -> str:
    text = put_in(
        example("Caddyfile", *ports),
        {
            f"\n{NAME} {{\n": f"\n{NAME} {{\n\tbind 127.0.0.1\n\ttls internal\n",
        },
    )
    return BEFORE_CADDY.format(folder=folder, http=opened.http, https=opened.https) + text


@contextmanager
def nginx(folder: Path, sites: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run nginx with these sites."""
    (folder / "nginx.conf").write_text(AROUND_NGINX.format(folder=folder, sites=sites))
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def _caddy(folder: Path, config: str) -> Iterator["subprocess.Popen[bytes]"]:
    (folder / "Caddyfile").write_text(config)
    command = ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    # Files outside its storage go to the home folder.
    environment = {"HOME": str(folder), "PATH": ""}
    with subprocess.Popen(
        [shutil.which("caddy") or "", *command[1:]], stderr=subprocess.DEVNULL, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def front(program: str, folder: Path, *ports: int) -> Iterator[Front]:
    """Run the example of this program in front of the services on these ports, and wait until it answers."""
    opened = Front(*_free_ports())
    if program == "nginx":
        running = nginx(folder, nginx_example(folder, ports, opened))
    else:
        running = _caddy(folder, caddy_example(folder, ports, opened))
    with running as process:
        while not _is_open(opened):
            assert process.poll() is None, f"{program} ended"
            time.sleep(0.05)
        yield opened


def _is_open(opened: Front) -> bool:
    """Tell whether a handshake succeeds: Caddy listens before it has its certificate."""
    try:
        opened.connect().close()
    except OSError:
        return False
    return True


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
