"""Training of the passage reader: two small heads over token vectors that judge a passage and its units."""
