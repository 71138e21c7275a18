"""Runs in a network namespace of its own: a name server that answers each name with a public address first and with
127.0.0.1 from then on, and a port at both. Prints the connections of each connector as JSON.

    unshare --map-root-user --net --mount python tests/support/rebinding.py FOLDER
"""

import json
import os
import socket
import socketserver
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

PUBLIC = "93.184.215.14"
"""Given to the namespace's own loopback: nothing leaves it."""
PORT = 8080
FIXED = "steady"
"""Names that begin so keep the public address."""
COMMIT = "1" * 40
hits: Counter[str] = Counter()
asked: Counter[str] = Counter()


class Names(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        query, connection = self.request
        place, labels = 12, []
        while size := query[place]:
            labels.append(query[place + 1 : place + 1 + size].decode("latin-1").lower())
            place += size + 1
        question, name = query[12 : place + 5], ".".join(labels)
        is_ipv4 = query[place + 1 : place + 3] == b"\0\1"
        asked[name] += is_ipv4
        address = PUBLIC if asked[name] == 1 or name.startswith(FIXED) else "127.0.0.1"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address) if is_ipv4 else b""
        head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_ipv4 else b"\0\0") + b"\0\0\0\0"
        connection.sendto(head + question + answer, self.client_address)


class Port(socketserver.StreamRequestHandler):
    """A hostile web server that counts connections by their local address."""

    timeout = 0.5

    def handle(self) -> None:
        hits[self.connection.getsockname()[0]] += 1
        with suppress(OSError):
            path = [*self.rfile.readline().split(), b"", b""][1].decode("latin-1")
            while self.rfile.readline().strip():
                pass
            self.wfile.write(self._answer(path))

    def _answer(self, path: str) -> bytes:
        inside = f"http://127.0.0.1:{PORT}/"
        if "redirect" in path:
            return (
                f"HTTP/1.1 302 Found\r\nLocation: {inside}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
            )
        dumb = {"info/refs": f"{COMMIT}\trefs/heads/main\n", "HEAD": "ref: refs/heads/main\n"}
        dumb["objects/info/http-alternates"] = dumb["objects/info/alternates"] = f"{inside}x.git/objects\n"
        body = next((text for end, text in dumb.items() if path.partition("?")[0].endswith(end)), "").encode()
        state = b"200 OK" if body else b"404 Not Found"
        return b"HTTP/1.1 %b\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (state, len(body), body)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def prepare(folder: Path) -> None:
    for command in (["ip", "link", "set", "lo", "up"], ["ip", "address", "add", f"{PUBLIC}/32", "dev", "lo"]):
        subprocess.run(command, check=True)
    for name, text in (("resolv.conf", "nameserver 127.0.0.1\n"), ("nsswitch.conf", "hosts: files dns\n")):
        (folder / name).write_text(text)
        subprocess.run(["mount", "--bind", folder / name, Path(f"/etc/{name}").resolve()], check=True)
    for server in (socketserver.ThreadingUDPServer(("127.0.0.1", 53), Names), Server((PUBLIC, PORT), Port)):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=Server(("127.0.0.1", PORT), Port).serve_forever, daemon=True).start()


def git(host: str, path: str = "x.git") -> None:
    from argot.corpus.connectors.git_connector import GitConnector, Repository
    from argot.corpus.connectors.listing import Patterns

    with closing(GitConnector(Repository(f"http://{host}:{PORT}/{path}"), Patterns())) as there:
        there.mark()
        list(there.list_documents({}))


def web(host: str, path: str = "") -> None:
    from argot.corpus.connectors.web_fetch import WebFetcher

    with WebFetcher(f"http://{host}:{PORT}", most_bytes=1000) as fetcher:
        fetcher.get(f"http://{host}:{PORT}/{path}", allowed=lambda _: True)
        fetcher.get(f"http://{host}:{PORT}/{path}", allowed=lambda _: True)


def imap(host: str) -> None:
    from argot.corpus.connectors.imap_connector import ImapConnector, parse_mailbox
    from argot.corpus.connectors.listing import Patterns

    box = parse_mailbox(f"imap://{host}:{PORT}/INBOX", "ann", "x", encrypted=False, private=False)
    with closing(ImapConnector(box, Patterns())) as there:
        there.mark()


def roads() -> dict[str, Callable[[], None]]:
    spellings = {
        "plain": "{}.example",
        "umlaut": "{}.bücher.example",
        "capital": "{}.BÜCHER.Example",
        "sharp s": "{}.straße.example",
        "joiner": "{}.نامه\u200cای.example",
        "wide": "{}.ｗｉｄｅ。example",
        "punycode": "{}.xn--bcher-kva.example",
        "dot": "{}.bücher.example.",
    }
    found: dict[str, Callable[[], None]] = {}
    for road in (git, web, imap):
        for kind, spelling in spellings.items():
            host = spelling.format(f"{road.__name__}-{kind.replace(' ', '')}")
            found[f"{road.__name__} {kind}"] = lambda road=road, host=host: road(host)  # type: ignore[misc]
    found["git redirect"] = lambda: git(f"{FIXED}1.bücher.example", "redirect.git")
    found["git alternates"] = lambda: git(f"{FIXED}2.bücher.example", "dumb.git")
    found["web redirect"] = lambda: web(f"{FIXED}3.bücher.example", "redirect")
    return found


def main() -> None:
    prepare(Path(sys.argv[1]))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        os.environ[name] = f"http://127.0.0.1:{PORT}"
    told = {}
    for name, road in roads().items():
        hits.clear()
        try:
            road()
            said = "done"
        except Exception as error:  # each road ends otherwise; what counts is who was connected to
            said = f"{type(error).__name__}: {error}"
        told[name] = {"public": hits[PUBLIC], "inside": hits["127.0.0.1"], "said": said}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
