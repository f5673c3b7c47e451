"""E-mail: the headers a person reads, then the body; attachments are named, not opened."""

from __future__ import annotations

import email
import email.policy
import io
from collections.abc import Callable
from email.header import decode_header, make_header
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from citespan.errors import LoadError
from citespan.load.build import TextBuilder, collapse_blanks, normalize_newlines
from citespan.load.decode import decode_bytes
from citespan.load.html import extract_html
from citespan.load.options import Extract, LoadOptions

_FIELDS = ("From", "To", "Cc", "Date", "Subject")
_MAX_PARTS = 1000


def read_eml(data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]) -> Extract:
    """Return a mail's text: its headers as lines, then its plain body (else its HTML one)."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if not message.keys() and not message.is_multipart():
        raise LoadError(f"{name} is not an e-mail: it has no headers")
    builder = TextBuilder()
    headers = {field: _header(message, field) for field in _FIELDS}
    builder.block("\n".join(f"{field}: {value}" for field, value in headers.items() if value))
    skips: list[tuple[int | None, str]] = []
    _lay_down(message, builder, skips, name)
    fields = {field.lower(): value for field, value in headers.items() if value}
    return builder.build(
        title=headers["Subject"] or Path(name).stem,
        media_type="message/rfc822",
        metadata={key: value[:1000] for key, value in fields.items()},
        skips=skips,
    )


def read_msg(data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]) -> Extract:
    """Return an Outlook message's text in the same shape as ``read_eml``."""
    from oxmsg import Message

    if not data.startswith(b"\xd0\xcf\x11\xe0"):
        raise LoadError(f"{name} is not an Outlook message")
    message: Any = Message.load(io.BytesIO(data))
    to = ", ".join(f"{r.name} <{r.email_address}>" for r in message.recipients if r.email_address)
    fields = {
        "From": _decode_words(message.sender or ""),
        "To": to,
        "Date": message.sent_date.isoformat(" ") if message.sent_date else "",
        "Subject": message.subject or "",
    }
    fields = {field: collapse_blanks(value) for field, value in fields.items()}
    builder = TextBuilder()
    builder.block("\n".join(f"{field}: {value}" for field, value in fields.items() if value))
    if message.body and message.body.strip():
        _lay_down_plain(message.body, builder)
    elif message.html_body:
        extract_html(message.html_body, name, builder)
    skips: list[tuple[int | None, str]] = [
        (None, f"attachment not opened: {attachment.file_name or 'without a name'}")
        for attachment in message.attachments
    ]
    return builder.build(
        title=fields["Subject"] or Path(name).stem,
        media_type="application/vnd.ms-outlook",
        metadata={key.lower(): value[:1000] for key, value in fields.items() if value},
        skips=skips,
    )


def _lay_down(
    message: Any, builder: TextBuilder, skips: list[tuple[int | None, str]], name: str
) -> None:
    """Lay the body down; of alternatives the plain one, without recursion."""
    stack: list[Any] = [message]
    seen = 0
    while stack:
        part = stack.pop()
        seen += 1
        if seen > _MAX_PARTS:
            skips.append((None, f"only the first {_MAX_PARTS} parts of the mail were read"))
            return
        kind = part.get_content_type()
        if kind == "multipart/alternative":
            stack.extend(_choose(part))
        elif part.is_multipart() and not part.get_filename():
            if kind == "message/rfc822" and part is not message:
                inner = part.get_payload(0)
                builder.block(
                    "\n".join(
                        f"{field}: {value}" for field in _FIELDS if (value := _header(inner, field))
                    )
                )
            stack.extend(reversed(part.get_payload()))
        elif part.get_filename() or part.get_content_disposition() == "attachment":
            skips.append((None, f"attachment not opened: {_file_name(part)}"))
        elif kind in ("text/plain", "text/html"):
            payload = part.get_payload(decode=True) or b""
            if payload.strip():
                charset = str(part.get_content_charset() or "")
                text, _ = decode_bytes(payload, name, declared=charset)
                if kind == "text/html":
                    extract_html(text, name, builder)
                else:
                    _lay_down_plain(text, builder)
        elif kind.startswith("text/"):
            skips.append((None, f"part not read: {kind}"))
        elif not part.is_multipart():
            skips.append((None, f"attachment not opened: {_file_name(part)}"))


def _choose(part: Any) -> list[Any]:
    """Return the one alternative to read: plain text if it says anything, else the last."""
    choices = part.get_payload()
    if not isinstance(choices, list) or not choices:
        return []
    for choice in choices:
        if (
            choice.get_content_type() == "text/plain"
            and (choice.get_payload(decode=True) or b"").strip()
        ):
            return [choice]
    for choice in choices:
        if choice.get_content_type() == "text/html":
            return [choice]
    return [choices[-1]]


def _lay_down_plain(text: str, builder: TextBuilder) -> None:
    for block in normalize_newlines(text).split("\n\n"):
        builder.block(block.strip("\n"))


def _header(message: EmailMessage | Any, field: str) -> str:
    """Return a header decoded; a broken one as far as it can be read."""
    try:
        value = str(message.get(field, "") or "")
    except Exception:  # the standard parser raises many things on broken headers
        value = ""
        for key, raw in getattr(message, "_headers", []):
            if key.lower() == field.lower():
                value = str(raw)
                break
    return collapse_blanks(value.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _decode_words(value: str) -> str:
    """Return a raw header value with its encoded words decoded.

    >>> _decode_words("=?utf-8?q?J=C3=BCrgen?= <j@example.org>")
    'Jürgen <j@example.org>'
    """
    try:
        return str(make_header(decode_header(value)))
    except (ValueError, LookupError, UnicodeError):
        return value


def _file_name(part: Any) -> str:
    try:
        return collapse_blanks(part.get_filename() or "") or f"a {part.get_content_type()} part"
    except Exception:  # see _header
        return "one with a broken name"
