"""The texts of the chat window in every language: Chainlit's own translations, with Argot's words in their place."""

from __future__ import annotations

from typing import Any

from argot.languages.catalogues import load_translations, page_language
from argot.ui.translation.template_texts import UNDERLINE_TEXTS

CHAINLIT_LANGUAGES = {"en": "en-US.json", "de": "de-DE.json", "fr": "fr-FR.json", "es": "es.json"}
"""Chainlit's file of texts for each language of the pages."""
INTERFACE_TEXTS = {
    "chat.input.placeholder": "Ask about your documents …",
    # The name of a step is enough; Chainlit would write "Using Searching the documents".
    "chat.messages.status.using": "",
    "chat.messages.status.used": "",
    "chat.watermark": "Answers rest on your documents. Press a number to read the passage.",
    "threadHistory.sidebar.title": "Past conversations",
    "threadHistory.sidebar.empty": "No conversations yet",
    "threadHistory.thread.menu.delete": "Delete",
    "navigation.header.readme": "Help",
    "chat.messages.feedback.dialog.title": "What was good or bad about this answer? Managers of the documents can "
    "read your question, this answer and your words, but not your name.",
    "chat.messages.feedback.dialog.yourFeedback": "A reason, if you like …",
    "chat.messages.feedback.dialog.submit": "Send",
    "chat.messages.actions.copy.button": "Copy with sources",
    "chat.input.actions.stop": "Stop",
    "chat.input.actions.attachFiles": "Ask about a file, only in this conversation",
    "chat.settings.title": "How to answer",
    "chat.settings.customize": "For this conversation",
    "navigation.user.menu.settings": "How to answer",
    "navigation.user.menu.logout": "Sign out",
    "alerts.info": "Info",
}
"""Argot's texts in the place of Chainlit's, by their path in its file."""
SCRIPT_TEXTS = (
    "Library",
    "Terms",
    "Glossary",
    "Account",
    "Argot is answering.",
    "Skip to the question",
    "Your question",
    "Send",
    "Stop",
    "Ask about a file, only in this conversation",
    "How to answer",
    "New conversation",
    "Past conversations",
    "Search conversations",
    "Light or dark",
    "Your account",
    "Rename or delete",
    "To the newest message",
    "Copy with sources",
    "Helpful",
    "Not helpful",
    "Answer again",
    "Suggest a meaning of a term",
    "Save this conversation",
    "Share this conversation by a link",
    "Verify this answer",
    "Copy the link",
    "Close",
    "Toggle Sidebar",
    "Avatar for Argot",
    "The link is copied.",
    "Answers from your organisation’s own documents, in its own language. It knows what your terms mean to each team, "
    "cites a passage behind every sentence, and says so when the documents do not know.",
    "Documents and tags to ask",
    "Only these are asked",
    "tag",
    "%(number)s to choose from: %(name)s. Arrows choose, Enter takes.",
    "%(name)s is asked.",
    "No longer ask %(name)s",
    "Asking only",
)
"""The texts that the window's own scripts (argot.js, mentions.js) put into it."""
CORRECTED_TEXTS = {
    "de": {
        "common.actions.confirm": "Übernehmen",
        "common.status.loading": "Wird geladen …",
        "common.status.error.default": "Ein Fehler ist aufgetreten.",
        "common.status.error.serverConnection": "Der Dienst ist nicht zu erreichen.",
        "chat.fileUpload.dragDrop": "Ziehen Sie Ihre Dateien hierher",
        "chat.fileUpload.browse": "Dateien wählen",
        "chat.fileUpload.sizeLimit": "Höchstens:",
        "chat.fileUpload.errors.failed": "Nicht hochgeladen:",
        "chat.fileUpload.errors.cancelled": "Das Hochladen wurde abgebrochen:",
        "chat.fileUpload.actions.cancelUpload": "Hochladen abbrechen",
        "chat.messages.feedback.edit": "Bewertung ändern",
        "chat.messages.feedback.status.updating": "Wird gespeichert",
        "chat.messages.feedback.status.updated": "Bewertung gespeichert",
        "threadHistory.sidebar.filters.placeholder": "Gespräche durchsuchen …",
        "threadHistory.sidebar.timeframes.previous7days": "In den letzten 7 Tagen",
        "threadHistory.sidebar.timeframes.previous30days": "In den letzten 30 Tagen",
        "threadHistory.thread.untitled": "Gespräch ohne Titel",
        "threadHistory.thread.actions.delete.title": "Dieses Gespräch löschen?",
        "threadHistory.thread.actions.delete.description": "Das Gespräch wird mit seinen Fragen, Antworten und "
        "Dateien gelöscht. Das lässt sich nicht rückgängig machen.",
        "threadHistory.thread.actions.delete.success": "Gespräch gelöscht",
        "threadHistory.thread.actions.delete.inProgress": "Das Gespräch wird gelöscht",
        "threadHistory.thread.actions.rename.title": "Gespräch umbenennen",
        "threadHistory.thread.actions.rename.description": "Geben Sie dem Gespräch einen neuen Namen.",
        "threadHistory.thread.actions.rename.form.name.placeholder": "Neuer Name",
        "threadHistory.thread.actions.rename.success": "Gespräch umbenannt",
        "threadHistory.thread.actions.rename.inProgress": "Das Gespräch wird umbenannt",
        "navigation.header.theme.light": "Hell",
        "navigation.header.theme.dark": "Dunkel",
        "navigation.header.theme.system": "Wie das System",
        "navigation.newChat.button": "Neues Gespräch",
        "navigation.newChat.dialog.tooltip": "Neues Gespräch",
        "components.MultiSelectInput.placeholder": "Auswählen …",
    },
    "fr": {
        "threadHistory.thread.actions.delete.description": "La conversation sera supprimée avec ses questions, ses "
        "réponses et ses fichiers. Cette action ne peut pas être annulée.",
        "threadHistory.thread.actions.delete.success": "Conversation supprimée",
        "threadHistory.thread.actions.delete.inProgress": "Suppression de la conversation",
        "threadHistory.thread.actions.rename.title": "Renommer la conversation",
        "threadHistory.thread.actions.rename.description": "Donnez un nouveau nom à cette conversation.",
        "threadHistory.thread.actions.rename.form.name.placeholder": "Nouveau nom",
        "threadHistory.thread.actions.rename.success": "Conversation renommée",
        "threadHistory.thread.actions.rename.inProgress": "La conversation est renommée",
        "navigation.newChat.button": "Nouvelle conversation",
        "navigation.newChat.dialog.tooltip": "Nouvelle conversation",
    },
    "es": {
        "chat.fileUpload.dragDrop": "Arrastre los archivos hasta aquí",
        "threadHistory.thread.actions.delete.description": "La conversación se eliminará con sus preguntas, respuestas "
        "y archivos. Esta acción no se puede deshacer.",
        "threadHistory.thread.actions.delete.success": "Conversación eliminada",
        "threadHistory.thread.actions.delete.inProgress": "Eliminando la conversación",
        "threadHistory.thread.actions.rename.description": "Dé un nuevo nombre a esta conversación.",
        "threadHistory.thread.actions.rename.form.name.placeholder": "Nuevo nombre",
        "navigation.newChat.button": "Nueva conversación",
        "navigation.newChat.dialog.tooltip": "Nueva conversación",
    },
}
"""Texts of Chainlit's that the window shows and that are wrong, clumsy, address people informally or use other words
than Argot, such as "thread" for a conversation.
"""


def translate_window(words: dict[str, Any], language: str) -> dict[str, Any]:
    """Put Argot's texts into Chainlit's texts of a language, and add those of argot.js under `argot`."""
    find = load_translations(language).gettext
    replaced = {path: find(text) if text else "" for path, text in INTERFACE_TEXTS.items()}
    for path, text in (replaced | CORRECTED_TEXTS.get(language, {})).items():
        *groups, name = path.split(".")
        group = words
        for one in groups:
            group = group[one]
        group[name] = text
    texts = {text: find(text) for text in (*SCRIPT_TEXTS, *UNDERLINE_TEXTS)}
    return {**words, "argot": {"language": language, "texts": texts}}


def serve_window_texts(config: Any) -> None:
    """Make Chainlit answer with the texts in the language of the request's pages, not the one that its page names."""
    kind = type(config)
    load = kind.load_translation

    def load_in_page_language(given: Any, _: str) -> Any:
        return load(given, CHAINLIT_LANGUAGES[page_language.get()].removesuffix(".json"))

    # On the class: Chainlit's settings accept no attribute that they do not declare.
    kind.load_translation = load_in_page_language


def serve_help(server: Any) -> None:
    """Make Chainlit answer with the help in the language of the request's pages."""
    read = server.get_markdown_str

    def read_in_page_language(root: str, _: str) -> str | None:
        help_text: str | None = read(root, CHAINLIT_LANGUAGES[page_language.get()].removesuffix(".json"))
        return help_text

    server.get_markdown_str = read_in_page_language
