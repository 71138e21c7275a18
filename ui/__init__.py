"""The user interfaces: command line, chat window, managers' pages and API, and the server. They hold no logic."""
