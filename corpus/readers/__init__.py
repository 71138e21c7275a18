"""One reader a file format; all give Markdown that keeps headings, lists and tables."""
