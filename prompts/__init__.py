"""One Markdown file per call of a language model, and the loader."""
