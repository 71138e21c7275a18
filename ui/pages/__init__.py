"""Pages for the managers of the glossary: made on the server, updated by HTMX, and complete without any script.

Their data and actions are use cases of `argot.service`; this package has only addresses, forms and layout.
"""
