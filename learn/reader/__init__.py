"""The reader: a small model that says whether a passage answers a question, where, and what bears a sentence out."""
