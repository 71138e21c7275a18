"""Files become Markdown, Markdown becomes passages, passages become an index. No language model is needed here."""
