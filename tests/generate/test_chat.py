"""The chat client against a scripted server: each way to fail is one line with a fix, or a note."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from citespan.errors import ContextOverflowError, ModelError
from citespan.generate import generate_answer
from citespan.generate.chat import ChatGenerator
from citespan.prompt import build_prompt, shrink_prompt
from citespan.types import Passage, Prompt


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def make_prompt(sources: int = 1, words: int = 5) -> Prompt:
    texts = [f"Pump {i} " + "runs well " * words for i in range(sources)]
    return build_prompt(
        "How does it run?", [Passage("d", "a.txt", 0, len(t), t, 1.0) for t in texts]
    )


def make_generator(fake: Any, **more: Any) -> ChatGenerator:
    return ChatGenerator("m", fake.url, **{"timeout": 5.0, "retries": 0, **more})


def test_pieces_come_as_they_are_sent(fake: Any) -> None:
    fake.script = lambda handler, _: handler.answer("It ", "runs ", "well [1].")
    seen: list[str] = []
    prompt = make_prompt()
    draft = generate_answer(prompt, make_generator(fake), on_text=seen.append)
    assert (draft.text, draft.generator, draft.notes) == ("It runs well [1].", "m", ())
    assert seen == ["It ", "runs ", "well [1]."]
    (request,) = fake.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["messages"] == prompt.messages
    assert (request["model"], request["stream"], request["temperature"]) == ("m", True, 0.0)
    assert request["max_tokens"] == 512


def test_the_key_comes_from_the_environment(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    generator = make_generator(fake)
    generate_answer(make_prompt(), generator)
    assert fake.requests[0]["headers"]["authorization"] == "Bearer secret-key"
    assert "secret-key" not in repr(generator) + repr(make_generator(fake, api_key="secret-key"))


def test_without_key_and_server_nothing_is_sent() -> None:
    with pytest.raises(ModelError, match=r"set OPENAI_API_KEY, or name another .* --base-url"):
        generate_answer(make_prompt(), ChatGenerator("gpt"))


def test_an_address_that_is_none() -> None:
    with pytest.raises(ModelError, match="'localhost:1' is no web address"):
        generate_answer(make_prompt(), ChatGenerator("m", "localhost:1"))


def test_no_server_there() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match=f"no connection to {url}; start the server"):
            generate_answer(make_prompt(), ChatGenerator("m", url, retries=0))


def test_a_password_in_the_address_is_not_shown() -> None:
    assert ChatGenerator("m", "http://me:pw@host/v1").server == "http://host/v1"


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        (401, "check OPENAI_API_KEY"),
        (404, "check --model, and that --base-url ends in /v1"),
        (429, "wait, or check the account's limits"),
        (500, "look at the server's log"),
        (503, "look at the server's log"),
        (400, "check --model"),
    ],
)
def test_a_status_is_one_line_with_server_reason_and_fix(fake: Any, status: int, fix: str) -> None:
    fake.script = lambda handler, _: handler.fail(status, "it\nbroke \x1b[31m" + "x" * 999)
    with pytest.raises(ModelError) as caught:
        generate_answer(make_prompt(), make_generator(fake))
    line = str(caught.value)
    assert fake.url in line
    assert f"answered {status}: it broke" in line
    assert line.endswith(fix)
    assert line.isprintable()
    assert len(line) < 400


def test_a_busy_server_is_asked_again(fake: Any) -> None:
    def script(handler: Any, _: Any) -> None:
        if len(fake.requests) == 1:
            handler.send_response(429)
            handler.send_header("Retry-After", "0.01")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        else:
            handler.answer("Now [1].")

    fake.script = script
    assert generate_answer(make_prompt(), make_generator(fake, retries=1)).text == "Now [1]."


def test_a_slow_server_is_given_up(fake: Any) -> None:
    fake.script = lambda handler, _: time.sleep(1)
    with pytest.raises(ModelError, match=r"said nothing for 0\.2 s; raise --timeout"):
        generate_answer(make_prompt(), make_generator(fake, timeout=0.2))


def test_silence_in_the_middle_keeps_what_came(fake: Any) -> None:
    def script(handler: Any, _: Any) -> None:
        handler.start_stream()
        handler.send_text("It runs well [1].")
        time.sleep(1)

    fake.script = script
    draft = generate_answer(make_prompt(), make_generator(fake, timeout=0.3))
    assert draft.text == "It runs well [1]."
    assert draft.notes == (f"the connection to {fake.url} was cut after 17 characters",)


def test_a_trickle_without_end_is_stopped(fake: Any) -> None:
    def script(handler: Any, _: Any) -> None:
        handler.start_stream()
        for _i in range(200):
            handler.send_text("well ")
            time.sleep(0.02)

    fake.script = script
    draft = generate_answer(make_prompt(), make_generator(fake, timeout=0.05))
    assert draft.text.startswith("well well ")
    assert draft.notes == ("the answer was stopped after 0.5 s",)


def test_a_flood_is_stopped(fake: Any) -> None:
    fake.script = lambda handler, _: handler.answer(*["word " * 1000] * 100)
    draft = generate_answer(make_prompt(), make_generator(fake))
    assert len(draft.text) == 25_000
    assert draft.notes == ("the answer was stopped after 25000 characters",)


@pytest.mark.parametrize("ending", ["close", "chunk"])
def test_a_connection_cut_mid_stream_keeps_what_came(fake: Any, ending: str) -> None:
    def script(handler: Any, _: Any) -> None:
        if ending == "chunk":
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Content-Length", "99999")
            handler.end_headers()
        else:
            handler.start_stream()
        handler.send_text("It runs")

    fake.script = script
    draft = generate_answer(make_prompt(), make_generator(fake))
    assert draft.text == "It runs"
    assert draft.notes == (f"the connection to {fake.url} was cut after 7 characters",)


def test_an_answer_cut_at_its_length_says_so(fake: Any) -> None:
    fake.script = lambda handler, _: handler.answer("It runs", finish="length")
    draft = generate_answer(make_prompt(), make_generator(fake))
    assert (draft.text, draft.notes) == ("It runs", ("the answer was cut at 512 tokens",))


NONSENSE = {
    "html": lambda h, _: h.send(200, "<html><b>Hello</b></html>", "text/html"),
    "empty": lambda h, _: h.send(200, ""),
    "text": lambda h, _: h.send(200, "It runs.", "text/plain"),
    "binary": lambda h, _: h.send(200, bytes(range(256)), "application/octet-stream"),
    "json list": lambda h, _: h.send(200, "[1, 2]"),
    "json null": lambda h, _: h.send(200, "null"),
    "not json in events": lambda h, _: h.send(200, "data: {nope\n\n", "text/event-stream"),
    "events of another shape": lambda h, _: h.send(
        200, 'data: {"choices": "none"}\n\ndata: 7\n\ndata: [DONE]\n\n', "text/event-stream"
    ),
    "bad bytes in events": lambda h, _: h.send(
        200, b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n', "text/event-stream"
    ),
    "error in events": lambda h, _: h.send(
        200, 'data: {"error": {"message": "overloaded"}}\n\n', "text/event-stream"
    ),
    "redirect": lambda h, _: h.send(302, ""),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_is_one_plain_line_or_an_empty_answer(fake: Any, kind: str) -> None:
    fake.script = NONSENSE[kind]
    if kind == "events of another shape":
        assert generate_answer(make_prompt(), make_generator(fake)).text == ""
        return
    with pytest.raises(ModelError) as caught:
        generate_answer(make_prompt(), make_generator(fake))
    assert fake.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.fix


def test_strange_events_between_good_ones_are_passed_over(fake: Any) -> None:
    def script(handler: Any, _: Any) -> None:
        handler.start_stream()
        handler.wfile.write(b": keep-alive\n\n")
        handler.send_event({"choices": []})
        handler.send_event({"choices": [{"index": 0, "delta": {"role": "assistant"}}]})
        handler.send_text("It runs [1].")
        handler.send_event({"choices": [{"index": 0, "delta": {"content": 7}}]})
        handler.send_event({"choices": [{"index": 0, "delta": None}], "usage": {}})
        handler.send_text(None, "stop")
        handler.wfile.write(b"data: [DONE]\n\n")

    fake.script = script
    draft = generate_answer(make_prompt(), make_generator(fake))
    assert (draft.text, draft.notes) == ("It runs [1].", ())


def test_a_server_that_does_not_stream(fake: Any) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "It runs [1]."}}
    reply = {
        "id": "x",
        "object": "chat.completion",
        "choices": [{**choice, "finish_reason": "stop"}],
    }
    fake.script = lambda handler, _: handler.send(200, json.dumps(reply))
    assert generate_answer(make_prompt(), make_generator(fake)).text == "It runs [1]."


def test_options_that_a_model_does_not_take_are_left_out(fake: Any) -> None:
    def script(handler: Any, body: dict[str, Any]) -> None:
        if "max_tokens" in body:
            handler.fail(400, "Unsupported 'max_tokens'; use 'max_completion_tokens' instead.")
        elif "temperature" in body:
            handler.fail(400, "'temperature' does not support 0.0 with this model.")
        else:
            handler.answer("It runs [1].")

    fake.script = script
    assert generate_answer(make_prompt(), make_generator(fake)).text == "It runs [1]."
    assert fake.requests[-1]["max_completion_tokens"] == 512


OVERFLOWS = {
    "llama.cpp": {
        "message": "request (3031 tokens) exceeds the available context size (1024 tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 3031,
        "n_ctx": 1024,
    },
    "message only": {
        "message": "This model's maximum context length is 1,024 tokens. However, your messages "
        "resulted in 3031 tokens.",
        "code": "context_length_exceeded",
    },
    "vllm": {
        "message": "This model's maximum context length is 1024 tokens. However, you requested "
        "3031 tokens in the messages, Please reduce the length of the messages.",
    },
}


@pytest.mark.parametrize("server", OVERFLOWS)
def test_a_full_context_is_met_with_fewer_sources(fake: Any, server: str) -> None:
    def script(handler: Any, body: dict[str, Any]) -> None:
        if len(fake.requests) == 1:
            handler.fail(400, **OVERFLOWS[server])  # type: ignore[arg-type]
        else:
            handler.answer("It runs [1].")

    fake.script = script
    prompt = make_prompt(sources=6, words=80)
    draft = generate_answer(prompt, make_generator(fake), shrink=shrink_prompt)
    assert draft.prompt is not None
    # The sizes told are used: 1,024 less a quarter for the answer, in our own count.
    assert draft.prompt.tokens <= prompt.tokens * 768 / 3031 + 1 or len(draft.prompt.passages) == 1
    assert 1 <= len(draft.prompt.passages) < 6
    assert fake.requests[-1]["messages"] == draft.prompt.messages
    assert "6 sources" in draft.notes[0]


def test_a_full_context_without_sizes_halves_until_it_fits(fake: Any) -> None:
    def script(handler: Any, body: dict[str, Any]) -> None:
        if len(fake.requests) < 4:
            handler.fail(400, "the prompt exceeds the context window")
        else:
            handler.answer("It runs [1].")

    fake.script = script
    draft = generate_answer(make_prompt(6, 40), make_generator(fake), shrink=shrink_prompt)
    assert draft.prompt is not None
    assert len(draft.prompt.passages) == 1
    assert len(draft.notes) == 3


def test_a_context_that_is_always_full_ends_in_an_error(fake: Any) -> None:
    fake.script = lambda handler, _: handler.fail(400, **OVERFLOWS["llama.cpp"])  # type: ignore[arg-type]
    with pytest.raises(ContextOverflowError, match=r"3031 tokens, room for 1024.*lower --budget"):
        generate_answer(make_prompt(6, 40), make_generator(fake), shrink=shrink_prompt)
    assert len(fake.requests) <= 6
    with pytest.raises(ContextOverflowError):
        generate_answer(make_prompt(6, 40), make_generator(fake))
