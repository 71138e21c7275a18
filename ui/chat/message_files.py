"""Files that come with a message: they are put into the conversation and removed from Chainlit's folder at once."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chainlit as cl

from argot.errors import ArgotError, NotFound
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.attachments import thread_attach
from argot.service.usecases.questions.threads import ThreadFile
from argot.ui.chat.brand import NAME
from argot.ui.rendering.safe_markdown import escape_markdown
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.asker_identity import get_current_principal


class MessageFiles:
    """The files of messages in one knowledge base."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    def build_title(self, message: cl.Message) -> str:
        """Build the title of a conversation that begins with files and no question."""
        return ", ".join(str(element.name) for element in message.elements) or "…"

    async def put_in(self, message: cl.Message, thread: str) -> int:
        """Put the message's files into the thread, and report on each. Returns their number, read or not."""
        for element in message.elements:
            text = await self._put_in(element, thread)
            await cl.Message(content=text, author=NAME).send()
        return len(message.elements)

    async def _put_in(self, element: Any, thread: str) -> str:
        try:
            # In a worker thread: up to 25 MB are read and encoded while other answers are being streamed.
            content = await asyncio.to_thread(_take_file, Path(element.path or ""))
            principal = await get_current_principal(self.kb)
            await thread_attach(self.kb, principal, thread=thread, name=element.name, content=content)
        except ArgotError as error:
            return escape_markdown(translate_error(error))
        text = (
            "**%(name)s** can now be asked about, in this conversation and by you only. "
            "It is deleted with the conversation."
        )
        return translate(text, name=escape_markdown(element.name))

    def tell_resumed(self, thread: Any, files: Sequence[ThreadFile]) -> None:
        """Name the files of a conversation that is being reopened, as one of the `steps` that Chainlit shows."""
        if files:
            names = ", ".join(f"**{escape_markdown(one.name)}**" for one in files)
            message = cl.Message(content=translate("Files of this conversation: %(names)s.", names=names), author=NAME)
            message.created_at = thread["createdAt"]
            thread["steps"].insert(0, message.to_dict())


def _take_file(path: Path) -> str:
    """Read the bytes of a file as base64, and remove the file whether it could be read or not.

    Raises:
        NotFound: the file was sent before.
    """
    try:
        return base64.b64encode(path.read_bytes()).decode("ascii")
    except FileNotFoundError as error:
        raise NotFound(translate("This file was sent before. Pick it again to send it again.")) from error
    finally:
        path.unlink(missing_ok=True)
