"""A receiver of traces and metrics by OTLP over HTTP, in a thread: real HTTP, real protobuf."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """A receiver. `bodies`: the raw requests. `code`: the status it answers. While `held` is set it does not answer."""

    url: str = ""
    code: int = 200
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    answers: threading.Event = field(default_factory=threading.Event)

    @property
    def spans(self) -> list[Any]:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        found = []
        for body in self.bodies:
            sent = ExportTraceServiceRequest.FromString(body)
            found += [span for one in sent.resource_spans for scope in one.scope_spans for span in scope.spans]
        return found

    @property
    def metrics(self) -> dict[str, Any]:
        """Return the latest metric of each name."""
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

        found = {}
        for body in self.bodies:
            sent = ExportMetricsServiceRequest.FromString(body)
            found |= {m.name: m for one in sent.resource_metrics for scope in one.scope_metrics for m in scope.metrics}
        return found


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@contextmanager
def receiving() -> Iterator[Receiver]:
    made = Receiver()
    made.answers.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.answers.wait(60)
            made.paths.append(self.path)
            made.bodies.append(body)
            self.send_response(made.code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.answers.set()
    server.shutdown()
    server.server_close()
    thread.join()
