"""Open zipped office files and XML within bounds: no bombs, no entities, no way out."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from citespan.errors import LoadError

_MAX_MEMBERS = 20_000
_MAX_RATIO = 200
_RATIO_FLOOR = 20 << 20


def open_package(data: bytes, name: str, max_unpacked: int) -> zipfile.ZipFile:
    """Return a zip archive that is safe to read whole.

    Raises
    ------
    LoadError
        If it is encrypted, damaged, or would unpack to more than ``max_unpacked`` bytes, or to
        more than 200 times its size (and more than 20 MiB).
    """
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise LoadError(*describe_ole(data, name))
    try:
        package = zipfile.ZipFile(io.BytesIO(data))
        members = package.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError) as error:
        raise LoadError(f"{name} is damaged: not a readable zip package ({error})") from None
    if len(members) > _MAX_MEMBERS:
        raise LoadError(f"{name} holds {len(members)} parts, more than {_MAX_MEMBERS}")
    total = sum(member.file_size for member in members)
    biggest = max((m.file_size / max(1, m.compress_size) for m in members), default=0)
    if total > max_unpacked or (total > _RATIO_FLOOR and biggest > _MAX_RATIO):
        raise LoadError(
            f"{name} would unpack from {len(data):,} to {total:,} bytes; "
            "it looks like a decompression bomb"
        )
    if any(member.flag_bits & 1 for member in members):
        raise LoadError(f"{name} is protected by a password", fix="save it without one")
    return package


def read_part(package: zipfile.ZipFile, part: str, name: str) -> bytes:
    """Return one part of a package; a missing or damaged part is a ``LoadError``."""
    try:
        return package.read(part)
    except KeyError:
        raise LoadError(f"{name} is damaged: it has no {part}") from None
    except Exception as error:  # a damaged stream fails in many ways: zlib, CRC, EOF
        raise LoadError(f"{name} is damaged: {part} cannot be unpacked ({error})") from None


def check_office(data: bytes, name: str, main_part: str, max_unpacked: int) -> None:
    """Refuse an OOXML package that is unsafe or lacks its main part.

    Office files never declare a document type; one that does is after entity expansion.
    """
    with open_package(data, name, max_unpacked) as package:
        parts = package.namelist()
        if main_part not in parts and not any(p.lower() == main_part.lower() for p in parts):
            raise LoadError(f"{name} is damaged: it has no {main_part}")
        for part in parts:
            if part.endswith((".xml", ".rels")):
                try:
                    with package.open(part) as stream:
                        head = stream.read(4096)
                except Exception as error:  # zlib, CRC, EOF: see read_part
                    raise LoadError(f"{name} is damaged: {part} ({error})") from None
                if b"<!DOCTYPE" in head.replace(b"\x00", b""):
                    raise LoadError(
                        f"{name} declares XML entities in {part}, which office files never do",
                        fix="save it anew from the program that made it",
                    )


def parse_xml(data: bytes, name: str) -> Any:
    """Return the root of an XML document; entities stay unexpanded, nothing is fetched."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise LoadError(f"{name} holds broken XML ({error})") from None
    if root is None:
        raise LoadError(f"{name} holds broken XML")
    return root


def describe_ole(data: bytes, name: str) -> tuple[str]:
    """Return what to say of an OLE container where a zip package was expected."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return (f"{name} is protected by a password; save it without one",)
    return (f"{name} is a legacy Office file under a new name; save it in the new format",)
