"""The page docs/prompts.md, made from the prompts themselves: python -m argot.prompts.prompt_docs > docs/prompts.md"""

from __future__ import annotations

from textwrap import fill

from argot.prompts.fences import FENCE_RULE
from argot.prompts.loader import list_prompt_names, prompt

_HEAD = f"""# Prompts

One file for each call of a language model, in `prompts/`; few-shot examples lie in `prompts/examples/`, under the same
name. The words are Argot's own; the source says whose idea it is. The front matter of each file gives its inputs, the
JSON Schema of its reply and the most tokens the reply may take.

A call has two messages. The system message is the file's text, a rule, and the examples: always the same, byte for
byte, so that vLLM keeps it in its prefix cache. The user message is the inputs, each between tags of its own name, in
which nothing can look like a tag. The rule is:

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
