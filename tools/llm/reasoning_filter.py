"""The readable part of a streamed reply: without the model's reasoning and its template's marks.

If a server does not remove thoughts itself, they are in the text, in marks that differ from model to model ("<think>",
"[THINK]", "<|channel|>analysis<|message|>"). Some templates write the opening mark into the prompt, so that a reply
begins with an unmarked thought that only "</think>" reveals: the text sent so far is then retracted.
"""

from __future__ import annotations

import re

from argot.protocols import RETRACTION
from argot.tools.answering.citation_marks import is_in_code

# Also with a prefix, "<seed:think>". Marks are compared in any case: "<Thinking>", "<|START_THINKING|>".
_THOUGHT = r"(?:[a-z]{1,12}[:_])?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad)"
_WRAPPER = r"(?:answer|response|final_answer|output)"
_MARK = re.compile(
    # Attributes are allowed: "<think time='3'>". "[THINK]" in capitals only: a text may contain "[think]".
    rf"(?P<open><{_THOUGHT}(?:\s[^<>\n]{{0,80}})?>|<\|(?:begin_of_thought|start_thinking|inner_prefix)\|>"
    r"|<\|channel>|(?-i:\[THINK\])|◁think▷|<unused94>)"
    rf"|(?P<close></{_THOUGHT}\s*>|<\|(?:end_of_thought|end_thinking|inner_suffix)\|>"
    r"|<channel\|>|(?-i:\[/THINK\])|◁/think▷|<unused95>)"
    # The remains of "<|start|>assistant<|channel|>final" if a server dropped the marks (`_STRIPPED`).
    r"|(?P<stripped>(?-i:assistantfinal))"
    # A channel's name is between its head and "<|message|>"; the part after it lasts until `part`.
    r"|(?P<head><\|(?:channel|start)\|>)"
    r"|(?P<message><\|message\|>)"
    r"|(?P<part><\|(?:end|return|call)\|>)"
    # Ends of a turn. Text after them is the model playing the asker, or the next turn of its template.
    r"|(?P<end><\|(?:im_end|im_start|eot_id|eom_id|end_of_text|endoftext|start_header_id|end_of_turn|user)\|>"
    r"|<\|end_of_turn_token\|>|</s>|<(?:start|end)_of_turn>|<eos>|<｜end▁of▁sentence｜>)"
    r"|(?P<drop><\|(?:begin_of_solution|end_of_solution|start_response|end_response|constrain|assistant)\|>)"
    rf"|(?P<wrapper></?{_WRAPPER}>)",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    rf"(?:</?[|｜\w:▁]{{0,24}}\|?|<{_THOUGHT}\s[^<>\n]{{0,80}}|◁/?\w{{0,5}}|(?-i:\[/?[THINK]{{0,5}}))\Z",
    re.IGNORECASE,
)
"""The beginning of a mark that the next piece may complete."""
_STRIPPED = re.compile(r"analysis(?=[A-Z])")
"""The beginning of a reply in channels whose marks the server has dropped."""
_HUSHED = re.compile(r"\s*(?:analysis|commentary|thought)")
"""Channels that hold no answer."""
_MAX_MARK_CHARS = 120  # characters at the end in which an unfinished mark is looked for


class ReasoningFilter:
    """Filters a reply piece by piece. `is_over`: the model's turn has ended, whatever it still writes.

    `unannounced`: a thought ended that had no opening mark.
    """

    def __init__(self, *, expects_thought: bool = False) -> None:
        """
        Args:
            expects_thought: this server's replies began with unannounced thoughts; nothing is sent before it is clear
                whether this one does.
        """
        self.is_over = False
        self.unannounced = False
        self._state = "doubt" if expects_thought else "speech"
        self._held = ""
        self._said = ""
        self._head = ""
        self._wrapped = False

    def feed(self, piece: str) -> list[str]:
        """Return the pieces that can be shown now; `RETRACTION` may be one of them."""
        return self._filter_text(self._held + piece, last=False)

    def rest(self, *, cut_short: bool = False) -> list[str]:
        """Return the text still held back at the end of the reply. An unfinished thought is dropped, and so is a
        possible one if the reply was `cut_short`.
        """
        out = self._filter_text(self._held, last=True)
        if self._state == "doubt" and not cut_short:
            out += [self._said] if self._said else []
        return out

    def _filter_text(self, text: str, *, last: bool) -> list[str]:
        out: list[str] = []
        if not self._said and self._state in {"speech", "doubt"}:
            text = text.lstrip()
            if _STRIPPED.match(text):
                self._state = "thought"
            # Too short to decide: "analysisThe asker ..." is a thought, "analysis" alone may be the answer.
            elif not last and "analysis".startswith(text[:9]):
                self._held = text
                return out
        while not self.is_over and (mark := _MARK.search(text)):
            out += self._speak(text[: mark.start()])
            out += self._apply_mark(mark)
            text = text[mark.end() :]
        if self.is_over:
            self._held = ""
            return out
        cut = len(text) if last else self._find_certain_end(text)
        self._held = text[cut:]
        return out + self._speak(text[:cut])

    def _find_certain_end(self, text: str) -> int:
        """Return the end of the text that can no longer be part of a mark; for a thought, all but its last
        characters.
        """
        # Only the end can contain an unfinished mark; the rest of a long text is not searched again.
        near_end = max(0, len(text) - _MAX_MARK_CHARS)
        if self._state in {"thought", "head"}:
            return near_end
        begun = _BEGUN.search(text, near_end)
        return begun.start() if begun else len(text)

    def _apply_mark(self, mark: re.Match[str]) -> list[str]:
        """Change the state by a mark. A mark within code is text, and so is a wrapper's tag within an answer."""
        speaks = self._state == "speech"
        # "Write `<think>` around it." mentions the mark.
        if self._state != "thought" and is_in_code(self._said):
            return self._speak(mark[0])
        match mark.lastgroup:
            case "open" | "head":
                return self._begin_part("thought" if mark.lastgroup == "open" else "head")
            case "close":
                return self._end_thought()
            case "stripped":
                return self._end_thought() if self._state == "thought" else self._speak(mark[0])
            case "message":
                self._state = "thought" if _HUSHED.match(self._head) else "speech"
            case "part":
                # After a thought the next part is the answer; after an answer there is none.
                self.is_over = speaks and bool(self._said)
            case "end":
                # Before any word of the answer it may be the template's own.
                self.is_over = not speaks or bool(self._said)
            case "wrapper":
                return self._handle_wrapper(mark[0])
        return []

    def _begin_part(self, state: str) -> list[str]:
        # This thought is marked, so the text before it was none.
        doubted = [self._said] if self._state == "doubt" and self._said else []
        self._state, self._head = state, ""
        return doubted

    def _end_thought(self) -> list[str]:
        taken_back: list[str] = [RETRACTION] if self._state == "speech" and self._said else []
        # It ended without a beginning: all text so far was the thought.
        if self._state != "thought":
            self.unannounced, self._said = True, ""
        self._state = "speech"
        return taken_back

    def _handle_wrapper(self, tag: str) -> list[str]:
        """Drop the tags around a whole answer, which are no part of it."""
        closes = tag.startswith("</")
        # Only around the whole: within an answer "<answer>" is text.
        if self._wrapped if closes else not self._said:
            self._wrapped = not closes
            return []
        return self._speak(tag)

    def _speak(self, text: str) -> list[str]:
        match self._state:
            case "head":
                self._head = (self._head + text)[:_MAX_MARK_CHARS]
            case "speech" | "doubt":
                text = text if self._said else text.lstrip()
                self._said += text
                return [text] if text and self._state == "speech" else []
        return []
