"""What the window calls itself."""

NAME = "Argot"
TAGLINE = "Answers from your organisation's own documents, in its own language."
