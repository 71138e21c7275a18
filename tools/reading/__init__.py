"""Reading of a question: its terms, its context, its intent, and the question without its history."""
