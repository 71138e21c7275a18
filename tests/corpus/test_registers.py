"""Register descriptions as tables, and XML, AsciiDoc and Org: gold, malformed and hostile files."""

import pytest

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document, read_with_ledger
from argot.errors import UnreadableDocument

LIMITS = ReadLimits()

SVD = b"""<?xml version="1.0"?>
<device schemaVersion="1.3">
  <name>PX900</name><description>A pump controller.</description><addressUnitBits>8</addressUnitBits>
  <peripherals><peripheral>
    <name>UART0</name><description>Serial port</description><baseAddress>0x40004000</baseAddress>
    <interrupt><name>UART0_IRQ</name><value>5</value></interrupt>
    <registers><register>
      <name>CTRL</name><description>Control | status</description><addressOffset>0x08</addressOffset>
      <size>32</size><access>read-write</access><resetValue>0x1</resetValue>
      <fields>
        <field><name>EN</name><description>Enables the port.</description><bitOffset>0</bitOffset><bitWidth>1</bitWidth>
          <access>read-write</access></field>
        <field><name>MODE</name><bitRange>[3:1]</bitRange><enumeratedValues>
          <enumeratedValue><name>OFF</name><value>0</value></enumeratedValue>
          <enumeratedValue><name>FULL</name><description>both ways</description><value>1</value></enumeratedValue>
        </enumeratedValues></field>
        <field><name>LOOP</name><lsb>4</lsb><msb>7</msb></field>
      </fields></register>
      <cluster><name>CH</name><addressOffset>0x20</addressOffset>
        <register><name>DATA</name><addressOffset>0x0</addressOffset></register></cluster>
    </registers>
  </peripheral><peripheral derivedFrom="UART0"><name>UART1</name><baseAddress>0x40005000</baseAddress></peripheral>
  </peripherals>
</device>"""
SVD_GOLD = """# PX900

A pump controller.

- addressUnitBits: 8

## UART0

Serial port

- baseAddress: 0x40004000
- interrupt.name: UART0_IRQ
- interrupt.value: 5

| Register | Address offset | Size | Access | Reset | Description |
| --- | --- | --- | --- | --- | --- |
| CTRL | 0x08 | 32 | read-write | 0x1 | Control \\| status |

### UART0.CTRL

Control | status

- Address offset: 0x08
- Size: 32
- Access: read-write
- Reset: 0x1

| Field | Bits | Access | Description | Values |
| --- | --- | --- | --- | --- |
| EN | 0 | read-write | Enables the port. |  |
| MODE | 3:1 |  |  | 0 = OFF; 1 = FULL (both ways) |
| LOOP | 7:4 |  |  |  |

### UART0.CH

- addressOffset: 0x20

| Register | Address offset |
| --- | --- |
| DATA | 0x0 |

#### UART0.CH.DATA

- Address offset: 0x0

## UART1

- derivedFrom: UART0
- baseAddress: 0x40005000
"""
IPXACT = b"""<ipxact:component xmlns:ipxact="http://www.accellera.org/XMLSchema/IPXACT/1685-2014">
  <ipxact:vendor>plant.example</ipxact:vendor><ipxact:name>timer</ipxact:name>
  <ipxact:memoryMaps><ipxact:memoryMap><ipxact:name>regs</ipxact:name><ipxact:addressBlock>
    <ipxact:name>main</ipxact:name><ipxact:baseAddress>0x100</ipxact:baseAddress>
    <ipxact:register><ipxact:name>LOAD</ipxact:name><ipxact:addressOffset>0x4</ipxact:addressOffset>
      <ipxact:size>32</ipxact:size><ipxact:field><ipxact:name>TICKS</ipxact:name><ipxact:bitOffset>8</ipxact:bitOffset>
      <ipxact:resets><ipxact:reset><ipxact:value>0x7</ipxact:value></ipxact:reset></ipxact:resets>
      <ipxact:bitWidth>16</ipxact:bitWidth></ipxact:field></ipxact:register>
  </ipxact:addressBlock></ipxact:memoryMap></ipxact:memoryMaps>
</ipxact:component>"""
RDL = b"""// the timer
enum mode_e { OFF = 2'd0; ONCE = 2'd1 { desc = "stops at zero"; }; };
reg ctrl_r {
  name = "Control"; desc = "Starts the timer.";
  default sw = rw;
  field { desc = "Runs."; hw = r; } EN[0:0] = 0;
  field { sw = r; encode = mode_e; } MODE[2:1] = 2'h1;
};
addrmap timer {
  desc = "A timer.";
  regfile {
    ctrl_r CTRL @ 0x10;
    reg { field {} LEVEL[7:0]; } FIFO[4] @ 0x20 += 4;
  } CH[2] @ 0x100;
};
"""
DITA = b"""<?xml version="1.0"?><!DOCTYPE task PUBLIC "-//OASIS//DTD DITA Task//EN" "task.dtd">
<task id="t"><title>Bleed the pump</title><shortdesc>Do it monthly.</shortdesc><taskbody>
<context>The pump <b>must</b> be cold.</context><steps><step><cmd>Open valve V7.</cmd></step>
<step><cmd>Wait for 30 s.</cmd></step></steps></taskbody></task>"""
ADOC = b"= Pump rules\n\n== Limits\n\nThe limit is 16 bar.\n\n* Check V7.\n** Twice.\n\n----\n# code\n----\n"
ORG = b"#+TITLE: Pump rules\n* TODO Limits :pump:\nThe limit is 16 bar.\n#+BEGIN_SRC c\n* not a heading\n#+END_SRC\n"


def test_svd_is_read_like_its_gold_standard() -> None:
    read, ledger = read_with_ledger(SVD, "px900.svd", LIMITS)
    warnings = ("what these take from others was not read: UART1",)
    assert (read.title, read.markdown, read.warnings) == ("PX900", SVD_GOLD, warnings)
    assert not ledger.shortfall


def write_svd(inside: str) -> bytes:
    peripheral = f"<peripheral><name>ADC</name><registers>{inside}</registers></peripheral>"
    return f"<device><name>D</name><peripherals>{peripheral}</peripherals></device>".encode()


def write_array(name: str, offset: str, facts: str, inside: str = "") -> str:
    about = f"<name>{name}</name><addressOffset>{offset}</addressOffset>{facts}"
    return f"<register>{about}{inside}</register>"


def test_each_element_of_an_svd_array_has_its_own_row() -> None:
    count = "<dim>3</dim><dimIncrement>0x4</dimIncrement>"
    fields = (
        "<fields><field><name>EN%s</name><lsb>4</lsb><msb>5</msb><dim>2</dim><dimIncrement>2</dimIncrement>"
        "</field></fields>"
    )
    cluster = f"<cluster><name>CH[%s]</name><addressOffset>0x100</addressOffset>{count}</cluster>"
    arrays = [
        write_array("OFS%s", "0x1C", count, fields),
        write_array("LIM[%s]", "64", count),
        write_array("P%sOUT", "0x80", f"{count}<dimIndex>A,B, C</dimIndex>"),
        write_array("Q%s", "0xA0", f"{count}<dimIndex>4-6</dimIndex>"),
        write_array("R%s", "BASE", f"{count}<dimIndex>D-F</dimIndex>"),
        cluster,
    ]
    read, _ = read_with_ledger(write_svd("".join(arrays)), "d.svd", LIMITS)
    rows = ["OFS0 | 0x1C", "OFS1 | 0x20", "OFS2 | 0x24", "LIM[2] | 72", "PBOUT | 0x84", "Q6 | 0xA8", "RE | BASE + 0x4"]
    for row in (*rows, "CH[2] | 0x108", "EN0 | 5:4", "EN1 | 7:6"):
        assert f"| {row} |" in read.markdown
    assert "- Registers: OFS0 at 0x1C, OFS1 at 0x20, OFS2 at 0x24\n" in read.markdown and read.warnings == ()


@pytest.mark.parametrize("count", ["4000000000", "0", "-1", "N", ""])
def test_an_svd_array_of_an_impossible_size_stays_one_row(count: str) -> None:
    text = write_svd(write_array("OFS%s", "0x0", f"<dim>{count}</dim><dimIncrement>4</dimIncrement>"))
    assert "| OFS%s | 0x0 |" in read_document(text, "d.svd", LIMITS).markdown


def test_svd_arrays_with_too_many_elements_in_all_are_refused() -> None:
    array = write_array("OFS%s", "0x0", "<dim>1000</dim><dimIncrement>4</dimIncrement>")
    with pytest.raises(UnreadableDocument, match="too large"):
        read_document(write_svd(array * 500), "d.svd", LIMITS)


@pytest.mark.parametrize(
    "array",
    [
        "<register><name>R%s</name><dim>1024</dim><dimIncrement>4</dimIncrement>ABOUT</register>",
        "<register><name>R</name><fields><field><name>F%s</name><lsb>0</lsb><msb>1</msb><dim>1024</dim>ABOUT</field>"
        "</fields></register>",
    ],
)
def test_svd_arrays_that_repeat_too_much_text_are_refused(array: str) -> None:
    text = write_svd(array.replace("ABOUT", f"<description>{'word ' * 20_000}</description>"))
    with pytest.raises(UnreadableDocument, match="too much text"):
        read_document(text, "d.svd", ReadLimits(memory_mb=512))


def test_names_of_svd_blocks_that_are_repeated_too_often_are_refused() -> None:
    registers = write_array("R", "0", "") * 1_000
    for text in (
        write_svd(registers).replace(b"ADC", b"A" * 100_000),
        write_svd(write_array("%s" * 50_000, "0", "<dim>1024</dim>")),
    ):
        with pytest.raises(UnreadableDocument, match="too much text"):
            read_document(text, "d.svd", ReadLimits(memory_mb=512))


@pytest.mark.parametrize("number", ["0x" + "f" * 5_000, "9" * 5_000, "²", "0x", "[²:0]", "1:2:3", "-"])
def test_numbers_of_svd_that_cannot_be_understood_stay_as_they_are(number: str) -> None:
    count = f"<dim>2</dim><dimIncrement>{number}</dimIncrement>"
    place = f"<bitOffset>{number}</bitOffset><bitWidth>{number}</bitWidth>"
    fields = (
        f"<field><name>A%s</name><bitRange>{number}</bitRange><dim>2</dim></field>"
        f"<field><name>B%s</name>{place}<dim>2</dim></field>"
    )
    text = write_svd(write_array("R%s", number, count, f"<fields>{fields}</fields>"))
    markdown = read_document(text, "d.svd", LIMITS).markdown
    assert "| R%s |" in markdown and "| A%s |" in markdown and "| B%s |" in markdown


def test_ip_xact_is_read_as_tables() -> None:
    read = read_document(IPXACT, "timer.xml", LIMITS)
    assert read.title == "timer" and read.warnings == ()
    assert "- vendor: plant.example" in read.markdown and "- baseAddress: 0x100" in read.markdown
    assert "### regs.main" in read.markdown and "#### regs.main.LOAD" in read.markdown
    assert "| LOAD | 0x4 | 32 |" in read.markdown and "| TICKS | 23:8 | 0x7 |" in read.markdown


def test_systemrdl_is_read_as_tables() -> None:
    read = read_document(RDL, "timer.rdl", LIMITS)
    assert read.title == "timer" and read.warnings == ()
    assert [line for line in read.markdown.split("\n") if line.startswith("#")] == [
        "# timer", "## CH\\[2\\]", "### CH\\[2\\].CTRL", "### CH\\[2\\].FIFO\\[4\\]",
    ]  # fmt: skip
    assert "| EN | 0:0 | sw rw, hw r | 0 | Runs. |" in read.markdown
    assert "| MODE | 2:1 | sw r | 2'h1 |  | 2'd0 = OFF; 2'd1 = ONCE (stops at zero) |" in read.markdown
    assert "| CTRL | 0x10 |" in read.markdown and "- name: Control" in read.markdown
    assert "Starts the timer." in read.markdown and "LEVEL" in read.markdown


MACRO_RDL = b"""`ifndef KNOT_RDL
`define KNOT_RDL
`define RATE 8'h3C // default
`define SLOW \\
  sw = r; hw = w;
`define TEXT "Divides `it`."
`include "common.rdl"
addrmap knot {
  reg {
    field { desc = `TEXT; reset = `RATE;
      sw = rw; } div[7:0];
    field { reset = `OTHER;
      sw = w; } par[`W-1:8];
    field { reset = `WITH_STOP
      `SLOW } err[9:9];
    `MORE_FIELDS(2, 3)
    field {
`ifdef FAST
      reset = 1;
`else
      reset = 0;
`endif
    } run[10:10];
  } BAUD @0x0C;
};
`endif
"""


def test_macros_of_systemrdl_stand_in_their_own_cells() -> None:
    read = read_document(MACRO_RDL, "knot.rdl", LIMITS)
    for row in (
        "| div | 7:0 | sw rw | 8'h3C | Divides `it`. |",
        "| par | `W-1:8 | sw w | `OTHER |  |",
        "| err | 9:9 | sw r, hw w | `WITH_STOP |  |",
        "| run | 10:10 |  | 1 or 0 |  |",
    ):
        assert row in read.markdown
    assert read.warnings == (
        "the files that it includes were not read: common.rdl",
        "what these macros stand for was not read: `MORE_FIELDS",
    )


def test_texts_of_unread_macros_of_systemrdl_are_counted_as_lost() -> None:
    text = MACRO_RDL + b'`define F(x) desc = "Opens relief valve slowly";\n'
    read, ledger = read_with_ledger(text, "knot.rdl", LIMITS)
    assert ledger.lost_words == 4 and "4 words were not read: 4 in the running text" in read.warnings


def test_macros_of_systemrdl_that_grow_without_end_are_refused() -> None:
    macros = [f"`define M{n} `M{n - 1} `M{n - 1}" for n in range(1, 40)]
    text = "`define M0\n" + "\n".join(macros) + "\naddrmap top { reg { field {} F[`M39]; } R; };"
    with pytest.raises(UnreadableDocument, match="too large"):
        read_document(text.encode(), "bomb.rdl", ReadLimits(seconds=1))
    circle = "`define A `B\n`define B `A\naddrmap top { reg { field {} F[`A:0]; } R; };"
    assert "| F | `A:0 |" in read_document(circle.encode(), "circle.rdl", LIMITS).markdown


def test_texts_that_macros_and_types_of_systemrdl_repeat_too_often_are_refused() -> None:
    string = f'"{"w " * 50_000}"'
    macro = f"`define S {string}\naddrmap x {{ desc = {'`S ' * 1_000}; reg {{ field {{}} F[0:0]; }} R; }};"
    name = f"reg r {{ name = {string}; desc = {string}; }};\naddrmap x {{ {'r A; ' * 1_000} }};"
    for text in (macro, name):
        with pytest.raises(UnreadableDocument, match="too much text"):
            read_document(text.encode(), "bomb.rdl", ReadLimits(memory_mb=512))


def test_long_chains_of_macros_of_systemrdl_are_followed() -> None:
    chain = "".join(f"`define M{number} `M{number + 1}\n" for number in range(3_000))
    text = chain + "`define M3000 8'h3C\naddrmap top { reg { field { reset = `M0; } F[7:0]; } R; };"
    assert "| F | 7:0 | 8'h3C |" in read_document(text.encode(), "chain.rdl", LIMITS).markdown


def test_components_of_systemrdl_under_every_condition_are_read() -> None:
    text = b"""`ifdef NARROW
enum mode_e { OFF = 1'd0; };
reg r_t { regwidth = 8; field { encode = mode_e; } F[3:0] = 0; };
`else
enum mode_e { ON = 1'd1; };
reg r_t { regwidth = 16; field { encode = mode_e; } F[7:0] = 0; };
reg unused_t { field {} G[1:0]; };
`endif
addrmap top { r_t R @ 0x10; };
"""
    markdown = read_document(text, "both.rdl", LIMITS).markdown
    for row in (
        "| R | 0x10 | 8 |",
        "| R | 0x10 | 16 |",
        "| F | 3:0 | 0 | 1'd0 = OFF |",
        "| F | 7:0 | 0 | 1'd0 = OFF; 1'd1 = ON |",
    ):
        assert row in markdown
    assert markdown.count("## R\n") == 2 and "unused_t" in markdown


def test_perl_code_in_systemrdl_is_left_out_and_counted() -> None:
    text = b"""<% my $width = 8; %>
<%
  # a { that nobody closes
  for my $n (0..3) {
%>
addrmap top { reg { regwidth = <%= $width %>; field {} EN[0:0] = 0; } CTRL @ 0x4; };
<% } %>
"""
    read = read_document(text, "perl.rdl", LIMITS)
    assert read.warnings == ("4 pieces of Perl code were not read",)
    assert "| CTRL | 0x4 |" in read.markdown and "nobody" not in read.markdown


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"<% my $only = 1; %>", "no SystemRDL"),
        (b"addrmap x {", "ends within"),
        (b"addrmap x { reg }; ", "damaged: line 1"),
        (b"property p { type = number; };", "no SystemRDL|damaged"),
        (b"addrmap a { regfile { " * 200, "nested too deeply|ends within"),
        (b"\x00\x01\x02" * 50, "binary"),
    ],
)
def test_malformed_systemrdl_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableDocument, match=why):
        read_document(data, "x.rdl", LIMITS)


def test_systemrdl_types_with_many_definitions_that_are_used_often_are_refused() -> None:
    field = " field { encode = e; } F[0:0];"
    enum = "enum e { A = 1; B = 2; };" * 2_000 + f"addrmap top {{ reg {{ {field * 2_000} }} R; }};"
    register = "reg r { field {} F[0:0]; };" * 2_000 + "addrmap top {" + " r R;" * 2_000 + "};"
    for text in (enum, register):
        with pytest.raises(UnreadableDocument, match="too large"):
            read_document(text.encode(), "bomb.rdl", ReadLimits(memory_mb=512))


def test_systemrdl_that_defines_millions_of_registers_is_refused() -> None:
    types = [f"regfile r{n} {{ r{n - 1} a; r{n - 1} b; r{n - 1} c; r{n - 1} d; }};" for n in range(1, 14)]
    text = "regfile r0 { reg { field {} F[0:0]; } R; };\n" + "\n".join(types) + "\naddrmap top { r13 all; };"
    with pytest.raises(UnreadableDocument, match="too large"):
        read_document(text.encode(), "bomb.rdl", LIMITS)


BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
    + b"".join(b'<!ENTITY %s "%s">' % (bytes([98 + n]), b"&%s;" % bytes([97 + n]) * 10) for n in range(12))
    + b"]><device><name>&m;</name><peripherals/></device>"
)
FETCH = b'<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><device><name>&x;</name><peripherals/></device>'


def test_a_register_description_that_is_cut_off_is_read_as_written_with_a_warning() -> None:
    read = read_document(SVD[: len(SVD) // 2], "timer.svd", LIMITS)
    assert read.warnings == ("the XML is not well-formed: it was read as it is written",)


@pytest.mark.parametrize("data", [BOMB, FETCH])
@pytest.mark.parametrize("name", ["bomb.xml", "bomb.svd", "bomb.dita"])
def test_entities_are_kept_as_they_are_written(data: bytes, name: str) -> None:
    read = read_document(data, name, LIMITS)
    assert "root:" not in read.markdown and len(read.markdown) < 3 * len(data)
    assert "<!ENTITY" in read.markdown


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b"<device><name>X</name>", "<name>X</name>"),
        (b"<plant><pump id='3'>16 bar</pump></plant>", "<pump id='3'>16 bar</pump>"),
        (b"<a>" * 5_000 + b"deep" + b"</a>" * 5_000, "deep"),
        (b"<?xml version='1.0' encoding='utf-8'?>\n<plant>K\xc3\xbchlung</plant>", "Kühlung"),
    ],
)
def test_other_xml_is_kept_word_for_word(data: bytes, kept: str) -> None:
    assert kept in read_document(data, "x.xml", LIMITS).markdown


def test_a_dita_topic_is_read_as_text() -> None:
    read, _ = read_with_ledger(DITA, "bleed.dita", LIMITS)
    assert (read.title, read.warnings) == ("Bleed the pump", ())
    assert read.markdown.startswith("# Bleed the pump\n\nDo it monthly.\n\nThe pump must be cold.\n\n- Open valve V7.")


@pytest.mark.parametrize(
    ("data", "name", "gold"),
    [
        (
            ADOC, "rules.adoc",
            "# Pump rules\n\n## Limits\n\nThe limit is 16 bar.\n\n- Check V7.\n  - Twice.\n\n```\n# code\n```\n",
        ),
        (
            ORG, "rules.org",
            "\\#+TITLE: Pump rules\n\n# Limits\n\nThe limit is 16 bar.\n\n```c\n* not a heading\n```\n",
        ),
    ],
)  # fmt: skip
def test_markup_is_read_like_its_gold_standard(data: bytes, name: str, gold: str) -> None:
    read, _ = read_with_ledger(data, name, LIMITS)
    assert (read.title, read.markdown, read.warnings) == ("Pump rules", gold, ())


def test_files_that_asciidoc_includes_are_named() -> None:
    text = b"= Pump\n\ninclude::parts/a.adoc[]\n\ninclude::b.adoc[lines=1..2]\nSee include::none[].\n"
    read = read_document(text, "pump.adoc", LIMITS)
    assert read.warnings == ("the files that it includes were not read: parts/a.adoc, b.adoc",)


@pytest.mark.parametrize("name", ["x.adoc", "x.org"])
def test_markup_with_endless_lines_or_open_code_is_read(name: str) -> None:
    for data in (b"----\nx = 1", b"#+begin_src\nx = 1", b"a " * 20_000 + b" x = 1"):
        assert "x = 1" in read_document(data, name, LIMITS).markdown
