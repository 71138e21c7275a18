"""Argot's readers of thesauri compared with pyoxigraph's: time, memory, and the treatment of rare and hostile files.

    pip install --target /tmp/pyoxigraph pyoxigraph==0.5.13
    python bench/thesauri.py --packages /tmp/pyoxigraph --concepts 100000 --runs 3
    python bench/thesauri.py --packages /tmp/pyoxigraph --rare

Each reading runs in a process of its own, Argot's and pyoxigraph's in turn. Seconds are processor time; memory is the
peak beyond the process's memory before. Both are for reading statements only: from bytes to lists, without interpreting
SKOS. Rare and hostile files have a limit of 20 seconds.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SPACE = "http://example.org/t/"
SYNTAX = {".ttl": "turtle", ".nt": "turtle", ".rdf": "rdfxml", ".jsonld": "jsonld"}
SECONDS = 20.0

TURTLE = "@prefix : <http://e.org/> .\n"
XML = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e.org/">{{}}</rdf:RDF>'
LATIN = '<?xml version="1.0" encoding="ISO-8859-1"?>'
TERMS = {f"t{n}": {"@id": f"http://e.org/{n}", "@context": {"a": "b:c"}} for n in range(2_000)}
RARE: dict[str, tuple[str, bytes]] = {
    "Turtle, 20,000 deep": (".ttl", (TURTLE + ":a :b " + "[ :b " * 20_000 + "1" + "]" * 20_000 + " .").encode()),
    "Turtle, {} in an address": (".ttl", (TURTLE + '<http://e.org/a{b}> :b "x" .').encode()),
    "XML, a comment within a text": (".rdf", XML.format("<e:T><e:p>a<!-- no -->b</e:p></e:T>").encode()),
    'XML, xml:lang=""': (".rdf", XML.format('<e:T><e:p xml:lang="">x</e:p></e:T>').encode()),
    "XML, Latin-1": (".rdf", (LATIN + XML.format("<e:T><e:p>é</e:p></e:T>")).encode("latin-1")),
    "XML, UTF-16": (".rdf", XML.format("<e:T><e:p>é</e:p></e:T>").encode("utf-16")),
    "XML, an entity": (".rdf", b'<!DOCTYPE x [<!ENTITY a "b">]>' + XML.format("<e:T><e:p>&a;</e:p></e:T>").encode()),
    "XML, 20,000 elements deep": (".rdf", XML.format("<e:T><e:p>" * 10_000 + "</e:p></e:T>" * 10_000).encode()),
    "XML, 40,000 elements deep": (".rdf", XML.format("<e:T><e:p>" * 20_000 + "</e:p></e:T>" * 20_000).encode()),
    "JSON-LD, contexts within contexts": (
        ".jsonld", json.dumps({"@context": TERMS, "@graph": [{"t1": {"t2": {"t3": "x"}}}] * 5_000}).encode(),
    ),
    "JSON-LD, a context elsewhere": (".jsonld", b'{"@context": "http://127.0.0.1:1/", "http://e.org/p": "x"}'),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True, help="the folder in which pyoxigraph lies")
    parser.add_argument("--concepts", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rare", action="store_true", help="what is rare or hostile, instead of what is large")
    given = parser.parse_args()
    sys.path.append(str(given.packages))
    if given.rare:
        show_rare()
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in write_thesauri(Path(folder), given.concepts):
            measure(path, given.runs)


def show_rare() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, (suffix, data) in RARE.items():
            path = Path(folder) / f"rare{suffix}"
            path.write_bytes(data)
            for reader in (read_ours, read_theirs):
                outcome, seconds, _ = run_in_process(reader, path)
                print(f"{name:35}{reader.__name__:8}{seconds:5.2f} s  {outcome}", flush=True)


def measure(path: Path, runs: int) -> None:
    found: dict[str, list[tuple[str, float, float]]] = {"ours": [], "theirs": []}
    for _ in range(runs):
        for reader in (read_ours, read_theirs):
            found[reader.__name__].append(run_in_process(reader, path, seconds=600))
    for name, told in found.items():
        seconds, memory = (statistics.median(one[n] for one in told) for n in (1, 2))
        print(f"{path.suffix:8} {name:7} {seconds:5.2f} s {memory:5.0f} MB  {told[0][0]}", flush=True)


def run_in_process(reader: Callable[..., Any], path: Path, *, seconds: float = SECONDS) -> tuple[str, float, float]:
    """Read a file in a process of its own; return the outcome, the processor seconds and the megabytes."""
    context = multiprocessing.get_context("spawn")
    told, say = context.Pipe(duplex=False)
    process = context.Process(target=_read_file, args=(reader.__name__, path, sys.path, say), daemon=True)
    process.start()
    say.close()
    try:
        if told.poll(seconds):
            return told.recv()
        return f"not done after {seconds:.0f} s", seconds, 0.0
    except EOFError:
        return "the process died", 0.0, 0.0
    finally:
        process.kill()
        process.join()


def _read_file(name: str, path: Path, packages: list[str], say: Any) -> None:
    sys.path[:] = packages
    data, suffix = path.read_bytes(), path.suffix
    read = {"ours": read_ours, "theirs": read_theirs}[name]
    with_nothing = read(b"{}" if suffix == ".jsonld" else (XML.format("") if suffix == ".rdf" else "").encode(), suffix)
    assert with_nothing == {}
    before, begun = _measure_peak(), time.process_time()
    try:
        found = read(data, suffix)
        outcome = f"{sum(map(len, found.values())):,} statements"
    except Exception as error:
        outcome = f"refused: {' '.join(str(error).split())[:150]}"
    say.send((outcome, time.process_time() - begun, _measure_peak() - before))


def _measure_peak() -> float:
    """Return the peak in megabytes. `ru_maxrss` would begin with the peak of the process that started this one."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    assert found
    return int(found[1]) / 1024


def read_ours(data: bytes, suffix: str) -> dict[str, Any]:
    from argot.jargon_db import ReadOptions
    from argot.jargon_db.formats.rdf import read_statements

    return read_statements(data, f"x{suffix}", ReadOptions(bounded=True), SYNTAX[suffix])


def read_theirs(data: bytes, suffix: str) -> dict[str, Any]:
    """Read by a minimal reader on top of pyoxigraph, without the checks that Argot's readers make before they read."""
    from pyoxigraph import Literal, NamedNode, RdfFormat, parse

    from argot.jargon_db.formats.rdf_statements import Statements, collect_into

    found: Statements = {}
    add = collect_into(found)
    formats = {"turtle": RdfFormat.TURTLE, "rdfxml": RdfFormat.RDF_XML, "jsonld": RdfFormat.JSON_LD}
    # Lenient: addresses are not checked, so that at least as many files are read.
    for one in parse(data, format=formats[SYNTAX[suffix]], base_iri="http://nowhere.invalid/", lenient=True):
        subject, value = one.subject, one.object
        name = subject.value if type(subject) is NamedNode else f"_:{subject.value}"
        if type(value) is Literal:
            add(name, one.predicate.value, value.value, (value.language or "").lower())
        else:
            add(name, one.predicate.value, value.value if type(value) is NamedNode else f"_:{value.value}", None)
    return found


# -- files ------------------------------------------------------------------------------------------------------------


def write_thesauri(folder: Path, concepts: int) -> Iterator[Path]:
    """Write the same thesaurus in every format, seven statements a concept."""
    said = [(n, f"concept number {n} of the thésaurus", f'What {n} means: a "sentence" as definitions have it.')
            for n in range(concepts)]  # fmt: skip
    for suffix, text in (
        (".ttl", _format_turtle),
        (".nt", _format_triples),
        (".rdf", _format_xml),
        (".jsonld", _format_json),
    ):
        path = folder / f"thesaurus{suffix}"
        path.write_text(text(said), "utf-8")
        yield path


Said = list[tuple[int, str, str]]


def _format_turtle(said: Said) -> str:
    return f"@prefix skos: <{SKOS}> .\n@prefix ex: <{SPACE}> .\n" + "".join(
        f'ex:c{n} a skos:Concept ;\n  skos:inScheme ex:s ;\n  skos:prefLabel "{label}"@en ;\n'
        f'  skos:altLabel "CN{n}"@en , "alt {n}"@de ;\n  skos:broader ex:c{n // 10} ;\n'
        f"  skos:definition {json.dumps(text, ensure_ascii=False)}@en .\n"
        for n, label, text in said
    )


def _format_triples(said: Said) -> str:
    def format_lines(n: int, label: str, text: str) -> Iterator[str]:
        values = [
            (f"{RDF}type", f"<{SKOS}Concept>"), (f"{SKOS}inScheme", f"<{SPACE}s>"),
            (f"{SKOS}prefLabel", f'"{label}"@en'), (f"{SKOS}altLabel", f'"CN{n}"@en'),
            (f"{SKOS}altLabel", f'"alt {n}"@de'), (f"{SKOS}broader", f"<{SPACE}c{n // 10}>"),
            (f"{SKOS}definition", json.dumps(text, ensure_ascii=False) + "@en"),
        ]  # fmt: skip
        return (f"<{SPACE}c{n}> <{name}> {value} .\n" for name, value in values)

    return "".join(line for one in said for line in format_lines(*one))


def _format_xml(said: Said) -> str:
    return f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:s="{SKOS}">\n' + "".join(
        f'<s:Concept rdf:about="{SPACE}c{n}"><s:inScheme rdf:resource="{SPACE}s"/><s:prefLabel xml:lang="en">{label}'
        f'</s:prefLabel><s:altLabel xml:lang="en">CN{n}</s:altLabel><s:altLabel xml:lang="de">alt {n}</s:altLabel>'
        f'<s:broader rdf:resource="{SPACE}c{n // 10}"/><s:definition xml:lang="en">{text}</s:definition></s:Concept>\n'
        for n, label, text in said
    ) + "</rdf:RDF>"  # fmt: skip


def _format_json(said: Said) -> str:
    def make_text(text: str, language: str = "en") -> dict[str, str]:
        return {"@language": language, "@value": text}

    graph = [
        {"@id": f"ex:c{n}", "@type": "skos:Concept", "skos:inScheme": {"@id": "ex:s"},
         "skos:prefLabel": make_text(label), "skos:altLabel": [make_text(f"CN{n}"), make_text(f"alt {n}", "de")],
         "skos:broader": {"@id": f"ex:c{n // 10}"},
         "skos:definition": make_text(text)}
        for n, label, text in said
    ]  # fmt: skip
    return json.dumps({"@context": {"skos": SKOS, "ex": SPACE}, "@graph": graph}, ensure_ascii=False)


if __name__ == "__main__":
    main()
