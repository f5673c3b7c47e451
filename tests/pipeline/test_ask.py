"""From a question to an answer or a refusal, over real files; no connection is ever opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from citespan import ask_index, build_index, load_settings, open_index, search_index
from citespan.errors import InputError, StoreError
from citespan.pipeline import explain_trace, find_document, limit_to
from citespan.protocols import Filter
from support import ROOT, block_sockets, need_minilm

TEXTS = {
    "docs/pump.md": "# Pumps\n\nThe red pump weighs nine kilos. It needs oil once a year.\n",
    "docs/valve.txt": "Blue valves cost five euros each. They last for ten winters.\n",
    "docs/насос.txt": "Зелёный насос весит семь килограммов. Его красят весной.\n",
    "more/水泵.txt": "绿色水泵重七公斤。每年春天刷漆。\n",
}
EMBEDDERS = ("none", "hashing")


@pytest.fixture(autouse=True)
def _no_network(place, monkeypatch):
    block_sockets(monkeypatch)


@pytest.fixture(params=EMBEDDERS)
def index(request, place):
    for name, text in TEXTS.items():
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    loaded = load_settings({"embedder": request.param}, environ={}, folder=place)
    build_index(["docs", "more"], loaded)
    with open_index(loaded) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "source", "quote"),
    [
        ("What does the red pump weigh?", "docs/pump.md", "The red pump weighs nine kilos."),
        ("How much do blue valves cost?", "docs/valve.txt", "Blue valves cost five euros each."),
        (
            "Сколько весит зелёный насос?",
            "docs/насос.txt",
            "Зелёный насос весит семь килограммов.",
        ),
        ("绿色水泵有多重？", "more/水泵.txt", "绿色水泵重七公斤。"),
    ],
)
def test_an_answer_quotes_the_span_it_cites(index, question, source, quote):
    answer = ask_index(index, question)
    assert answer.status == "answered"
    cited = answer.sentences[0].citations[0]
    assert (cited.source, cited.quote) == (source, quote)
    document = index.get_document(cited.document_id)
    assert document.text[cited.start : cited.end] == cited.quote
    assert answer.sentences[0].supported


@pytest.mark.parametrize("question", ["Who won the world cup in 1998?", "Кто открыл Америку?"])
def test_a_question_elsewhere_is_refused_without_a_call(index, question):
    class Never:
        name = "never"

        def generate(self, prompt):
            raise AssertionError("a generator was called")

    answer = ask_index(index, question, generator=Never())
    assert (answer.status, answer.sentences) == ("refused", ())
    assert answer.gate.state != "answerable"
    assert answer.trace.prompt is None


def test_the_trace_holds_every_stage(index):
    trace = ask_index(index, "What does the red pump weigh?").trace
    assert trace.hits
    assert [hit.rank for hit in trace.hits] == list(range(1, len(trace.hits) + 1))
    for passage in trace.passages:
        assert index.get_document(passage.document_id).text[passage.start : passage.end] == (
            passage.text
        )
    assert trace.prompt.passages
    assert not trace.prompt.dropped
    assert trace.draft.text
    assert trace.answer.trace is trace
    assert list(trace.seconds)[-1] == "verify"


def test_the_terms_of_an_explanation_add_up_to_bm25(index):
    trace = search_index(index, "what do blue valves cost in winter")
    details = explain_trace(index, trace)
    for number, hit in enumerate(trace.hits):
        if "bm25" in hit.parts:
            assert sum(details.hit_parts(number).values()) == pytest.approx(
                hit.parts["bm25"], rel=1e-4
            )
    assert {details.sources[hit.chunk.document_id] for hit in trace.hits} <= set(TEXTS)


@pytest.mark.parametrize("retriever", ["ribbon", "hybrid", "lexical", "rrf", "tfidf"])
def test_each_retriever_finds_and_keeps_to_the_filter(index, retriever):
    index.settings = index.settings.__class__(
        **{
            **{name: getattr(index.settings, name) for name in index.settings.__slots__},
            "retriever": retriever,
        }
    )
    found = search_index(index, "blue valves").passages
    assert found[0].source == "docs/valve.txt"
    where = Filter(sources=("*.md",))
    assert {p.source for p in search_index(index, "blue red pump", where=where).passages} == {
        "docs/pump.md"
    }


@pytest.mark.parametrize(
    ("where", "allowed"),
    [
        (Filter(languages=("ru",)), {"docs/насос.txt"}),
        (Filter(sources=("docs/*",), languages=("en", "zh")), {"docs/pump.md", "docs/valve.txt"}),
        (Filter(titles=("Pump*",)), {"docs/pump.md"}),
    ],
)
def test_filters(index, where, allowed):
    asked = "red pump blue valves зелёный насос 绿色水泵"
    assert {p.source for p in search_index(index, asked, where=where).passages} <= allowed
    assert index.count_documents(where) == len(allowed)


def test_limits_to_paths(index):
    assert limit_to(index, ["docs", "more"]) is None
    asked = "red pump зелёный насос 绿色水泵"
    found = search_index(index, asked, where=limit_to(index, ["more"]))
    assert {p.source for p in found.passages} == {"more/水泵.txt"}
    both = limit_to(index, ["docs"], Filter(sources=("*.md",)))
    assert {p.source for p in search_index(index, asked, where=both).passages} == {"docs/pump.md"}
    assert index.count_documents(limit_to(index, ["elsewhere"])) == 0


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_refused(index, question):
    with pytest.raises(InputError, match="empty"):
        search_index(index, question)


@pytest.mark.parametrize("question", ["?!", "\udcff pump", "a" * 5000, "pump " * 3000, "\x00"])
def test_any_question_ends_well(index, question):
    assert ask_index(index, question).gate is not None


def test_a_reader_sees_what_a_writer_commits_without_opening_again(index):
    Path("docs/lamp.txt").write_text("The lamp on the roof is green.", "utf-8")
    assert all(p.source != "docs/lamp.txt" for p in search_index(index, "lamp roof").passages)
    loaded = load_settings(
        {"embedder": index.settings.embedder}, environ={}, folder=Path("nowhere")
    )
    build_index(["docs"], loaded)
    assert search_index(index, "lamp roof").passages[0].source == "docs/lamp.txt"
    Path("docs/lamp.txt").unlink()
    build_index(["docs"], loaded)
    assert all(p.source != "docs/lamp.txt" for p in search_index(index, "lamp roof").passages)


def test_a_document_is_found_by_the_end_of_its_name(index):
    assert find_document(index, "pump.md").source == "docs/pump.md"
    assert find_document(index, "docs/pump.md").source == "docs/pump.md"
    with pytest.raises(InputError, match=r"no document named 'ump\.md'"):
        find_document(index, "ump.md")


def test_more_passages_than_the_corpus_has_chunks_are_all(place):
    loaded = load_settings({"embedder": "none", "k": 1000}, environ={}, folder=place)
    for number in range(90):
        Path(f"{number}.txt").write_text(f"The pump number {number} is red.", "utf-8")
    build_index([place], loaded)
    with open_index(loaded) as opened:
        assert len(search_index(opened, "red pump", unlimited=True).passages) == 90


def test_what_the_context_has_no_room_for_is_said(place):
    for name in "abcd":
        words = " ".join(f"{name}{number}" for number in range(200, 280))
        text = f"The red pump {name} weighs nine kilos and {words} grams."
        Path(f"{name}.txt").write_text(text, "utf-8")
    loaded = load_settings({"embedder": "none"}, environ={}, folder=place)
    build_index([place], loaded)
    question = "How much does the red pump weigh?"

    def ask(context):
        flags = {"embedder": "none", "context": context}
        with open_index(load_settings(flags, environ={}, folder=place)) as opened:
            return ask_index(opened, question)

    assert ask(4096).notes == ()
    whole = ask(4096).trace.prompt.tokens
    answer = ask(whole + 512 - 100)  # 512 are kept for the answer
    assert len(answer.trace.prompt.passages) == 3
    assert any("tokens: 1 of 4 passages (raise" in note for note in answer.notes)
    notes = ask(512 + 350).notes
    assert any("the end of the best passage and 3 of 4 passages" in note for note in notes)


def test_copies_take_no_place_among_the_passages_asked_for(place):
    loaded = load_settings({"embedder": "none", "k": 3}, environ={}, folder=place)
    for number, weight in enumerate(["nine", "ten", "six"] * 4):
        Path(f"{number}.txt").write_text(f"A red pump weighs {weight} kilos.", "utf-8")
    build_index([place], loaded)
    with open_index(loaded) as opened:
        passages = search_index(opened, "red pump").passages
    assert len({p.text for p in passages}) == len(passages) == 3
    assert all(len(p.duplicates) >= 1 for p in passages[:1])


def test_an_index_of_another_analysis_is_refused(place, monkeypatch):
    Path("a.txt").write_text("The red pump weighs nine kilos.", "utf-8")
    loaded = load_settings({"embedder": "none"}, environ={}, folder=place)
    build_index(["a.txt"], loaded)
    monkeypatch.setattr("citespan.pipeline.opened.ANALYSIS_VERSION", 99)
    with pytest.raises(StoreError, match=r"analysis 1, .* 99; run: .* --rebuild"):
        open_index(loaded)


def test_an_index_of_another_model_is_refused(place):
    Path("a.txt").write_text("The red pump weighs nine kilos.", "utf-8")
    build_index(["a.txt"], load_settings({"embedder": "hashing"}, environ={}, folder=place))
    other = load_settings({"embedder": "hashing:64"}, environ={}, folder=Path("nowhere"))
    with pytest.raises(StoreError, match=r"made with the embedder 'hashing', not 'hashing:64'"):
        open_index(other)


def test_no_index(place):
    with pytest.raises(StoreError, match="citespan index PATH"):
        open_index(place / "nothing")


def test_the_default_way_with_the_default_model(place):
    need_minilm()
    corpus = ROOT / "data" / "corpus"
    if not corpus.is_dir():
        pytest.skip("data/corpus is not written yet")
    loaded = load_settings({}, environ={}, folder=place)
    names = ["beekeeping-year.txt", "checkout-outage-report.md"]
    build_index([corpus / name for name in names], loaded)
    with open_index(loaded) as opened:
        answer = ask_index(opened, "How often should a hive be opened in the swarming season?")
        assert answer.status == "answered"
        assert "seven days" in answer.sentences[0].citations[0].quote
        refused = ask_index(opened, "Who won the football world cup in 1998?")
        assert refused.status == "refused"
