"""The name and the tagline of the window."""

NAME = "Argot"
TAGLINE = "Answers from your organisation's own documents, in its own language."
