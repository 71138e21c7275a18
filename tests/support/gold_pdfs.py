"""Generated PDFs, each with one structure that is easily lost. Their gold standards are in tests/corpus/gold.

They are drawn line by line, so that the place, order and font of every letter are known.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import LongTable, Paragraph, SimpleDocTemplate, Spacer, TableStyle

BODY = 10.0
LEADING = 13.0
LEFT = 60.0
WIDTH = 475.0


class Page:
    """A cursor that moves down an A4 page."""

    def __init__(self, canvas: Canvas, top: float = 780.0) -> None:
        self.canvas, self.y = canvas, top

    def line(self, text: str, x: float = LEFT, size: float = BODY, font: str = "Helvetica") -> None:
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, self.y, text)
        self.y -= LEADING if size <= BODY else 1.5 * size

    def heading(self, text: str, size: float) -> None:
        self.y -= 8
        self.line(text, size=size, font="Helvetica-Bold")
        self.y -= 2 if size <= BODY else 0

    def paragraph(self, text: str, x: float = LEFT, width: float = WIDTH) -> None:
        for one in wrapped(text, width):
            self.line(one, x)
        self.y -= 6

    def item(self, mark: str, text: str, x: float) -> None:
        self.canvas.setFont("Helvetica", BODY)
        self.canvas.drawString(x, self.y, mark)
        for one in wrapped(text, WIDTH - x):
            self.line(one, x + 14)

    def code(self, *lines: str) -> None:
        for one in lines:
            self.line(one, LEFT + 10, 9, "Courier")
        self.y -= 6

    def raised(self, text: str, after: str, x: float = LEFT) -> None:
        """Draw a small number above the line, after the last text."""
        self.canvas.setFont("Helvetica", 6)
        self.canvas.drawString(x + stringWidth(after, "Helvetica", BODY), self.y + LEADING + 3.5, text)


def wrapped(text: str, width: float, size: float = BODY) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if stringWidth(longer, "Helvetica", size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def drawn(*pages: Callable[[Page], None], title: str = "") -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    canvas.setTitle(title or " ")
    for draw in pages:
        draw(Page(canvas))
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


# -- headings ---------------------------------------------------------------------------------------------------------


def headings_by_fonts() -> bytes:
    def one(page: Page) -> None:
        page.heading("Care of the pump station", 22)
        page.paragraph(
            "This guide is for those who look after the pump station between two yearly services. It says what to look "
            "at, how often, and whom to call when something is not as it should be."
        )
        page.heading("Daily rounds", 16)
        page.paragraph("Walk round the station once a day and write down what the three gauges show.")
        page.heading("Gauges", 13)
        page.paragraph("The left gauge shows the pressure before the filter, the right one the pressure behind it.")
        page.heading("Sounds", 13)
        page.paragraph("A pump that sings draws air. Close the bypass and listen again after a minute.")
        page.heading("Yearly service", 16)
        page.paragraph("The maker's engineer renews the seals and the oil. Have the log of the year at hand.")

    return drawn(one)


def headings_by_numbers() -> bytes:
    """Make headings of one style, whose levels only their numbers show."""

    def one(page: Page) -> None:
        page.heading("Handling of spare keys", 18)
        for heading, text in (
            ("1 Scope", "These rules hold for all keys of the two depots and for the cards that open their gates."),
            ("2 Keys", "Keys are kept in the cabinet at the gate, each on a hook with its number."),
            ("2.1 Handing out", "Whoever takes a key signs for it with name, time and the number of the hook."),
            ("2.1.1 Visitors", "Visitors get no key. Somebody who has signed for one goes with them."),
            ("2.1.2 Night shift", "At night the guard hands out keys and counts them before the shift ends."),
            ("2.2 Losses", "A lost key is reported within the hour, and the lock is changed the same day."),
            ("3 Cards", "Cards are blocked by the control room, which has somebody there at all times."),
        ):
            page.heading(heading, BODY)
            page.paragraph(text)

    return drawn(one)


def headings_by_bookmarks() -> bytes:
    """Make headings of one style without numbers, whose levels only the bookmarks show."""
    parts = (
        (0, "Before the journey", "Order the crane two weeks ahead and ask for a driver who knows the yard."),
        (1, "Papers", "The waybill names the sender, the receiver and the weight of every crate."),
        (1, "Load", "Crates stand on beams of oak, never on the bare floor of the wagon."),
        (2, "Straps", "Two straps a crate, each with a tag that says when it was last tested."),
        (0, "On the road", "Stop after thirty kilometres and tighten every strap by one click."),
        (1, "Bad weather", "Above wind force seven the wagon waits in the lee of a hall."),
    )

    def one(page: Page) -> None:
        page.heading("Moving the test rig", 18)
        for number, (level, heading, text) in enumerate(parts):
            page.canvas.bookmarkPage(f"part{number}", fit="XYZ", top=page.y)
            page.canvas.addOutlineEntry(heading, f"part{number}", level)
            page.heading(heading, BODY)
            page.paragraph(text)

    return drawn(one)


# -- columns ----------------------------------------------------------------------------------------------------------

RIVER = (
    "The river rises in the moor above the town and falls two hundred metres on its way to the lake. Before the weirs "
    "were built it flooded the lower streets nearly every spring, and the marks on the wall of the mill show how high "
    "the water stood. Since then it has left its bed only twice.",
    "The first time a gate was stuck, the second time so much snow melted in three warm days that all gates together "
    "could not let it through. After that the council bought the meadows below the bridge, which may now be flooded "
    "and hold as much water as the lake gains in a day.",
    "Whoever walks along the bank today passes five weirs, each with a ladder for fish. Counters in the ladders show "
    "that trout came back within four years, and that grayling needed nine. The last weir is the oldest; its gates "
    "are still moved by hand, as they were when it was built.",
)


def two_columns() -> bytes:
    """Draw two columns line by line across, as some printer drivers do."""

    def one(page: Page) -> None:
        page.heading("The river and its weirs", 20)
        page.y -= 6
        lines = [line for text in RIVER for line in wrapped(text, 225)]
        half = (len(lines) + 1) // 2
        for number in range(half):
            page.canvas.setFont("Helvetica", BODY)
            page.canvas.drawString(LEFT, page.y, lines[number])
            if half + number < len(lines):
                page.canvas.drawString(LEFT + 245, page.y, lines[half + number])
            page.y -= LEADING

    return drawn(one)


def three_columns() -> bytes:
    """Draw three columns one after the other; sentences continue in the next column."""

    def one(page: Page) -> None:
        page.heading("News from the harbour", 20)
        page.y -= 6
        top = page.y
        lines = [line for text in RIVER for line in wrapped(text, 145)]
        third = (len(lines) + 2) // 3
        for column in range(3):
            page.y = top
            for line in lines[column * third : (column + 1) * third]:
                page.line(line, LEFT + 165 * column)

    return drawn(one)


# -- what stands at the edges ------------------------------------------------------------------------------------------

CHAPTERS = (
    ("Receiving", "Goods come in at gate four. The clerk compares them with the order and counts the pallets."),
    ("Storing", "Heavy goods stand below, light ones above. Nothing stands in front of a fire door."),
    ("Picking", "Orders are picked from the back of the shelf, so that the oldest goods leave first."),
    ("Packing", "Each parcel gets a slip with the order's number and the name of whoever packed it."),
    ("Shipping", "The carrier signs for the number of parcels. Damaged ones stay in the house."),
)


def running_edges() -> bytes:
    """Draw headers that change with the chapter on right-hand pages, and footers with the page number."""

    def chapter(number: int) -> Callable[[Page], None]:
        def draw(page: Page) -> None:
            name, text = CHAPTERS[number]
            page.canvas.setFont("Helvetica", 8)
            page.canvas.drawString(LEFT, 815, f"Warehouse manual   Revision 7   {number + 1}")
            page.canvas.drawRightString(LEFT + WIDTH, 28, f"Page {number + 1} of {len(CHAPTERS)}")
            page.canvas.drawString(LEFT, 28, "For use in the house only")
            page.heading(f"{name} of goods", 16)
            page.paragraph(text)
            page.paragraph("The foreman looks through the day's papers in the evening and signs the sheet.")

        return draw

    return drawn(*map(chapter, range(len(CHAPTERS))))


# -- lists, code, footnotes --------------------------------------------------------------------------------------------


def lists_and_code() -> bytes:
    def one(page: Page) -> None:
        page.heading("Setting up a node", 18)
        page.paragraph("What is needed on the bench before anything is switched on:")
        page.item("•", "a supply that gives", LEFT + 10)
        page.item(
            "–",
            "twelve volts for the board, with a limit of two amperes, so that a short circuit does no harm to "
            "the traces of the board",
            LEFT + 30,
        )
        page.item("–", "five volts for the probe", LEFT + 30)
        page.item("•", "a laptop with the console program", LEFT + 10)
        page.y -= 6
        page.paragraph("Then, in this order:")
        page.item("1.", "Connect the probe.", LEFT + 10)
        page.item("2.", "Switch the supply on and wait for the green lamp.", LEFT + 10)
        page.item("3.", "Load the image with this script:", LEFT + 10)
        page.y -= 6
        page.code(
            "for port in ports:",
            "    if port.is_free():",
            "        port.load(image)",
            "    else:",
            "        wait(port, seconds=5)",
        )
        page.paragraph("The node answers on its console within ten seconds.")

    return drawn(one)


def footnotes() -> bytes:
    def one(page: Page) -> None:
        page.heading("Water for the cooling towers", 18)
        first = "Each tower takes 40 cubic metres an hour in summer."
        page.line(first)
        page.raised("1", first)
        page.y -= 6
        second = "The wells give half of it, the river the other half."
        page.line(second)
        page.raised("2", second)
        page.y -= 6
        page.paragraph("In winter the towers are shut down one after the other, and the wells alone are enough.")
        page.y = 110
        page.canvas.line(LEFT, 128, LEFT + 120, 128)
        for number, text in (
            ("1", "Measured from June to August."),
            ("2", "By the permit of 2019 at most 60 an hour."),
        ):
            page.canvas.setFont("Helvetica", 5)
            page.canvas.drawString(LEFT, page.y + 3, number)
            page.line(text, LEFT + 4, 8)

    return drawn(one)


# -- tables -----------------------------------------------------------------------------------------------------------


def ruled_tables() -> bytes:
    """Draw tables with units in the header, a heading over two columns, and a name over two rows."""
    rows = [
        ["Pump", "Flow (m3/h)", "Pressure (bar)", ""],
        ["", "", "rated", "highest"],
        ["P1", "40", "6.0", "7.5"],
        ["P2", "55", "6.5", "8.0"],
        ["P3", "70", "7.0", "9.0"],
    ]
    style = TableStyle(
        [
            ("GRID", (0, 0), (-1, -1), 0.8, colors.black),
            ("SPAN", (0, 0), (0, 1)),
            ("SPAN", (1, 0), (1, 1)),
            ("SPAN", (2, 0), (3, 0)),
            ("FONT", (0, 0), (-1, 1), "Helvetica-Bold", 10),
        ]
    )
    styles = getSampleStyleSheet()
    return built(
        [
            Paragraph("Pumps of the north hall", styles["Title"]),
            Paragraph(
                "All pumps were measured with clean filters, at a water temperature of 15 degrees.", styles["BodyText"]
            ),
            Spacer(1, 8),
            LongTable(rows, style=style, colWidths=[80, 90, 70, 70]),
            Spacer(1, 8),
            Paragraph("P3 was renewed after the measurement.", styles["BodyText"]),
        ]
    )


def unruled_table() -> bytes:
    rows = (
        ("Site", "Staff", "Area in m2", "Opened"),
        ("Northgate", "118", "12,400", "1998"),
        ("Lakeside", "64", "7,950", "2006"),
        ("Old Mill", "231", "30,100", "1987"),
        ("Total", "413", "50,450", ""),
    )

    def one(page: Page) -> None:
        page.heading("Sites of the group", 18)
        page.paragraph("Staff are counted on the last day of the year, part-time posts by their share.")
        for row in rows:
            page.canvas.setFont("Helvetica", BODY)
            page.canvas.drawString(LEFT, page.y, row[0])
            for column, text in enumerate(row[1:]):
                page.canvas.drawRightString(LEFT + 200 + 110 * column, page.y, text)
            page.y -= 16
        page.y -= 8
        page.paragraph("The mill is let to three other companies in part.")

    return drawn(one)


def table_over_pages() -> bytes:
    rows = [
        ["Valve", "Opens (bar)", "Checked"],
        *([f"V{number}", f"{4 + number / 4:.2f}", f"2024-0{1 + number % 9}-15"] for number in range(1, 61)),
    ]
    style = TableStyle([("GRID", (0, 0), (-1, -1), 0.8, colors.black), ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 10)])
    styles = getSampleStyleSheet()
    return built(
        [
            Paragraph("Safety valves", styles["Title"]),
            Paragraph(
                "The list of all valves of the plant, with the pressure at which each opens.", styles["BodyText"]
            ),
            Spacer(1, 8),
            LongTable(rows, style=style, colWidths=[80, 90, 90]),
        ]
    )


def built(story: Sequence[object]) -> bytes:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=A4, invariant=True, title=" ").build(list(story))
    return buffer.getvalue()


def pictured(pdf: bytes, dpi: int = 200) -> Iterable[bytes]:
    """Return each page as a PNG."""
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    for page in document:
        data = io.BytesIO()
        page.render(scale=dpi / 72, grayscale=True).to_pil().save(data, "PNG")
        yield data.getvalue()
        page.close()
    document.close()


def scanned_page() -> bytes:
    """Make a page without a text layer: a picture of the first page of another document."""
    from reportlab.lib.utils import ImageReader

    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    for picture in pictured(headings_by_fonts()):
        canvas.drawImage(ImageReader(io.BytesIO(picture)), 0, 0, *A4)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


# -- broken text ------------------------------------------------------------------------------------------------------

BROKEN = (
    ("The office of the first floor", 18),
    (
        "The officer on duty files a certificate for every finding, and defines what is to be fixed. A difference",
        10,
    ),
    (
        "of five degrees is sufficient to stop the firing of the kiln until it is clear which figure is the final one.",
        10,
    ),
    ("Files of the office are kept for fifteen years in the cellar, and the five newest ones in the staff room.", 10),
)


def in_vera(lines: Sequence[tuple[str, int]], *, readable: bool) -> bytes:
    """Make an uncompressed PDF in a font that comes with reportlab, so that its parts can be changed."""
    from pathlib import Path

    import reportlab
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    name = f"Vera{int(readable)}"
    file = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
    pdfmetrics.registerFont(TTFont(name, str(file), asciiReadable=readable))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, pageCompression=0, invariant=True)
    y = 740
    for text, size in lines:
        canvas.setFont(name, size)
        canvas.drawString(40, y, text)
        y -= 40 if size > 12 else 14
    canvas.save()
    return buffer.getvalue()


def lost_ligatures() -> bytes:
    """Make a PDF whose ligature is drawn correctly but mapped to an `i`."""
    lines = [(text.replace("fi", "\ufb01"), 9 if size == 10 else size) for text, size in BROKEN]
    data = in_vera(lines, readable=True)
    assert b"<FB01>" in data
    return data.replace(b"<FB01>", b"<0069>")


def lost_vowels() -> bytes:
    """Make a PDF whose character map gives invalid characters for `e` and `a`."""
    data = in_vera([(text, 9 if size == 10 else size) for text, size in BROKEN], readable=False)
    assert b"<0065>" in data
    return data.replace(b"<0065>", b"<E065>").replace(b"<0061>", b"<E061>")


def garbled_letters() -> bytes:
    """Make a PDF whose character map gives a letter for all vowels: only the wording shows the fault."""
    data = in_vera([(text, 9 if size == 10 else size) for text, size in BROKEN], readable=False)
    for vowel in "aeiouy":
        data = data.replace(f"<{ord(vowel):04X}>".encode(), b"<0078>")
    return data
