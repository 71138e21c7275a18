"""Mail that Argot sends, over the SMTP server of the settings."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from argot.errors import ArgotError
from argot.shown_addresses import hide_secrets

if TYPE_CHECKING:
    from argot.setting_groups import MailSettings

SECONDS = 30
DEFAULT_PORTS = {"smtp": 25, "smtps": 465}


class MailRefused(ArgotError):
    """The mail server cannot be reached, or refuses a mail."""


def send_mail(settings: MailSettings, to: Sequence[str], subject: str, text: str) -> None:
    """Send a mail of plain text.

    Raises:
        MailRefused: there is no server, it cannot be reached, or it refuses the mail.
    """
    if not settings.server:
        raise MailRefused("No mail server is set. Set mail_server, for example smtp://mail.example.com:587.")
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.sender, ", ".join(to), subject
    message["Date"], message["Message-ID"] = formatdate(), make_msgid()
    # No out-of-office reply is sent to this one (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    address = urlsplit(settings.server)
    try:
        with _connect(address.scheme, address.hostname or "", address.port or DEFAULT_PORTS[address.scheme]) as server:
            if settings.user:
                server.login(settings.user, settings.password.get_secret_value())
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        raise MailRefused(f"The mail server {hide_secrets(settings.server)} did not take the mail: {error}") from error


def _connect(scheme: str, host: str, port: int) -> smtplib.SMTP:
    """Connect, encrypted where the server offers it."""
    trust = ssl.create_default_context()
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=trust)
    server = smtplib.SMTP(host, port, timeout=SECONDS)
    server.ehlo()
    if server.has_extn("starttls"):
        server.starttls(context=trust)
        server.ehlo()
    return server
