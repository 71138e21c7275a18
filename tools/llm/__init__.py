"""The language model's implementations of the protocols, over an OpenAI-compatible server such as vLLM."""
