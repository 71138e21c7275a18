"""The errors of use cases in the language of the page.

Use cases name a problem in English, because programs, logs and the command line read it, too. These are the ones that
people meet in forms of the pages; any other is shown in English.
"""

from __future__ import annotations

from argot.languages.catalogues import translate
from argot.languages.written_texts import find_template
from argot.service.usecases.documents.read_faults import translate_refused_file

ERRORS = (
    "'%(term)s' in '%(context)s' was saved by somebody else since you opened it (you saw version %(seen)s, it is at "
    "%(now)s). Nothing of yours was stored: compare, and save again.",
    "The context '%(context)s' was saved by somebody else since you opened it (you saw version %(seen)s, it is at "
    "%(now)s). Nothing of yours was stored: compare, and save again.",
    "'%(term)s' means '%(meaning)s' in '%(context)s' already. Retire that one, or give a reason why it has both "
    "meanings there.",
    "'%(term)s' means '%(meaning)s' in '%(context)s' already. Look at the two, and decide.",
    "Proposal %(number)s for '%(term)s' was %(status)s by %(name)s already; nothing was changed.",
    "There is nothing to roll back: everything is as it was then.",
    "%(name)s does not manage a context '%(context)s'. Choose one you manage, or ask a manager of all contexts.",
    "A review that is due is settled by a new date, or by retiring the sense.",
    "There is no such conflict any more. Conflicts lists those there are.",
    "There is a context '%(context)s' already. Change that one instead.",
    "Change %(number)s cannot be rolled back by %(name)s: only who may change all of it can.",
    "Name the proposals to accept, or how sure they have to be.",
    "Choose the context in which '%(term)s' has this meaning.",
    "This passage no longer exists: its document was changed or removed.",
    "No name can be made from '%(address)s'. Give the source one.",
    "A source cannot be synced every '%(every)s'. Write 30m, 6h or 1d; a minute is the least.",
    "There is no folder %(folder)s.",
    "'%(folder)s' is not an absolute path. Write it from the root on: /srv/%(example)s",
    "The address holds a name or a password, which is not to be stored. Leave them out.",
    "Where is it? Give the path of a folder, or an address.",
    "Revision '%(number)s' is the current one already.",
    "Which tag? Give one, or several.",
    "Nothing selected. Tick documents first.",
    "No file was chosen.",
    "Send one file at a time.",
    "At most %(most)s files can be sent together.",
    "This file is no longer stored. Choose it again.",
    "%(called)s is of another format than %(name)s. Add it as a document of its own, and remove this one.",
    "%(name)s was added again since it was removed. Remove that one first to bring this back.",
    "'%(line)s' is not a field with a value. Write one a line: region: EU",
    "There is a user '%(name)s' already. Choose another name, or change that one.",
    "There is a user '%(other)s' already. '%(name)s' differs from it only in capitals.",
    "Choose the contexts of this manager: some, or all of them.",
    "A password must have %(least)s to %(most)s characters. Four unusual words make a good one.",
    "That password is easy to guess. Four unusual words make a good one.",
    "You cannot take the role of an administrator from yourself. Ask another administrator.",
    "The first person with a password has to be an administrator: from then on everybody signs in, including you. Make "
    "yourself one before %(name)s.",
    "%(name)s is no longer confirmed by the provider, and has to sign in again.",
    "%(name)s signs in at the provider. For a password first: argot user unlink %(user)s",
    "Invalid number of days '%(days)s'. Give a number, or leave it empty.",
    "Give the key a name of 1 to %(most)s printable characters: what will use it.",
    "A key can end after 1 to %(most)s days, not after %(days)s. Without a number of days it does not end.",
    "There is no document '%(name)s'.",
    "%(address)s was not added: the server answers with status %(status)s.",
    "%(address)s was not added: Argot cannot read files of this kind (%(kind)s).",
    "The folder %(folder)s and the knowledge base %(home)s must not contain each other.",
    "'%(address)s' is not the address of a web site. Write it as https://wiki.example.org/",
    "Repositories are read by https. Write '%(address)s' as https://HOST/PATH.git",
    "'%(address)s' is not a folder of mail. Write it as imaps://mail.example.org/INBOX",
    "There is a source '%(name)s' already. Give this one another name.",
    "The period ends (%(until)s) before it begins (%(since)s). Give them the other way round.",
    "There is no change %(number)s. The history shows those there are.",
    "The glossary was changed since you looked at what %(name)s would change. Nothing was imported: look again, and "
    "import it then.",
    "This page cannot be drawn. Open the original instead.",
    "Only pages of PDF documents are shown as pictures.",
)


def translate_error(error: Exception) -> str:
    """Write what an error says in the language of the page."""
    return translate_error_text(str(error))


def translate_error_text(text: str) -> str:
    """Write the text of an error in the language of the page; one without a translation stays English."""
    template, values = find_template(text, ERRORS)
    return translate(template, **values) if template else translate_refused_file(text) or translate(text)
