"""From a draft to an answer: each sentence with the spans that support it, or marked as not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from citespan.text import detect_language, split_sentences
from citespan.types import Answer, AnswerSentence, Citation, Draft, Gate, Passage, Prompt, Span
from citespan.verify.clean import clean_answer
from citespan.verify.markers import SPOKEN_FIRST, parse_marks
from citespan.verify.refusal import is_refusal
from citespan.verify.support import Support, measure_support
from citespan.weights import Weigh, plain_weight

THRESHOLD = 0.5
"""The share of a sentence's term weight that its source must hold (docs/verify.md)."""
MOST_SENTENCES = 40
MOST_CITED = 5
QUOTING = "extractive"
"""The generator whose drafts are the documents' own words."""

_NAMED = re.compile(r"\w+\.?\s*[#№]?\s*[\ue000-\uf8ff]")
_ENDS = tuple(".!?。！？…:：;；)）]】\"'»”’")


def verify_answer(
    draft: Draft,
    prompt: Prompt,
    gate: Gate,
    *,
    weigh: Weigh = plain_weight,
    threshold: float = THRESHOLD,
) -> Answer:
    """Return the answer with every sentence checked against what it cites.

    Parameters
    ----------
    draft
        What the generator wrote; anything, also nothing.
    prompt
        What was sent: its passages are the sources that may be cited. ``draft.prompt`` goes
        before it.
    gate
        Passed on.
    weigh
        A term's weight (``citespan.weights.idf_weight``).
    threshold
        The share of a sentence's term weight that must stand in its source.

    Returns
    -------
    Answer
        ``text`` is made of the sentences, with sources numbered from 1 in order of use. It is a
        refusal if the draft is one, or if nothing in it is supported. ``notes`` says all that was
        removed, added or cut.

    Examples
    --------
    >>> text = "The pump is grey. Its warranty lasts 24 months."
    >>> found = Passage("d", "a.txt", 100, 147, text, 1.0)
    >>> prompt = Prompt("How long?", "en", "", "", (found,), 0, 0, refusal="Not found.")
    >>> gate = Gate("answerable", 1.0, 0.5, "")
    >>> answer = verify_answer(Draft("The warranty lasts 24 months [1][7].", "m"), prompt, gate)
    >>> answer.text, answer.sentences[0].supported, answer.sentences[0].citations[0].start
    ('The warranty lasts 24 months. [1]', True, 118)
    >>> answer.notes
    ('removed 1 citation of sources that were not sent: 7',)
    """
    sent = draft.prompt or prompt
    # What was quoted stands as it is in the document, repetitions and all; only what a model wrote
    # wants cleaning.
    text, cleaned = (draft.text, []) if draft.generator == QUOTING else clean_answer(draft.text)
    notes = [*draft.notes, *cleaned]
    marks = parse_marks(text, len(sent.passages))
    if marks.outside:
        shown = ", ".join(str(number) for number in marks.outside[:10])
        more = ", …" if len(marks.outside) > 10 else ""
        plural = "" if marks.removed == 1 else "s"
        notes.append(
            f"removed {marks.removed} citation{plural} of sources that were not sent: {shown}{more}"
        )
    language = detect_language(marks.text, sent.language) or sent.language
    checked = _check_sentences(marks.text, marks.places, sent, language, weigh, threshold, notes)
    if not checked:
        notes.append("the generator wrote no text")
    return _finish(checked, draft, sent, gate, notes)


def _check_sentences(
    text: str,
    places: Sequence[tuple[int, int]],
    sent: Prompt,
    language: str,
    weigh: Weigh,
    threshold: float,
    notes: list[str],
) -> list[AnswerSentence]:
    spans = _split_answer(text, language)
    if len(spans) > MOST_SENTENCES:
        notes.append(f"{len(spans) - MOST_SENTENCES} further sentences were left out")
        spans = spans[:MOST_SENTENCES]
    checked: list[AnswerSentence] = []
    seen: set[str] = set()
    repeated = added = moved = 0
    for index, span in enumerate(spans):
        words = " ".join(text[span.start : span.end].split())
        key = words.casefold()
        if key in seen:
            repeated += 1
            continue
        seen.add(key)
        following = spans[index + 1].start if index + 1 < len(spans) else len(text) + 1
        cited = list(
            dict.fromkeys(n for at, n in places if span.start <= at < max(following, span.end))
        )
        sentence, how = _check_sentence(words, cited, sent.passages, language, weigh, threshold)
        unfinished = index == len(spans) - 1 and index > 0 and not words.endswith(_ENDS)
        if unfinished and not sentence.supported:
            notes.append("an unfinished last sentence was left out")
            continue
        added += how == "added"
        moved += how == "moved"
        checked.append(sentence)
    for number, what in (
        (repeated, "repeated and left out"),
        (added, "without a citation; the source was found by comparing"),
        (moved, "with a citation that does not support it; another source does and is shown"),
    ):
        if number:
            notes.append(f"{number} sentence{'' if number == 1 else 's'} {what}")
    return checked


def _split_answer(text: str, language: str) -> list[Span]:
    """Return the sentences that hold a letter or a digit."""
    spans = split_sentences(text, language)
    return [s for s in spans if any(c.isalnum() for c in text[s.start : s.end])]


def _check_sentence(
    words: str,
    cited: list[int],
    passages: Sequence[Passage],
    language: str,
    weigh: Weigh,
    threshold: float,
) -> tuple[AnswerSentence, str]:
    """Return the checked sentence, and whether its citation was kept, added or moved."""
    plain = " ".join(_NAMED.sub("", words).split())
    found = {
        number: measure_support(plain, passage, language, weigh)
        for number, passage in enumerate(passages, start=1)
    }

    refused = is_refusal(plain)
    good = [n for n in cited if found[n].holds(threshold)]
    how = "kept"
    if not good and not refused:
        better = [n for n in found if found[n].holds(threshold)]
        if better:
            best = max(better, key=lambda n: (found[n].verbatim, found[n].share, -n))
            how = "moved" if cited else "added"
            good = cited = [best]
    used = good or cited
    citations = tuple(_cite(n, passages[n - 1], found[n]) for n in used[:MOST_CITED])
    share = max((found[n].share for n in used), default=0.0)
    problems: list[str] = []
    if not good:
        if not cited:
            problems.append("no citation, and no source holds it")
        for n in cited[:MOST_CITED]:
            problems.extend(found[n].problems)
        if cited and not problems:
            problems.append(f"the source holds only {share:.0%} of its words")
    sentence = AnswerSentence(words, citations, bool(good), share, tuple(dict.fromkeys(problems)))
    return sentence, how


def _cite(number: int, passage: Passage, support: Support) -> Citation:
    start, end = support.span
    whole = start >= end
    if whole:
        start, end = 0, len(passage.text)
    return Citation(
        number=number,
        document_id=passage.document_id,
        source=passage.source,
        start=passage.start + start,
        end=passage.start + end,
        quote=passage.text[start:end],
        page=passage.page,
    )


def _finish(
    checked: list[AnswerSentence], draft: Draft, sent: Prompt, gate: Gate, notes: list[str]
) -> Answer:
    """Give the sources numbers by their use, decide answer or refusal, write the text."""
    answered = [s for s in checked if s.supported]
    refused = not answered
    if refused and any(not is_refusal(s.text) for s in checked):
        notes.append("the draft was withheld: nothing in it is supported by a source")
    order: dict[int, int] = {}
    for sentence in checked:
        for citation in sentence.citations:
            order.setdefault(citation.number, len(order) + 1)
    sentences = tuple(_renumber(sentence, order) for sentence in checked)
    text = sent.refusal if refused else " ".join(_show(s) for s in sentences)
    return Answer(
        question=sent.question,
        status="refused" if refused else "answered",
        text=text,
        sentences=sentences,
        passages=sent.passages,
        gate=gate,
        notes=tuple(dict.fromkeys(notes)),
    )


def _renumber(sentence: AnswerSentence, order: dict[int, int]) -> AnswerSentence:
    def number(character: str) -> str:
        code = ord(character) - SPOKEN_FIRST
        return str(order.setdefault(code, len(order) + 1)) if 0 < code < 0x1900 else character

    citations = tuple(replace(c, number=order[c.number]) for c in sentence.citations)
    return replace(sentence, text="".join(number(c) for c in sentence.text), citations=citations)


def _show(sentence: AnswerSentence) -> str:
    numbers = sorted({citation.number for citation in sentence.citations})
    marks = "".join(f"[{number}]" for number in numbers)
    return f"{sentence.text} {marks}" if marks else sentence.text
