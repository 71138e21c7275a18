"""Pages for the managers of the glossary: made on the server, moved by HTMX, and complete without any script.

What they show and do are use cases of `argot.service`; here are only addresses, forms and looks.
"""
