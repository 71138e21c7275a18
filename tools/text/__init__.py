"""Words, sentences and Markdown as all of these tools read them."""
