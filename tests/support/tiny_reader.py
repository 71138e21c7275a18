"""A model folder with random weights, small enough to train and export in a test."""

from pathlib import Path
from typing import Any

WORDS = """
the a of is was to in it does what how long which who training takes six microseconds strobe canteen opens at noon
lunch paid by badge duty cycle correction trims reader passage answers question drive block retired after two program
failures not never only bremen except on mondays . , ? : - 1 2 6 25
"""


def tiny_model(folder: Path) -> Path:
    """Make the encoder of a sentence-transformers folder."""
    from transformers import BertModel

    tokenizer, config = _parts()
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "modules.json").write_text("[]")
    return folder


def tiny_cross_encoder(folder: Path, labels: int = 1) -> Path:
    from transformers import BertForSequenceClassification, PreTrainedTokenizerFast

    tokenizer, config = _parts()
    config.num_labels = labels
    BertForSequenceClassification(config).save_pretrained(folder)
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **marks).save_pretrained(folder)
    return folder


def _parts(seed: int = 3) -> tuple[Any, Any]:
    """Return a tokenizer and the sizes of an encoder for it. `seed`: for the weights drawn next."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig

    vocabulary = {word: n for n, word in enumerate(dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS.split()]))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=256,
    )
    return tokenizer, config


def tiny_embedder(folder: Path, seed: int = 3) -> Path:
    """Make a whole sentence-transformers folder, which can embed."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertModel, PreTrainedTokenizerFast

    tokenizer, config = _parts(seed)
    parts = folder.with_name(f"{folder.name}-parts")
    BertModel(config, add_pooling_layer=True).save_pretrained(parts)
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **marks).save_pretrained(parts)
    words = Transformer(str(parts), max_seq_length=64)
    model = SentenceTransformer(modules=[words, Pooling(config.hidden_size), Normalize()], device="cpu")
    model.save_pretrained(str(folder), create_model_card=False)
    return folder
