"""From passages to an answer: quoting, writing without a model, support and citations."""
