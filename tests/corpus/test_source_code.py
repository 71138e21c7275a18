"""Source code, settings and logs: cut by symbol, word for word, with the line of each passage."""

from contextlib import closing
from pathlib import Path

import pytest

from argot.corpus.chunking.passages import build_passages, cut_document
from argot.corpus.corpus import Corpus, Source
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import SUFFIXES, read_document, read_with_ledger, source_code
from argot.corpus.readers.source_languages import LANGUAGES
from argot.errors import UnreadableDocument
from argot.settings import Settings
from argot.types import Passage, Principal

LIMITS = ReadLimits()

DRIVER = """\
/* The driver of the serial port. */
#include <stdint.h>
#include "uart.h"

#define UART_BASE 0x40004000u
#define UART_FIFO_DEPTH 16

static volatile uint32_t *regs_of(struct uart *dev);

/* Sets the divisor; the port must be off. */
static int uart_set_baud(struct uart *dev, uint32_t baud)
{
    regs_of(dev)[2] = dev->clock_hz / (16u * baud);
    return 0;
}

#ifdef UART_HAS_DMA
int uart_dma_start(struct uart *dev) { return dma_claim(dev->channel_no); }
#endif

typedef struct {
    uint32_t clock_hz;
    int channel_no;
} uart_config_t;
"""

SAMPLES: dict[str, tuple[str, list[str]]] = {
    "uart.c": (DRIVER, ["Lines 1 to 9", "uart_set_baud", "uart_dma_start", "uart_config_t"]),
    "stack.hpp": (
        "namespace rtos {\ntemplate <class T>\nclass Ring {\n  int head_;\n  int tail_;\n  int size_;\n"
        "  void push(T x) {\n    head_++;\n  }\n};\nint operator+(Ring a, Ring b) {\n  return 1;\n}\n}\n",
        ["rtos.Ring", "rtos.Ring.push", "rtos.operator+"],
    ),
    "tool.py": (
        "import os\nimport sys\nimport re\n\n\n@cached\ndef load_map(path):\n    return os.stat(path)\n\n\n"
        "class Planner:\n    limit = 3\n    depth = 4\n    width = 5\n\n"
        "    def __init__(self):\n        self.jobs = []\n\n    async def run_all(self):\n        def inner():\n"
        "            pass\n        return inner\n",
        ["Lines 1 to 5", "load_map", "Planner", "Planner.__init__", "Planner.run_all"],
    ),
    "app.ts": (
        "import { a } from './a';\nimport { b } from './b';\nimport { c } from './c';\n"
        "export class Grid {\n  render(): void {\n    a();\n  }\n}\n"
        "export const toRow = (x: number) => {\n  return x;\n};\ninterface Cell {\n  row: number;\n}\n",
        ["Lines 1 to 3", "Grid.render", "toRow", "Cell"],
    ),
    "Valve.java": (
        "package plant;\nimport x.A;\nimport x.B;\npublic class Valve {\n  private int a;\n  private int b;\n"
        "  Valve() {\n    a = 1;\n  }\n  /** Opens. */\n  void open() {\n    b = 2;\n  }\n}\n",
        ["Lines 1 to 3", "Valve", "Valve.Valve", "Valve.open"],
    ),
    "srv.go": (
        "package srv\n\nimport \"x\"\nimport \"y\"\n\nfunc (s *Server) Close() error {\n\treturn nil\n}\n\n"
        "type Server struct {\n\tport int\n}\n",
        ["Lines 1 to 5", "Server.Close", "Server"],
    ),
    "ring.rs": (
        "impl<T> Ring<T> {\n    /// Adds.\n    pub fn push(&mut self) {\n        self.n += 1;\n    }\n}\n"
        "macro_rules! max {\n    () => {};\n}\nstruct Slot {\n    n: u8,\n}\n",
        ["Ring.push", "max", "Slot"],
    ),
    "flash.sh": ("#!/bin/sh\nset -e\nPORT=1\nflash_all() {\n  echo x\n}\n", ["Lines 1 to 3", "flash_all"]),
    "uart.sv": (
        "// The port.\nmodule uart_tx #(parameter W = 8) (\n  input logic clk,\n  output logic tx\n);\n"
        "  logic [W-1:0] shift_q;\n  function automatic logic parity(input logic [W-1:0] d);\n    return ^d;\n"
        "  endfunction\n  always_ff @(posedge clk) begin\n    tx <= shift_q[0];\n  end\nendmodule\n",
        ["uart_tx", "uart_tx.parity", "uart_tx"],
    ),
    "timer.vhd": (
        "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\nentity timer is\n"
        "  port (clk : in std_logic);\nend entity;\narchitecture rtl of timer is\n"
        "  signal count_q : unsigned(7 downto 0);\n  signal run_q : std_logic;\nbegin\nend architecture;\n",
        ["Lines 1 to 3", "timer", "rtl"],
    ),
    "plant.proto": (
        "syntax = \"proto3\";\npackage plant;\nimport \"x.proto\";\nmessage Valve {\n  int32 id = 1;\n}\n"
        "service Control {\n  rpc Open(Valve) returns (Valve);\n}\n",
        ["Lines 1 to 3", "message Valve", "service Control"],
    ),
    "schema.sql": (
        "CREATE TABLE IF NOT EXISTS pump (\n  id INTEGER\n);\ncreate or replace view busy_pumps as\n  select 1;\n",
        ["CREATE TABLE IF NOT EXISTS pump", "create or replace view busy_pumps"],
    ),
    "deploy.yaml": (
        "# The plant.\nservice:\n  port: 8080\n  name: pumps\nlimits:\n  max_bar: 16\n  min_bar: 2\n",
        ["service", "limits"],
    ),
    "rules.toml": ("[tool.ruff]\nline-length = 120\n[[plugin]]\nname = \"x\"\n", ["tool.ruff", "plugin"]),
    "plant.ini": ("[pump 1]\nmax_bar = 16\n[pump 2]\nmax_bar = 12\n", ["pump 1", "pump 2"]),
    "boot.log": ("12:00 INFO start\n12:01 ERROR pump 3: E4711\n12:02 INFO stop\n", ["Lines 1 to 3"]),
}  # fmt: skip


ROOT = Principal("root", sees_all=True)


def passages_of(name: str, text: str, max_chars: int = 1200) -> list[Passage]:
    parsed = read_document(text.encode(), name, LIMITS)
    cuts = cut_document(parsed, max_chars=max_chars, limits=LIMITS, name=name)
    return build_passages(parsed.title, parsed.markdown, cuts, document_id="d", revision_id="r")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_cut_by_its_symbols(name: str) -> None:
    text, symbols = SAMPLES[name]
    passages = passages_of(name, text)
    assert [one.heading_path[-1] for one in passages] == symbols
    assert all(one.header.startswith(f"{name} > ") for one in passages)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_word_of_a_file_is_lost(name: str) -> None:
    text, _ = SAMPLES[name]
    parsed, ledger = read_with_ledger(text.encode(), name, LIMITS)
    assert parsed.warnings == () and not ledger.shortfall
    for line in text.split("\n"):
        assert line.strip() in parsed.markdown


@pytest.mark.parametrize("name", SAMPLES)
def test_a_passage_names_the_line_at_which_it_begins(name: str) -> None:
    text, _ = SAMPLES[name]
    lines = text.split("\n")
    for one in passages_of(name, text):
        code = one.text.split("\n```", 1)[1].split("\n", 1)[1]
        assert one.page_kind == "line" and one.page
        assert lines[one.page - 1].strip() == code.split("\n")[0].strip()


def test_a_long_function_is_cut_with_the_right_lines() -> None:
    body = [f"    total += table[{number}] * weight_{number};" for number in range(200)]
    text = "\n".join(["int head;", "int tail;", "int size;", "int sum_all(void)", "{", *body, "}"])
    lines = text.split("\n")
    passages = passages_of("sum.c", text)
    later = [one for one in passages if one.heading_path[-1] == "sum_all"][1:]
    assert len(later) > 5
    for one in later:
        assert one.page and lines[one.page - 1].strip() == one.text.split("\n")[0].strip()
        assert "sum_all" in one.header


def test_each_language_has_a_grammar_that_loads() -> None:
    for language in LANGUAGES:
        read = read_document(b"x = 1\n", f"a{language.suffixes[0]}", LIMITS)
        assert read.media_type == SUFFIXES[language.suffixes[0]]
        assert "x = 1" in read.markdown


def test_a_header_with_classes_is_parsed_as_cpp() -> None:
    head = "#include <a>\n#include <b>\n#include <c>\n"
    text = f"{head}namespace io {{\nclass Port {{\npublic:\n  int open();\n  int fd;\n}};\n}}\n"
    assert [one.heading_path[-1] for one in passages_of("port.h", text)][-1] == "io.Port"
    assert read_document(text.encode(), "port.h", LIMITS).media_type == "text/x-c"


def test_broken_code_is_read_all_the_same() -> None:
    text = "int ok(void) {\n  return 1;\n}\nint broken(void { if ( \n  }}}\nint after(void) {\n  return 2;\n}\n"
    parsed = read_document(text.encode(), "x.c", LIMITS)
    assert all(line.strip() in parsed.markdown for line in text.split("\n"))


def test_code_that_looks_like_markdown_stays_code() -> None:
    text = "# not a heading\nx = '''\n```\n# nor this\n````\n'''\n\n\ndef _find__it_():\n    return 1\n"
    passages = passages_of("odd.py", text)
    assert passages[-1].heading_path[-1] == "_find__it_"
    assert {one.heading_path[-1] for one in passages} == {"Lines 1 to 8", "_find__it_"}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(200), "binary"),
        (bytes(range(256)) * 40, "binary"),
        (b"   \n\n  ", "empty"),
        (b"", "empty"),
    ],
)
def test_a_binary_or_empty_file_named_c_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableDocument, match=why):
        read_document(data, "firmware.c", LIMITS)


def test_a_log_of_50_megabytes_is_refused_with_the_setting_to_raise() -> None:
    data = b"2026-01-01T00:00:00 INFO pump 3 is running at 12.5 bar and 41 degrees\n" * 720_000
    assert len(data) > 50_000_000
    with pytest.raises(UnreadableDocument, match="ARGOT_") as refused:
        read_document(data, "plant.log", LIMITS)
    assert "plant.log" in str(refused.value)


def test_too_much_text_is_refused_before_its_symbols_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise the time runs out first, and the message names a setting that would not help.
    monkeypatch.setattr(source_code, "find_symbols", lambda *_: pytest.fail("the symbols were searched"))
    with pytest.raises(UnreadableDocument, match="ARGOT_MAX_TEXT_CHARS"):
        source_code.read_source_code(b"INFO pump 3 is running\n" * 9, "plant.log", ReadLimits(max_text_chars=100))


def test_colours_of_a_log_are_left_out() -> None:
    read = read_document(b"\x1b[31mERROR\x1b[0m E4711 overpressure\n", "a.log", LIMITS)
    assert "ERROR E4711 overpressure" in read.markdown and read.warnings == ()


def test_deeply_nested_code_is_read() -> None:
    for name, text in (("a.c", "int f(void) " + "{" * 20_000), ("a.py", "(" * 20_000), ("a.js", "[" * 20_000)):
        assert read_document(text.encode(), name, LIMITS).markdown.count(text[-1]) >= 20_000


def test_identifiers_are_found_word_for_word(tmp_path: Path) -> None:
    """Check it through the child process that reads files, the store and the keyword index."""
    other = "\n".join(f"int {name}(void) {{\n  return 0;\n}}" for name in ("uart_init", "init_uart", "uart"))
    texts = {"drv/uart.c": DRIVER, "drv/other.c": other, "conf/uart.md": "# The uart\n\nHow to set the baud rate.\n"}
    with closing(Corpus.open(tmp_path / "kb", Settings(threads=1))) as corpus:
        sources = [Source(f"file:///{name}", name, text.encode, len(text)) for name, text in texts.items()]
        assert {event.kind for event in corpus.add(sources)} == {"found", "added", "done"}
        for asked, file, symbol, line in (
            ("Who calls uart_set_baud?", "uart.c", "uart_set_baud", 10),
            ("UART_FIFO_DEPTH", "uart.c", "Lines 1 to 9", 1),
            ("channel_no", "uart.c", "uart_config_t", 21),
            ("what does init_uart return", "other.c", "init_uart", 4),
        ):
            first, _ = corpus.store.keyword_search(ROOT, asked, 1)[0]
            passage, found = corpus.store.passages(ROOT, [first])[first]
            assert (found.name, passage.heading, passage.page, passage.page_kind) == (file, symbol, line, "line"), asked
