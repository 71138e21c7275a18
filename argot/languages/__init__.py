"""Languages of texts and questions: their words as data, one file each, and the code that identifies and stems them."""
