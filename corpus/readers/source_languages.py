"""The languages of source files: their suffixes, and what a symbol is in each.

A language with a grammar is parsed by tree-sitter; in the others a symbol begins at a line that its pattern matches,
and ends before the next one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class SourceLanguage:
    """A language, or a form of settings.

    Attributes:
        name: as Markdown names the language of a block of code.
        grammar: the module of tree-sitter's grammar and the function in it; empty if there is none.
        symbols: the kinds of nodes that are symbols.
        containers: those of them whose members are symbols too.
        pattern: the first line of a symbol, with the group `name`; for a language without a grammar.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: tuple[str, str] | None = None
    symbols: frozenset[str] = frozenset()
    containers: frozenset[str] = frozenset()
    pattern: re.Pattern[str] | None = None

    @property
    def media_type(self) -> str:
        return f"text/x-{self.name}"


def _parse_by(
    name: str, suffixes: str, module: str, symbols: str, containers: str = "", *, function: str = "language"
) -> SourceLanguage:
    holding = frozenset(containers.split())
    kinds = frozenset(symbols.split()) | holding
    return SourceLanguage(name, tuple(suffixes.split()), (f"tree_sitter_{module}", function), kinds, holding)


def _outline_by(name: str, suffixes: str, pattern: str = "") -> SourceLanguage:
    found = re.compile(pattern, re.MULTILINE | re.IGNORECASE) if pattern else None
    return SourceLanguage(name, tuple(suffixes.split()), pattern=found)


_C_SYMBOLS = "function_definition struct_specifier union_specifier enum_specifier type_definition preproc_function_def"
_SCRIPT_SYMBOLS = "function_declaration generator_function_declaration method_definition variable_declarator"
_TYPED_SYMBOLS = f"{_SCRIPT_SYMBOLS} interface_declaration enum_declaration type_alias_declaration"
_NAMED_BY_KEY = r"^(?P<name>[^\s#:\-\[{\"'][^:\n]{0,100}|\"[^\"\n]{1,100}\"):(?=\s|$)"
_SECTION = r"^\[{1,2}(?P<name>[^\[\]\n]{1,200})\]"
_PROTO = r"^(?P<name>(?:message|service|enum|extend)\s+[\w.]+)"
_SQL = (
    r"^[ \t]*(?P<name>(?:create(?:\s+or\s+replace)?|alter)(?:\s+\w+){0,3}?\s+(?:table|view|function|procedure"
    r"|index|trigger|type|sequence|schema|package)(?:\s+if\s+not\s+exists)?\s+[\w.\"`\[\]]+)"
)
LANGUAGES = (
    _parse_by("c", ".c .h", "c", _C_SYMBOLS),
    _parse_by("cpp", ".cpp .cc .cxx .hpp .hh .hxx .ino", "cpp", _C_SYMBOLS, "class_specifier namespace_definition"),
    _parse_by("python", ".py .pyi", "python", "function_definition", "class_definition"),
    _parse_by("javascript", ".js .mjs .cjs .jsx", "javascript", _SCRIPT_SYMBOLS, "class_declaration"),
    _parse_by(
        "typescript",
        ".ts .mts .cts",
        "typescript",
        _TYPED_SYMBOLS,
        "class_declaration abstract_class_declaration internal_module",
        function="language_typescript",
    ),
    _parse_by(
        "tsx",
        ".tsx",
        "typescript",
        _TYPED_SYMBOLS,
        "class_declaration abstract_class_declaration",
        function="language_tsx",
    ),
    _parse_by(
        "java",
        ".java",
        "java",
        "method_declaration constructor_declaration annotation_type_declaration",
        "class_declaration interface_declaration enum_declaration record_declaration",
    ),
    _parse_by("go", ".go", "go", "function_declaration method_declaration type_declaration"),
    _parse_by(
        "rust",
        ".rs",
        "rust",
        "function_item struct_item enum_item union_item macro_definition type_item",
        "impl_item trait_item mod_item",
    ),
    _parse_by("bash", ".sh .bash", "bash", "function_definition"),
    _parse_by(
        "systemverilog",
        ".v .vh .sv .svh",
        "systemverilog",
        "task_declaration function_declaration class_method type_declaration",
        "module_declaration interface_declaration program_declaration package_declaration class_declaration",
    ),
    _parse_by(
        "vhdl",
        ".vhd .vhdl",
        "vhdl",
        "entity_declaration process_statement subprogram_definition subprogram_declaration component_declaration",
        "architecture_definition package_declaration package_definition",
    ),
    _outline_by("protobuf", ".proto", _PROTO),
    _outline_by("sql", ".sql .ddl", _SQL),
    _outline_by("cmake", ".cmake", r"^[ \t]*(?P<name>(?:function|macro)\s*\(\s*\w+)"),
    _outline_by("makefile", ".mk .mak", r"^(?P<name>[A-Za-z][\w./%$() -]{0,100}):(?!=)"),
    _outline_by("tcl", ".tcl .sdc .xdc", r"^[ \t]*(?P<name>proc\s+[\w:]+)"),
    _outline_by("perl", ".pl .pm", r"^(?P<name>(?:sub|package)\s+[\w:]+)"),
    _outline_by("powershell", ".ps1 .psm1", r"^(?P<name>(?:function|class)\s+[\w:-]+)"),
    _outline_by("linker-script", ".ld .lds", r"^[ \t]*(?P<name>MEMORY|SECTIONS)\b"),
    _outline_by("assembly", ".s .asm", r"^(?P<name>[A-Za-z_.$][\w.$]*):"),
    _outline_by("devicetree", ".dts .dtsi", r"^\t?(?P<name>(?:[\w-]+:\s*)?[\w,.@&/-]+)\s*\{"),
    _outline_by("yaml", ".yaml .yml", _NAMED_BY_KEY),
    _outline_by("toml", ".toml", _SECTION),
    _outline_by("ini", ".ini .cfg .conf .properties", _SECTION),
    _outline_by("log", ".log"),
    _outline_by("diff", ".diff .patch", r"^(?:diff --git a/|\+\+\+ b/)(?P<name>\S+)"),
)
SOURCE_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {suffix: language.media_type for language in LANGUAGES for suffix in language.suffixes}
)
"""Suffix, in lower case, to media type."""
_CPP_LINE = re.compile(
    r"^[ \t]*(?:class|namespace|template|using)\b[^;=(\n]*$|^[ \t]*(?:public|private|protected):", re.MULTILINE
)
_BY_SUFFIX: Mapping[str, SourceLanguage] = {suffix: one for one in LANGUAGES for suffix in one.suffixes}


def get_language(name: str) -> SourceLanguage:
    """Return the language of a file by its suffix; a file of another kind has lines only, as a log has."""
    return _BY_SUFFIX.get(PurePosixPath(name.replace("\\", "/")).suffix.lower(), _BY_SUFFIX[".log"])


def find_dialect(language: SourceLanguage, text: str) -> SourceLanguage:
    """Return the language that parses a text: that of a header (.h) may be C++, as classes in it show."""
    return _BY_SUFFIX[".cpp"] if language.name == "c" and _CPP_LINE.search(text) else language
