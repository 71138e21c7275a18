"""The suites by which a knowledge base is measured, as functions, and the choices that they make."""
