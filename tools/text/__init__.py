"""Words, sentences, numbers and Markdown as all of these tools read them, and how rare a word is."""
