"""The page docs/prompts.md, made from the prompts themselves: python -m argot.prompts.prompt_docs > docs/prompts.md"""

from __future__ import annotations

from textwrap import fill

from argot.prompts.fences import FENCE_RULE
from argot.prompts.loader import list_prompt_names, prompt

_HEAD = f"""# Prompts

One file for each call of a language model, in `prompts/`; few-shot examples are in `prompts/examples/`, under the same
name. The words are Argot's own; the column "Source" says where the idea comes from. The front matter of each file gives
its inputs, the JSON Schema of its reply and the maximum number of tokens of the reply.

A call has two messages. The system message consists of the file's text, a rule, and the examples. It is always the
same, byte for byte, so vLLM keeps it in its prefix cache. The user message consists of the inputs, each between tags
with its own name; nothing in an input can look like a tag. A rule about an input that may be missing, such as the
definitions of terms, stands above that input, and is left out with it. The rule in each system message is:

```
{fill(FENCE_RULE, 116)}
```

`product` and `forbidden_words` are settings of the knowledge base; no prompt names a product.

| Prompt | What it does | Source |
|---|---|---|
"""


def render_prompts_page() -> str:
    """Return the Markdown of the page: how a prompt is built, and a row for each."""
    rows = [
        f"| [{name}](../prompts/{name}.md) | {prompt(name).purpose} | {prompt(name).source} |"
        for name in list_prompt_names()
    ]
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(render_prompts_page(), end="")
