"""What a question is about: its terms, its context, its intent, and the question without its history."""
