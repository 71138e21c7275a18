"""Word documents: mammoth gives HTML by the styles, which become headings, lists and tables. Pictures are left out."""

from __future__ import annotations

import io

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import check_archive, core_properties
from argot.corpus.readers.html import html_to_markdown
from argot.corpus.readers.plain_text import file_stem
from argot.corpus.readers.titles import first_heading
from argot.types import ParsedDocument

# Added to mammoth's own map: Word has nine levels of headings, HTML only six.
_STYLES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Heading 7'] => h6:fresh
p[style-name='Heading 8'] => h6:fresh
p[style-name='Heading 9'] => h6:fresh
p[style-name='Caption'] => p:fresh
p[style-name='caption'] => p:fresh
"""
_ELEMENTS_A_SECOND = 10_000
"""What mammoth reads: 60 seconds are enough for some 25 MB of ordinary text (unpacked)."""


def read_docx(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: of the properties, else the first top heading, else the file name. Word files know no pages."""
    import mammoth

    check_archive(data, name, limits, elements_a_second=_ELEMENTS_A_SECOND)
    # By default pictures become base64, megabytes of text that nobody searches for.
    result = mammoth.convert_to_html(
        io.BytesIO(data), style_map=_STYLES, convert_image=mammoth.images.img_element(lambda image: {}), id_prefix="n-"
    )
    markdown = html_to_markdown(result.value)
    core = core_properties(data)
    title = core.title or first_heading(markdown) or file_stem(name)
    return ParsedDocument(title, markdown, _MEDIA_TYPE, date=core.date, fields=core.fields)


_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
