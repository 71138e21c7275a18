"""The chat window, on Chainlit."""
