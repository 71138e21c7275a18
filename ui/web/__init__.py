"""The layer around every page: authentication, authorization, security headers, errors, observability."""
