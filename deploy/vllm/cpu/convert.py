"""Makes a Hugging Face folder of a GGUF file: vLLM on a processor reads the one, the small model comes as the other."""

import shutil
import sys
from pathlib import Path


def convert(gguf: Path, folder: Path) -> None:
    """Write weights (bfloat16), settings and tokenizer with its chat template to `folder`, whole or not at all."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    half_made = folder.with_name(folder.name + ".part")
    shutil.rmtree(half_made, ignore_errors=True)
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    model = AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    model.save_pretrained(half_made)
    AutoTokenizer.from_pretrained(**source).save_pretrained(half_made)
    shutil.rmtree(folder, ignore_errors=True)
    half_made.rename(folder)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
