"""What stands around every page: authentication, authorization, security headers, errors, observability."""
