"""The language model's side of the protocols, over an OpenAI-compatible server such as vLLM."""
