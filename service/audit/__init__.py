"""The record of what people did that matters to security: events as JSON, to a file, a syslog server or an address."""
