"""The quick search for elements finds what soupsieve finds, and skips other elements without calling it."""

import pytest
from bs4 import BeautifulSoup
from soupsieve import SoupSieve

from argot.corpus.readers import html_forms, html_media, html_visibility
from argot.corpus.readers.html_selection import select_elements

PAGE = """<body><nav id=n><a class=headerlink href=#>P</a></nav><div role=banner hidden>B</div><aside>A</aside>
<p style="display:none" class="x mwe-math-mathml-a11y">Hidden</p><span aria-hidden=true>i</span><dialog>d</dialog>
<a onclick="open('n')" data-toggle=tab>Open</a><label for=f>Name</label><input id=f value=v><select><option>1</select>
<div role=checkbox aria-checked=true>Insured</div><img alt=Logo><img><script type="math/tex">x</script>
<svg><text>t</text></svg><h2>Title</h2><p>Plain</p></body>"""
SELECTORS = [
    html_visibility._NEVER_TEXT_SELECTOR,
    html_visibility._UNSEEN_SELECTOR,
    html_visibility._OPENER_SELECTOR,
    f"{html_visibility._NAVIGATION_SELECTOR}, aside",
    "[id]",
    "label[for]",
    "input, select, textarea",
    ", ".join(f"[role={role}][aria-checked]" for role in html_forms._BOX_ROLES),
    'script[type^="math/tex"]',
    "img[alt]",
    ".mwe-math-mathml-a11y[style]",
    ".x",
]


@pytest.mark.parametrize("selector", SELECTORS)
def test_the_quick_search_finds_the_same_elements_as_soupsieve(selector: str) -> None:
    page = BeautifulSoup(PAGE, "lxml")

    found = select_elements(page, selector)

    assert found
    assert [id(one) for one in found] == [id(one) for one in page.select(selector)]
    assert select_elements(page, selector, limit=1) == found[:1]


def test_plain_paragraphs_are_not_passed_to_soupsieve(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    matches = SoupSieve.match
    monkeypatch.setattr(SoupSieve, "match", lambda self, tag: tried.append(tag.name) or matches(self, tag))
    page = BeautifulSoup("<p>A</p>" * 100 + "<nav>N</nav>", "lxml")

    for selector in SELECTORS:
        select_elements(page, selector)

    assert set(tried) <= {"nav"}
    assert html_media.select_elements is select_elements
