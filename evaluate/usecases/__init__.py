"""The suites that measure a knowledge base, as functions, and the choices of settings that rest on them."""
