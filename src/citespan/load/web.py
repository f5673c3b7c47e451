"""Fetch a web address, and never one inside a private network unless that is allowed.

The name is resolved here, every address it stands for is checked, and the connection goes to an
address that was checked: a second resolution could answer otherwise. Redirects are followed by
hand, each checked anew. Proxies from the environment are not used, since they resolve names
themselves.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import socket
import ssl
import threading
import zlib
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from citespan.errors import LoadError
from citespan.load.options import LoadOptions

_MAX_REDIRECTS = 5
_BLOCK = 1 << 16
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server sent: the bytes, a file name for them, and the media type."""

    data: bytes
    name: str
    media_type: str


def is_url(source: str) -> bool:
    """Whether a source is a web address.

    >>> is_url("https://example.org/a"), is_url("notes/http.md")
    (True, False)
    """
    return source[:8].lower().startswith(("http://", "https://"))


def fetch_url(url: str, options: LoadOptions) -> Fetched:
    """Return what stands at a web address.

    Raises
    ------
    LoadError
        If the address is private (see ``LoadOptions.allow_private``), is not reached, answers
        with an error, redirects more than five times, is too large or too slow.
    """
    deadline = _Deadline(options.download_seconds)
    try:
        for _ in range(_MAX_REDIRECTS + 1):
            answer = _request(url, options, deadline)
            if isinstance(answer, Fetched):
                return answer
            url = urljoin(url, answer)
            if not is_url(url):
                raise LoadError(f"{url} is no web address: the redirect is not followed")
        raise LoadError(f"{url} redirects more than {_MAX_REDIRECTS} times")
    finally:
        deadline.cancel()


def resolve_host(host: str, port: int, *, allow_private: bool = False) -> list[str]:
    """Return a host's addresses, all of them public unless ``allow_private``.

    Raises
    ------
    LoadError
        If the name is unknown or any of its addresses is not public.

    Examples
    --------
    >>> resolve_host("127.0.0.1", 80)
    Traceback (most recent call last):
        ...
    citespan.errors.LoadError: 127.0.0.1 leads to 127.0.0.1, which is not a public address; \
use --allow-private if you trust it
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise LoadError(f"{host} is not found ({error})", fix="check the address") from None
    addresses = list(dict.fromkeys(str(item[4][0]) for item in found))
    for address in addresses:
        if not allow_private and not is_public(address):
            raise LoadError(
                f"{host} leads to {address}, which is not a public address",
                fix="use --allow-private if you trust it",
            )
    return addresses


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet; what it wraps is checked too.

    >>> is_public("93.184.216.34"), is_public("::ffff:10.0.0.1"), is_public("169.254.169.254")
    (True, False, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if ip.is_site_local:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not ip.is_unspecified


class _Deadline:
    """Closes whatever socket is in use when the time is over: a slow drip has no other end."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.passed = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def watch(self, sock: socket.socket) -> None:
        self._socket = sock
        if self.passed:
            self._expire()

    def cancel(self) -> None:
        self._timer.cancel()

    def _expire(self) -> None:
        self.passed = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def _request(url: str, options: LoadOptions, deadline: _Deadline) -> Fetched | str:
    """Send one request; return what was fetched, or where the server redirects to."""
    try:
        parts = urlsplit(url)
        secure = parts.scheme.lower() == "https"
        host, port = parts.hostname or "", parts.port or (443 if secure else 80)
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except (ValueError, UnicodeError):
        raise LoadError(f"{url} is no valid web address") from None
    if not host:
        raise LoadError(f"{url} is no valid web address: it names no host")
    addresses = resolve_host(host, port, allow_private=options.allow_private)
    connection: http.client.HTTPConnection | None = None
    try:
        connection = _connect(host, port, addresses, secure, deadline)
        connection.request("GET", _target(parts.path, parts.query), headers=_HEADERS)
        response = connection.getresponse()
        if response.status in (301, 302, 303, 307, 308):
            where = response.getheader("Location")
            if not where:
                raise LoadError(f"{url} redirects to nowhere")
            return where
        if response.status != 200:
            raise LoadError(f"{url} answers {response.status} {response.reason}")
        data = _read_body(response, url, options.max_download)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if deadline.passed:
            raise LoadError(f"{url} took more than {deadline.seconds:g} s") from None
        raise LoadError(f"{url} cannot be fetched ({error or type(error).__name__})") from None
    finally:
        if connection is not None:
            connection.close()
    if deadline.passed:
        raise LoadError(f"{url} took more than {deadline.seconds:g} s")
    media_type = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    name = unquote(parts.path.rstrip("/").rpartition("/")[2]) or host
    return Fetched(data, name, media_type)


_HEADERS = {
    "User-Agent": "citespan",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}


def _connect(
    host: str, port: int, addresses: list[str], secure: bool, deadline: _Deadline
) -> http.client.HTTPConnection:
    problem: OSError | None = None
    for address in addresses:
        try:
            sock = socket.create_connection((address, port), timeout=min(10.0, deadline.seconds))
        except OSError as error:
            problem = error
            continue
        deadline.watch(sock)
        if secure:
            # The certificate is checked against the name, whatever the address.
            sock = ssl.create_default_context().wrap_socket(sock, server_hostname=host)
            deadline.watch(sock)
        default = 443 if secure else 80
        shown = f"[{host}]" if ":" in host else host
        connection = http.client.HTTPConnection(shown, port if port != default else 80)
        connection.sock = sock
        return connection
    raise problem or OSError("no address")


def _target(path: str, query: str) -> str:
    from urllib.parse import quote

    kept = "/%:@!$&'()*+,;=~-._"
    target = quote(path or "/", safe=kept)
    return f"{target}?{quote(query, safe=kept + '?')}" if query else target


def _read_body(response: http.client.HTTPResponse, url: str, limit: int) -> bytes:
    packed = (response.getheader("Content-Encoding") or "identity").strip().lower()
    if packed not in ("identity", "gzip", "x-gzip"):
        raise LoadError(f"{url} is sent in an encoding that was not asked for ({packed})")
    inflate = zlib.decompressobj(31) if packed != "identity" else None
    body = bytearray()
    while block := response.read(_BLOCK):
        if inflate is None:
            body += block
        else:
            body += inflate.decompress(block, limit - len(body) + 1)
        if len(body) > limit:
            raise LoadError(f"{url} is larger than the limit of {limit:,} bytes")
    return bytes(body)
