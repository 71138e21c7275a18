"""How an answer looks: in the chat window, on a terminal, in messages of other programs and on pages."""
