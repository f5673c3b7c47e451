"""Any OpenAI-compatible chat server: Ollama, vLLM, llama.cpp, LM Studio, OpenRouter, OpenAI."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from citespan.errors import CitespanError, ContextOverflowError, CutShortError, ModelError
from citespan.types import Prompt


@dataclass(frozen=True, slots=True)
class ChatGenerator:
    """Writes by a model behind ``/chat/completions``, streamed.

    Parameters
    ----------
    model
        The model's name, as the server knows it.
    base_url
        The server's address up to and with ``/v1``; where empty, ``OPENAI_BASE_URL`` or OpenAI.
    api_key
        Where empty, ``OPENAI_API_KEY``; servers on one's own machine ask for none.
    timeout
        Seconds of silence after which the server is given up; the whole answer may take ten
        times as long.
    max_tokens
        The longest answer.
    retries
        How often a busy server (429, 5xx) is asked again, with growing pauses.
    """

    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    timeout: float = 120.0
    max_tokens: int = 512
    temperature: float = 0.0
    retries: int = 1

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model

    @property
    def server(self) -> str:
        """The server's address as an error message shows it: without any password in it."""
        address = self.base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        return re.sub(r"//[^/@]*@", "//", address)

    def generate(self, prompt: Prompt) -> Iterator[str]:
        """Yield the answer's text as it comes.

        Raises
        ------
        ContextOverflowError
            If the server says that the prompt is too long.
        CutShortError
            If the answer ended before its end.
        ModelError
            For everything else: one line with the server's address and what to do.
        """
        try:
            yield from self._stream(prompt)
        except CitespanError:
            raise
        except Exception as error:  # a server may answer anything, and so fail in any way
            raise self._explain(error) from None

    def _stream(self, prompt: Prompt) -> Iterator[str]:
        client = self._connect()
        deadline = time.monotonic() + 10 * self.timeout
        options: dict[str, Any] = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "stream": True,
        }
        response = self._create(client, prompt, options)
        events, length, finish = 0, 0, None
        try:
            for event in response:
                events += 1
                text, reason = _read_choice(event, "delta")
                finish = reason or finish
                if text:
                    length += len(text)
                    yield text
                if time.monotonic() > deadline:
                    raise CutShortError(f"the answer was stopped after {10 * self.timeout:g} s")
        except CitespanError:
            raise
        except Exception as error:
            if length:
                raise CutShortError(
                    f"the connection to {self.server} was cut after {length} characters"
                ) from None
            raise self._explain(error) from None
        finally:
            response.close()
        if not events:
            # Some servers do not stream, and answer in one piece whatever they are asked.
            del options["stream"]
            text, finish = _read_choice(self._create(client, prompt, options), "message")
            if text is None:
                raise self._nonsense()
            yield text
        elif finish is None and length:
            raise CutShortError(
                f"the connection to {self.server} was cut after {length} characters"
            )
        if finish == "length":
            raise CutShortError(f"the answer was cut at {self.max_tokens} tokens")

    def _connect(self) -> Any:
        import openai

        key = self.api_key or os.environ.get("OPENAI_API_KEY", "")
        base_url = self.base_url or os.environ.get("OPENAI_BASE_URL", "")
        if not key and not base_url:
            raise ModelError(
                f"no key for {self.model} at {self.server}",
                fix="set OPENAI_API_KEY, or name another server with --base-url",
            )
        if base_url and not re.match(r"https?://[^/\s]+", base_url):
            raise ModelError(
                f"{self.server!r} is no web address",
                fix="write it as http://HOST:PORT/v1 (--base-url)",
            )
        return openai.OpenAI(
            base_url=base_url or None,
            api_key=key or "none",
            timeout=self.timeout,
            max_retries=self.retries,
        )

    def _create(self, client: Any, prompt: Prompt, options: dict[str, Any]) -> Any:
        """Send the request; leave out an option that this server's model does not take."""
        import openai

        for _ in range(3):
            try:
                return client.chat.completions.create(
                    model=self.model, messages=prompt.messages, **options
                )
            except openai.BadRequestError as error:
                told = _message(error)
                overflow = _read_overflow(error)
                if overflow is not None:
                    raise overflow from None
                if "max_completion_tokens" in told and "max_tokens" in options:
                    options["max_completion_tokens"] = options.pop("max_tokens")
                elif "temperature" in told and "temperature" in options:
                    del options["temperature"]
                else:
                    raise
        raise self._nonsense()

    def _explain(self, error: Exception) -> ModelError:
        """Turn any failure into one line that names the server and the fix."""
        import openai

        where = f"{self.model} at {self.server}"
        if isinstance(error, openai.APITimeoutError) or "timed out" in str(error):
            return ModelError(
                f"{where} said nothing for {self.timeout:g} s",
                fix="raise --timeout, or use a smaller model",
            )
        if isinstance(error, openai.APIStatusError):
            overflow = _read_overflow(error)
            if overflow is not None:
                return overflow
            status = error.status_code
            fixes = {
                401: "check OPENAI_API_KEY",
                403: "check OPENAI_API_KEY",
                404: "check --model, and that --base-url ends in /v1",
                429: "wait, or check the account's limits",
            }
            fix = fixes.get(
                status, "look at the server's log" if status >= 500 else "check --model"
            )
            return ModelError(f"{where} answered {status}: {_message(error)}", fix=fix)
        if isinstance(error, openai.APIConnectionError):
            return ModelError(
                f"no connection to {self.server}", fix="start the server, or check --base-url"
            )
        if isinstance(error, openai.APIError):
            return ModelError(f"{where} failed: {_message(error)}", fix="look at the server's log")
        return self._nonsense()

    def _nonsense(self) -> ModelError:
        return ModelError(
            f"{self.server} answers, but not as a chat completion server",
            fix="check that --base-url ends in /v1",
        )


def _read_choice(event: Any, part: str) -> tuple[str | None, str | None]:
    """Return the text and the finish reason of an event, whatever is missing from it."""
    choices = getattr(event, "choices", None)
    if not isinstance(choices, list) or not choices:
        return None, None
    content = getattr(getattr(choices[0], part, None), "content", None)
    reason = getattr(choices[0], "finish_reason", None)
    return content if isinstance(content, str) else None, reason


def _message(error: Any) -> str:
    """Return what the server says is wrong, on one line, not longer than a line."""
    body = getattr(error, "body", None)
    told = body.get("message") if isinstance(body, dict) else None
    text = told if isinstance(told, str) and told else getattr(error, "message", str(error))
    printable = "".join(c if c.isprintable() else " " for c in str(text))
    return " ".join(printable.split())[:200]


_OVERFLOW = re.compile(
    r"exceed\w*[^.]*context|context[^.]*(?:exceed|length|size|window)|too (?:long|many tokens)"
    r"|maximum[^.]*(?:tokens|context)|prompt[^.]*longer",
    re.I,
)
_LIMIT = re.compile(r"(?:context (?:size|length|window)|maximum)\D{0,40}?(\d[\d,]*)", re.I)
_NEEDED = re.compile(
    r"request \((\d+) tokens|(?:resulted in|requested|contains?(?: at least)?|has)\D{0,10}"
    r"(\d[\d,]*)",
    re.I,
)


def _read_overflow(error: Any) -> ContextOverflowError | None:
    """Return the sizes that a "prompt too long" answer names, or None if it says another thing.

    llama.cpp gives ``n_ctx`` and ``n_prompt_tokens``; others write them into the message.
    """
    body = error.body if isinstance(getattr(error, "body", None), dict) else {}
    told = _message(error)
    code = f"{body.get('type')} {body.get('code')}"
    if "context" not in code and error.status_code != 413 and not _OVERFLOW.search(told):
        return None
    limit, needed = body.get("n_ctx"), body.get("n_prompt_tokens")
    if not isinstance(limit, int):
        found = _LIMIT.search(told)
        limit = int(found[1].replace(",", "")) if found else None
    if not isinstance(needed, int):
        found = _NEEDED.search(told)
        needed = int((found[1] or found[2]).replace(",", "")) if found else None
    return ContextOverflowError(limit, needed)
