"""reStructuredText, plain or written for Sphinx: docutils to HTML to Markdown, without losing what only Sphinx knows.

Sphinx's own directives and roles are registered as tolerant stand-ins that keep their text. Nothing is read from other
files and nothing raw is passed through. The registries of docutils are global, hence one registration per name.
"""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.dates import DATE_NAMES, find_date, warn_of_date
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.html import convert_html
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

# Also in lists and tables (`- .. note::`) and in substitutions (`.. |logo| image::`).
_DIRECTIVE = re.compile(
    r"^[ \t]*(?:[-*|+][ \t]+)*\.\. +(?:\|[^|\n]+\| +)?([A-Za-z][\w:+.-]*?) ?::(?:\s|$)", re.MULTILINE
)
_ROLE = re.compile(r":([A-Za-z][\w:+.-]{0,60}):`")
_ANY_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# Directives for Sphinx's processing, which carry no content.
_SPHINX_FIELDS = frozenset({"orphan", "tocdepth", "nocomments", "nosearch", "no_search", "hide_toc", "hide_navigation"})
_TARGET = re.compile(r"^(.*?)\s*<([^<>]+)>$", re.DOTALL)
# fmt: off
_VERBATIM_DIRECTIVES = frozenset(
    {
        "uml", "graphviz", "digraph", "graph", "mermaid", "plantuml", "blockdiag", "seqdiag", "productionlist",
        "doctest", "testcode", "testoutput", "code-block", "sourcecode", "prompt", "jsonschema",
    }
)
_LISTING_DIRECTIVES = frozenset(
    {
        "toctree", "autosummary",
    }
)
_SILENT_DIRECTIVES = frozenset(
    {
        "highlight", "index", "tabularcolumns", "default-domain", "currentmodule", "module", "meta",
    }
)
_ELSEWHERE = frozenset(
    {
        "include", "literalinclude", "raw", "automodule", "autoclass", "autofunction", "doxygenfile",
    }
)
_LITERAL_ROLES = frozenset(
    {
        "func", "data", "macro", "type", "member", "file", "samp", "command", "option", "envvar", "program", "kbd",
        "guilabel",
    }
)
# fmt: on
_VERSION_PHRASES = {
    "versionadded": "Added in version ",
    "versionchanged": "Changed in version ",
    "versionremoved": "Removed in version ",
    "deprecated": "Deprecated since version ",
}
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    # Errors become nodes, from which `_repair_tree` takes the source; none of them stops the reading.
    "report_level": 2,
    "halt_level": 5,
    "input_encoding": "unicode",
    "output_encoding": "unicode",
    "syntax_highlight": "none",
    "smart_quotes": False,
    "embed_stylesheet": False,
    "stylesheet_path": None,
    "math_output": "LaTeX",
    "doctitle_xform": True,
    "sectsubtitle_xform": False,
    "docinfo_xform": True,
    # The default is 10,000, which a row of a wide table exceeds.
    "line_length_limit": 1_000_000,
    # No docutils.conf of the machine may change what is read.
    "_disable_config": True,
}


def read_rst(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read reStructuredText. The title is the document's, else its first heading, else the file name. Date and fields:
    those at the top.
    """
    from docutils import nodes
    from docutils.core import publish_doctree, publish_from_doctree
    from docutils.utils import SystemMessage

    source = decode_text(data, name)
    _register_used(source)
    settings = {**_SETTINGS, "warning_stream": io.StringIO()}
    try:
        tree = publish_doctree(source, source_path=None, settings_overrides=settings)
        left_out = _repair_tree(tree)
        html = publish_from_doctree(tree, writer="html5", settings_overrides={**settings, "report_level": 5})
    except (SystemMessage, RecursionError, AssertionError) as error:
        raise UnreadableDocument(name, f"no valid reStructuredText: {error}"[:200]) from error
    first = next(iter(tree.findall(nodes.title)), None)
    title = str(tree.get("title") or "") or (first.astext() if first is not None else "") or name_without_suffix(name)
    declared = _read_declared_fields(tree)
    fields = build_fields((name, text) for name, text in declared if name not in (*DATE_NAMES, *_SPHINX_FIELDS))
    said = dict(reversed(declared))
    dates = [said[name] for name in DATE_NAMES if name in said]
    dated = find_date(*dates, *(found for text in dates for found in _ANY_DATE.findall(text)))
    # Without the head, which contains style sheet and title.
    markdown = convert_html(html[html.find("<body") :])
    return ParsedDocument(
        " ".join(title.split()),
        markdown,
        "text/x-rst",
        date=dated,
        warnings=left_out if dated else (*left_out, *warn_of_date(*dates)),
        fields=fields,
    )


def _read_declared_fields(tree: Any) -> list[tuple[str, str]]:
    """Return names (in lower case) and texts of the fields at the top of the document or of its first section."""
    from docutils import nodes

    docinfo = next(iter(tree.findall(nodes.docinfo)), None)
    section = next(iter(tree.findall(nodes.section)), tree)
    first = next((node for node in section.children if not isinstance(node, nodes.title | nodes.Invisible)), None)
    found = [*(docinfo.children if docinfo is not None else ())]
    found += first.children if isinstance(first, nodes.field_list) else ()
    pairs: list[tuple[str, str]] = []
    for node in found:
        if isinstance(node, nodes.authors):
            pairs += [("author", one.astext()) for one in node.children]
        elif isinstance(node, nodes.field):
            name = "_".join(node[0].astext().lower().replace("-", " ").split())
            pairs.append((name, " ".join(node[1].astext().split())))
        else:
            pairs.append((type(node).__name__, " ".join(node.astext().split())))
    return [(name, text) for name, text in pairs if text]


# -- repairing the tree ---------------------------------------------------------------------------------------------


def _repair_tree(tree: Any) -> tuple[str, ...]:
    """Restore the source of docutils' errors; return the names of included files, which are not read."""
    from docutils import nodes

    labels = _list_labels(tree)
    for topic in list(tree.findall(nodes.topic)):
        if "contents" in topic.get("classes", ()):
            topic.parent.remove(topic)
    for message in list(tree.findall(nodes.system_message)):
        _keep_source(message)
    for section in list(tree.findall(nodes.section)):
        if "system-messages" in section.get("classes", ()):
            section.parent.remove(section)
    for node in [*tree.findall(nodes.substitution_reference), *tree.findall(nodes.problematic)]:
        written = node.astext()
        node.parent.replace(node, nodes.Text(written.strip("|") if written.startswith("|") else written))
    for node in list(tree.findall(nodes.image)):
        # A linked picture is a badge, or one that opens larger.
        linked = isinstance(node.parent, nodes.reference)
        alt = "" if linked else str(node.get("alt") or "")
        inline = isinstance(node.parent, nodes.TextElement)
        shown = nodes.inline("", alt) if inline else nodes.paragraph("", "", nodes.inline("", alt))
        node.parent.replace(node, shown if alt else [])
    for node in list(tree.findall(nodes.classifier)):
        _join_classifier(node)
    left_out = []
    for node in list(tree.findall(nodes.inline)):
        if (target := node.get("xref")) is not None and target in labels:
            node.children = [nodes.Text(labels[target])]
        if (elsewhere := node.get("elsewhere")) is not None:
            left_out.append(f"not read: {elsewhere}")
    return tuple(dict.fromkeys(left_out))


def _list_labels(tree: Any) -> dict[str, str]:
    """Map each label to the heading or caption behind it, which Sphinx shows for `:ref:`."""
    from docutils import nodes

    labels: dict[str, str] = {}
    for parent in [tree, *tree.findall(nodes.section), *tree.findall(nodes.figure), *tree.findall(nodes.table)]:
        title = next((child for child in parent.children if isinstance(child, nodes.title | nodes.caption)), None)
        if title is not None:
            for name in [*parent.get("names", ()), *parent.get("ids", ())]:
                labels[str(name)] = title.astext()
    return labels


def _join_classifier(node: Any) -> None:
    """Put the type of `term : type` in brackets; a whole clause there is prose that only looks like a definition."""
    from docutils import nodes

    item, text = node.parent, node.astext()
    item.remove(node)
    definition = next((child for child in item.children if isinstance(child, nodes.definition)), None)
    if definition is None or len(text.split()) <= 3:
        term = next(child for child in item.children if isinstance(child, nodes.term))
        term += nodes.Text(f" ({text})")
    elif definition.children and isinstance(definition.children[0], nodes.paragraph):
        definition.children[0].insert(0, [*node.children, nodes.Text(" ")])
    else:
        definition.insert(0, nodes.paragraph("", "", *node.children))


def _keep_source(message: Any) -> None:
    from docutils import nodes

    blocks = list(message.findall(nodes.literal_block))
    about_raw = '"raw" directive disabled' in message.astext()
    if message.parent is None:
        return
    # An error in the markup must not lose text: the source that docutils shows in its message stays.
    message.parent.replace(message, [] if about_raw else [block.deepcopy() for block in blocks])


# -- Sphinx's directives and roles ----------------------------------------------------------------------------------


def _register_used(source: str) -> None:
    from docutils.parsers.rst import directives, roles

    for name in sorted({match[1].lower() for match in _DIRECTIVE.finditer(source)}):
        if name in _OVERRIDDEN_DIRECTIVES or not _is_registered(directives, name):
            _register_directive(name)
    for name in sorted({match[1].lower() for match in _ROLE.finditer(source)}):
        if not _is_registered(roles, name):
            _register_role(name)


_OVERRIDDEN_DIRECTIVES = frozenset(["code-block", "sourcecode", "include", "highlight", "glossary"])


def _is_registered(registry: Any, name: str) -> bool:
    """Return True where docutils, or another module, has registered a directive or role of this name."""
    from docutils.parsers.rst.languages import en

    registered = getattr(registry, "_directive_registry", None) or getattr(registry, "_role_registry", {})
    return name in registered or name in en.directives or name in en.roles


@cache
def _register_directive(name: str) -> None:
    from docutils.parsers.rst import directives

    directives.register_directive(name, _make_directive_class(name))


@cache
def _register_role(name: str) -> None:
    from docutils import nodes
    from docutils.parsers.rst import roles

    literal = ":" in name or name in _LITERAL_ROLES

    def role(_name: str, rawtext: str, text: str, *_: Any, **_more: Any) -> tuple[list[Any], list[Any]]:
        # docutils marks escaped characters with NUL.
        written = text.replace("\x00", "")
        match = _TARGET.match(written)
        if match and match[1]:
            return [nodes.inline(rawtext, match[1])], []
        # Sphinx: `~` leaves the module out of what is shown, `!` makes no link.
        shown = (match[2] if match else written).lstrip("~!")
        if literal:
            return [nodes.literal(rawtext, shown)], []
        node = nodes.inline(rawtext, shown)
        node["xref"] = nodes.fully_normalize_name(shown)
        return [node], []

    roles.register_local_role(name, role)  # type: ignore[arg-type, unused-ignore]


class _AnyOption(dict[str, Any]):
    """An option table that accepts every name."""

    def __missing__(self, name: str) -> Any:
        return lambda argument: argument or ""


def _make_directive_class(name: str) -> Any:
    from docutils import nodes
    from docutils.parsers.rst import Directive

    short = name.rsplit(":", 1)[-1]

    class Tolerant(Directive):
        required_arguments = 0
        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = _AnyOption(name=lambda argument: argument or "")

        def run(self) -> list[Any]:
            argument = " ".join(self.arguments).strip()
            if name == "glossary":
                return _convert_glossary(self)
            if short in _SILENT_DIRECTIVES:
                return []
            if short in _ELSEWHERE:
                node = nodes.inline("", f"({name}: {argument})")
                node["elsewhere"] = f"{name} {argument}"
                return [] if short == "raw" else [nodes.paragraph("", "", node)]
            caption = str(self.options.get("caption") or "")
            above = [nodes.paragraph("", "", nodes.strong("", caption))] if caption else []
            if short in _VERBATIM_DIRECTIVES:
                return [*above, _make_literal(self, argument, short)]
            if short in _LISTING_DIRECTIVES:
                return [*above, *_list_entries(self)]
            return [*above, *_convert_directive(self, short, argument, domain=":" in name)]

    return Tolerant


def _make_literal(directive: Any, argument: str, name: str) -> Any:
    from docutils import nodes

    text = "\n".join(directive.content) or argument
    block = nodes.literal_block(text, text)
    language = argument if name in ("code-block", "sourcecode") else name
    block["classes"] = ["code", language] if re.fullmatch(r"[\w+#.-]+", language) else ["code"]
    return block


def _list_entries(directive: Any) -> list[Any]:
    """List the documents that a table of contents names, by their titles where given, else by their paths."""
    from docutils import nodes

    items = []
    for line in directive.content:
        match = _TARGET.match(line.strip())
        text = match[1] if match and match[1] else line.strip()
        if text:
            items.append(nodes.list_item("", nodes.paragraph("", text)))
    return [nodes.bullet_list("", *items)] if items else []


def _convert_directive(directive: Any, short: str, argument: str, *, domain: bool) -> list[Any]:
    """Return the text of a directive: its argument in front, then its content as ordinary text."""
    from docutils import nodes

    found: list[Any] = []
    if argument and domain:
        for signature in argument.split("\n"):
            found.append(nodes.paragraph("", "", nodes.literal("", signature.strip())))
    elif argument:
        argument = _VERSION_PHRASES.get(short, "") + argument
        children, messages = directive.state.inline_text(argument, directive.lineno)
        found.extend([nodes.paragraph(argument, "", *children), *messages])
    container = nodes.container()
    directive.state.nested_parse(directive.content, directive.content_offset, container, match_titles=True)
    return [*found, *container.children]


def _convert_glossary(directive: Any) -> list[Any]:
    """Convert `.. glossary::`: lines at the margin are terms (several share a definition), indented ones define."""
    from docutils import nodes
    from docutils.statemachine import StringList

    listing = nodes.definition_list()
    lines = list(directive.content)
    index = 0
    while index < len(lines):
        terms = []
        while index < len(lines) and (not lines[index].strip() or not lines[index][0].isspace()):
            # Comments may be between terms; text after ` : ` is the term's place in Sphinx's index.
            if lines[index].strip() and not lines[index].startswith(".. "):
                terms.append(lines[index].split(" : ")[0].strip())
            index += 1
        first = index
        while index < len(lines) and (not lines[index].strip() or lines[index][0].isspace()):
            index += 1
        definition = nodes.definition()
        body = directive.content[first:index]
        body.trim_left(min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0))
        directive.state.nested_parse(StringList(body), directive.content_offset + first, definition)
        term_nodes = [_make_term(directive, term) for term in terms]
        listing += nodes.definition_list_item("", *term_nodes, definition)
    return [listing]


def _make_term(directive: Any, text: str) -> Any:
    from docutils import nodes

    children, _ = directive.state.inline_text(text, directive.lineno)
    return nodes.term(text, "", *children)
