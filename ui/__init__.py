"""The surfaces: command line, chat window, managers' pages, API, Slack; and the server. They hold no logic."""
