"""Checks of a text's terms: abbreviations without an explanation, names not to be used, and varying spellings."""
