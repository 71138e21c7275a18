"""Documents of a railway depot, for tests that need sections and pages."""

import io

NIGHT_TRAIN = "When does the night train to Lyon leave the depot?"
DEPOT = "# Depot handbook\n\n" + "\n\n".join(
    f"## {heading}\n\n{text} " + f"Whoever works on {heading.casefold()} writes it into the log of the depot. " * 12
    for heading, text in (
        ("Overview", "This handbook is for the crews of the depot."),
        ("Night trains", "The night train to Lyon leaves the depot at 23:40."),
        ("Bicycle carriage", "A bicycle travels in the last coach and costs 6 euros."),
        ("Lost property", "Lost property is kept for 90 days in room 12."),
    )
)


def pdf(*pages: str) -> bytes:
    """Make a PDF with these pages; each text is a line of its own."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, A4)
    for text in pages:
        canvas.setFont("Helvetica", 14)
        for number, line in enumerate(text.splitlines()):
            canvas.drawString(72, 720 - 24 * number, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()
