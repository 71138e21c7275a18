"""Text to vectors: the embedder, its ONNX export, and the process that embeds in the background."""
