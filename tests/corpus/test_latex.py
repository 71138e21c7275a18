"""LaTeX as Markdown: gold, and files that are damaged or built to take long."""

from itertools import pairwise

import pytest

from argot.corpus.chunking.headings import find_headings
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers import read_document, read_with_ledger
from argot.errors import UnreadableDocument

LIMITS = ReadLimits()

PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage{booktabs}
\newcommand{\dev}{Plover-3\xspace} % the product {
\newcommand{\rated}[2][8]{\textbf{#1} to #2\,bar}
\def\maker{Norvik}
\title[Short]{Drying of the \dev}
\author{K. M\"uller\thanks{Graz} \and \'Eva Kov\'acs}
"""
BODY_GOLD = [
    (r"\section{Seals}\label{sec:seals}" + "\nThe seal.", "## Seals\n\nThe seal."),
    (r"\subsection*[Limits]{Limits of \textbf{pressure}}", "### Limits of pressure"),
    (r"The \dev{} of \maker is dry.", "The Plover-3 of Norvik is dry."),
    (r"Rated \rated[4]{6} or \rated{9}.", "Rated 4 to 6 bar or 8 to 9 bar."),
    ("It is 16~bar, 100\\% dry. % ask \\secret{Ann}\nNever --- ``no''.", "It is 16 bar, 100% dry. Never — “no”."),
    (r"Two wipers\footnote{Sold by \emph{Norvik}.} are spare.", "Two wipers [Sold by Norvik.] are spare."),
    (r"See Section~\ref{sec:seals} and \cite[p.~5]{moe2020}.", "See Section sec:seals and [moe2020, p. 5]."),
    (
        r"\SI{44}{rpm}, \qty{5}{\milli\second}, \SIrange{1}{2}{\newton\metre}, \unit{\metre\per\square\second}",
        "44 rpm, 5 ms, 1–2 N·m, m/s²",
    ),
    (r"Call \verb|a_b{%}| at \url{http://x.example/a%20b}.", "Call `a_b{%}` at http://x.example/a%20b."),
    (r"\href{http://y.example}{The page} is \unknown{red}.", "[The page](http://y.example) is red."),
    (r"Stra\ss e of 2\,\textmu m, \unknown here.", "Straße of 2 µm, \\unknown here."),
    (
        r"\begin{itemize}\item One\begin{itemize}\item Inner\end{itemize}\item Two\end{itemize}",
        "- One\n\n  - Inner\n- Two",
    ),
    (r"H\textsubscript{2}O is 10\textsuperscript{-3}.", "H2O is 10⁻³."),
    (r"Never \lstinline[language=C]{i % {2}} or \mintinline{c}{x %= 1}.", "Never `i % {2}` or `x %= 1`."),
    (r"\verb|`| and \Verb!``x! are ticks.", "`` ` `` and ` ``x ` are ticks."),
    (r"\[ x = \text{\verb|a_b|} \] \begin{equation} \verb|q| \end{equation}", "$$x = \\text{a_b}$$\n\n$$q$$"),
    (r"\iffalse Two old words \else Exits stay \emph{open}. \fi Now.", "Exits stay open. Now."),
    (r"\newcommand{\code}[1]{\lstinline{#1}}Set \code{i + 2}.", "Set i + 2."),
    (r"Now\iffalse some secret words that go\fi{} then.", "Now then."),
    (r"\begin{enumerate}\item Open V7." + "\n" + r"\item Wait.\end{enumerate}", "1. Open V7.\n2. Wait."),
    (r"\begin{description}\item[Valve] V7.\end{description}", "- Valve: V7."),
    (
        "\\begin{lstlisting}[language=C]\nint a = 5; % no comment\n\n# no heading\n\\end{lstlisting}",
        "```c\nint a = 5; % no comment\n\n# no heading\n```",
    ),
    ("\\begin{verbatim}\n```\n\\end{verbatim}", "````\n```\n````"),
    (r"\begin{figure}[t]\includegraphics[width=3cm]{x.png}\caption[s]{The hook.}\end{figure}", "The hook."),
    (r"Heat $E=mc^2$ \[ a = b \label{e} \]", "Heat $E=mc^2$\n\n$$a = b \\label{e}$$"),
    (r"\begin{equation}\label{e} E = 3.2 \cdot m^2\end{equation}", "$$E = 3.2 \\cdot m^2$$"),
    ("\\# 5 is\n\n> no quotation", "\\# 5 is\n\n\\> no quotation"),
    (
        r"\begin{table}[ht]\centering\caption{Pressures}\begin{tabular}{l|@{}r}\hline Port & Pressure (bar) \\ \hline"
        r" In\&let & 6.5 \\[2pt] Outlet & 2.25 \\ \hline\end{tabular}\end{table}",
        "Pressures\n\n| Port | Pressure (bar) |\n| --- | --- |\n| In&let | 6.5 |\n| Outlet | 2.25 |",
    ),
    (
        r"\begin{tabular}{lrr}\toprule & \multicolumn{2}{c}{Pressure} \\ \cmidrule(lr){2-3} Port & min & max \\ "
        r"\midrule \multirow{2}{*}{Inlet} & 1 & 2 \\ & 3 & 4 \\ \bottomrule\end{tabular}",
        "| Port | Pressure min | Pressure max |\n| --- | --- | --- |\n| Inlet | 1 | 2 |\n| Inlet | 3 | 4 |",
    ),
    (
        r"\begin{tabular}{lcc}\toprule & \multicolumn{2}{c}{Limit} \\ \cmidrule[1pt](l{3pt}r){2-3}"
        "\n"
        r"(V) & (A) & (W) \\ \midrule (x) & 1 & 2 \\ \end{tabular}",
        "| (V) | Limit (A) | Limit (W) |\n| --- | --- | --- |\n| (x) | 1 | 2 |",
    ),
    (
        r"\begin{longtable}{ll}\caption{Values}\\ \hline Name & Value \\ \hline \endfirsthead \hline Name & Value \\"
        r" \hline \endhead a & 1 \\ b & 2 \\ \end{longtable}",
        "Values\n\n| Name | Value |\n| --- | --- |\n| a | 1 |\n| b | 2 |",
    ),
]


def write_file(body: str) -> bytes:
    return f"{PREAMBLE}\\begin{{document}}\n\\maketitle\n{body}\n\\end{{document}}\nlater".encode()


@pytest.mark.parametrize(("body", "gold"), BODY_GOLD)
def test_latex_is_read_like_its_gold_standard(body: str, gold: str) -> None:
    read, ledger = read_with_ledger(write_file(body), "plover.tex", LIMITS)
    assert read.markdown == f"# Drying of the Plover-3\n\nK. Müller [Graz], Éva Kovács\n\n{gold}\n"
    assert (read.title, read.warnings, ledger.shortfall) == ("Drying of the Plover-3", (), "")


def test_a_part_of_a_latex_document_is_read_without_a_preamble() -> None:
    read, _ = read_with_ledger(b"\\chapter{Bath}\nThe bath is hot.\n", "bath.tex", LIMITS)
    assert (read.title, read.markdown, read.warnings) == ("bath", "# Bath\n\nThe bath is hot.\n", ())


def test_text_before_the_document_is_read_below_its_title() -> None:
    before = r"\title{Core}\subtitle{Type three}\author{Ann}\author{Ben}\abstract{It must \emph{never} be opened.}"
    before += "\n\\begin{abstract}\nWear gloves.\n\\end{abstract}"
    text = before + "\n\\begin{document}\n\\maketitle\nText.\n\\end{document}\n"
    read, ledger = read_with_ledger(text.encode(), "core.tex", LIMITS)
    assert read.markdown == "# Core\n\nType three\n\nAnn, Ben\n\nIt must never be opened.\n\nWear gloves.\n\nText.\n"
    assert not ledger.shortfall


@pytest.mark.parametrize(
    "lost", [r"\lstinline{i % 2} must never be zero", r"\iffalse a \else b c d e \fi", r"\verb|%| b c d e"]
)
def test_the_ledger_counts_what_follows_code_and_conditions(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argot.corpus.readers.latex.LatexWriter._write_environment", lambda *_: "")
    text = write_file(rf"\begin{{quote}}{lost}\end{{quote}} The end.")
    assert read_with_ledger(text, "x.tex", LIMITS)[1].lost_words >= 4


def test_headings_below_code_of_ticks_are_kept() -> None:
    read = read_document(b"\\verb|`` and ` end|\n\n\\section{Next}\n\nText.\n", "x.tex", LIMITS)
    assert [one.text for one in find_headings(read.markdown)] == ["Next"]
    assert "`` and ` end" in read.markdown


@pytest.mark.parametrize(
    "name", ["cite", "href", "url", "ref", "input", "SI", "unit", "bibitem", "footnote", "multirow"]
)
def test_latex_that_ends_after_a_command_is_read(name: str) -> None:
    assert "The rule" in read_document(f"The rule \\{name}".encode(), "x.tex", LIMITS).markdown


def test_the_text_of_a_wide_cell_is_not_multiplied() -> None:
    body = (r"\begin{tabular}{c}\multicolumn{99}{c}{" * 5 + "hello" + r"}\\\end{tabular}" * 5).encode()
    assert len(read_document(body, "x.tex", LIMITS).markdown) < 100_000
    with pytest.raises(UnreadableDocument, match="too much text"):
        read_document(
            rb"\begin{tabular}{c}" + rb"\multicolumn{99}{c}{word}\\ " * 500, "x.tex", ReadLimits(max_text_chars=100_000)
        )


@pytest.mark.parametrize("argument", ["word " * 3_000, r"\begin{verbatim}" + "word " * 3_000 + r"\end{verbatim}"])
def test_latex_that_repeats_an_argument_is_refused_before_it_is_expanded(argument: str) -> None:
    text = rf"\newcommand{{\a}}[1]{{{'#1 ' * 6_000}}} \a{{{argument}}}"
    with pytest.raises(UnreadableDocument, match="too much text"):
        read_document(text.encode(), "x.tex", ReadLimits(memory_mb=512, seconds=10))


@pytest.mark.parametrize(
    "text",
    [r"\lstinline[" * 60_000, r"\newcommand" + " " * 100_000, r"\title[" * 40_000, r"\begin{minted}[" * 30_000,
     r"\newcommand\a[1][" * 20_000, r"\author{" * 30_000],
)  # fmt: skip
def test_patterns_of_latex_take_no_longer_for_what_is_left_open(text: str) -> None:
    assert read_document(f"{text}x = 1".encode(), "x.tex", ReadLimits(seconds=10)).markdown


def test_files_that_latex_includes_are_named_in_a_warning() -> None:
    read = read_document(write_file(r"A seal. \input{parts/a} \include{b}"), "x.tex", LIMITS)
    assert read.warnings == ("the files that it includes were not read: parts/a, b",)


def test_words_that_reading_latex_loses_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argot.corpus.readers.latex.LatexWriter._write_environment", lambda *_: "")
    text = write_file(r"\begin{quote}Nobody reads these words.\end{quote} The end.")
    assert read_document(text, "x.tex", LIMITS).warnings == ("4 words were not read: 4 in the running text",)


@pytest.mark.parametrize(
    "body",
    [
        r"\textbf{" * 20_000 + "x = 1",
        r"\begin{itemize}\item " * 500 + "x = 1",
        "{" * 50_000 + "x = 1",
        "\\begin{verbatim}\nx = 1",
        r"\newcommand{\a}{\textbf{\a}} x = 1 \a",
        r"\newcommand{\a}[1]{\b{#1}}\newcommand{\b}[1]{\a{#1}} x = 1 \a{y}",
        r"\def\a{" * 20_000 + "x = 1",
        "$" * 2_001 + "x = 1",
        r"x = 1 \multicolumn \SI \footnote \begin{tabular} \multirow{9}{*} & \verb",
    ],
)
def test_damaged_and_deeply_nested_latex_keeps_its_text(body: str) -> None:
    assert "x = 1" in read_document(body.encode(), "x.tex", LIMITS).markdown


@pytest.mark.parametrize("use", [r"{\%s\%s}", r"[1]{\%s{#1#1}\%s{#1}}"])
def test_latex_commands_that_grow_without_end_are_refused(use: str) -> None:
    names = [f"x{chr(97 + number)}" for number in range(26)]
    lines = [f"\\newcommand{{\\{one}}}{use % (two, two)}" for one, two in pairwise(names)]
    text = "\n".join(lines) + "\n\\xa{word}"
    with pytest.raises(UnreadableDocument, match="too much text"):
        read_document(text.encode(), "bomb.tex", ReadLimits(max_text_chars=1_000_000))


def test_latex_that_takes_too_long_to_parse_is_refused_before() -> None:
    with pytest.raises(UnreadableDocument, match="too large"):
        read_document(b"word " * 1_500_000, "x.tex", ReadLimits(seconds=1))
