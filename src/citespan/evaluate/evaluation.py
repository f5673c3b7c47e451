"""From a run and its questions to scores: the one place where metrics meet results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from citespan.errors import InputError
from citespan.evaluate import refusal
from citespan.evaluate.cases import Case, is_correct
from citespan.evaluate.groundtruth import Question
from citespan.evaluate.metrics import Metric, parse_metrics
from citespan.evaluate.relevance import ChunkIndex
from citespan.evaluate.runs import RankedPassage, Run
from citespan.evaluate.scores import Scores, make_scores
from citespan.evaluate.span_metrics import FitTokens, Ratio, fit_approximately
from citespan.types import Chunk

DEFAULT_METRICS = (
    "hit_rate@3",
    "MRR@3",
    "evidence_recall@3",
    "precision@3",
    "span_recall@750tok",
    "span_precision@750tok",
    "span_iou@750tok",
)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of one run, by the metric's name, and what a reader must know beside."""

    run: str
    scores: Mapping[str, Scores]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)


def evaluate_run(
    run: Run,
    questions: Sequence[Question],
    metrics: Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    chunks: Iterable[Chunk | RankedPassage] | ChunkIndex | None = None,
    texts: Mapping[str, str] | None = None,
    fit: FitTokens = fit_approximately,
) -> Evaluation:
    """Return the metrics of a run against questions with evidence.

    Parameters
    ----------
    run
        Ranked passages a question. Questions of the run that are not among ``questions`` are
        ignored and said.
    questions
        A question that the run lacks is unmeasured; one that has nothing the metric can be
        computed from (no evidence; unanswerable) is not applicable. Both are counted.
    metrics
        Names such as ``recall@3`` or ``span_recall@750tok``; all wrong names are reported together.
    chunks
        The whole collection; needed by metrics that must know all relevant chunks (``recall@k``,
        ``nDCG@k``, ``MAP``, ``precision_omega``). `evidence_recall@k` needs none.
    texts
        Documents' texts by id; needed for a token budget where the passages bring no text.
    fit
        How a text is cut at a token budget; approximate where no tokenizer is given.

    Raises
    ------
    InputError
        When metrics lack what they need; all of them in one message.

    Examples
    --------
    >>> from citespan.evaluate.groundtruth import Evidence
    >>> from citespan.evaluate.runs import make_run
    >>> from citespan.types import Span
    >>> asked = [Question("q", "Who?", ("d",), (Evidence("d", 4, 9),))]
    >>> run = make_run("mine", {"q": [RankedPassage("d", (Span(0, 4),)),
    ...                               RankedPassage("d", (Span(4, 12),))]})
    >>> scores = evaluate_run(run, asked, ["MRR@3", "span_precision@3"]).scores
    >>> scores["MRR@3"].mean, scores["span_precision@3"].mean
    (0.5, 0.4166666666666667)
    """
    parsed = parse_metrics(str(metric) for metric in metrics)
    index = (
        ChunkIndex(chunks) if chunks is not None and not isinstance(chunks, ChunkIndex) else chunks
    )
    needing = [str(m) for m in parsed if m.measure.needs_chunks and index is None]
    if needing:
        raise InputError(
            f"{', '.join(needing)} must know all chunks of the collection",
            fix="give chunks=, or use evidence_recall@k, hit_rate@k and MRR@k, which need none",
        )
    asked = {q.id: q for q in questions}
    if len(asked) < len(questions):
        raise InputError("two questions have one id", fix="check the file with check_questions")
    run = _fill_texts(run, texts) if any(m.tokens for m in parsed) else run
    if index is not None:
        _require_own_chunks(run, index, parsed)

    missing = tuple(q for q in asked if q not in run.results)
    cases = {n: Case(asked[n], r, index, fit) for n, r in run.results.items() if n in asked}
    scores: dict[str, Scores] = {}
    for metric in parsed:
        if metric.level == "refusal":
            scores[metric.name] = _score_refusal(metric, run, asked, missing)
        else:
            scores[metric.name] = _score_questions(metric, cases, asked, missing)
    notes = _list_notes(run, asked, missing)
    return Evaluation(run.name, scores, notes, dict(run.settings))


def _score_questions(
    metric: Metric,
    cases: Mapping[str, Case],
    asked: Mapping[str, Question],
    missing: tuple[str, ...],
) -> Scores:
    by_document = metric.level == "doc"
    values: dict[str, float] = {}
    ratios: list[Ratio] = []
    left_out: set[str] = set()
    for name, question in asked.items():
        known = question.document_grades if by_document else question.evidence
        if not question.answerable or not known:
            left_out.add(name)
        elif name in cases:
            found = cases[name].measure(metric)
            if isinstance(found, tuple):
                ratios.append(found)
                found = found[0] / found[1] if found[1] else 0.0
            values[name] = found
    return make_scores(
        metric,
        values,
        ratios=ratios if metric.level in ("span", "chroma", "evidence") else None,
        unmeasured=[name for name in missing if name not in left_out],
        not_applicable=[name for name in asked if name in left_out],
    )


def _score_refusal(
    metric: Metric, run: Run, asked: Mapping[str, Question], missing: tuple[str, ...]
) -> Scores:
    gated = {
        name: (result, result.gate)
        for name, result in run.results.items()
        if name in asked and result.gate is not None
    }
    unmeasured = [*missing, *(n for n in run.results if n in asked and n not in gated)]
    names = list(gated)
    scores = [gate.score for _, gate in gated.values()]
    if metric.stem in ("AUROC", "AURC"):
        if metric.stem == "AUROC":
            value = refusal.auroc(scores, [asked[n].answerable for n in names])
        else:
            correct = [is_correct(gated[n][0], asked[n]) for n in names]
            value = refusal.risk_coverage(scores, correct).area if names else None
        # One figure of all questions together: it has no value a question.
        return replace(make_scores(metric, {}, unmeasured=unmeasured), mean=value)
    wanted = metric.stem == "false_refusals"
    values: dict[str, float] = {}
    for name, (_, gate) in gated.items():
        if asked[name].answerable == wanted:
            refused = gate.refused if metric.threshold is None else gate.score < metric.threshold
            values[name] = float(refused)
    others = [n for n in asked if asked[n].answerable != wanted]
    return make_scores(
        metric,
        values,
        unmeasured=[n for n in unmeasured if n not in set(others)],
        not_applicable=others,
    )


def _fill_texts(run: Run, texts: Mapping[str, str] | None) -> Run:
    """Return the run with every passage's text: the documents' own, else what the run brought."""
    lacking: set[str] = set()

    def fill(passage: RankedPassage) -> RankedPassage:
        text = (texts or {}).get(passage.doc_id)
        if text is not None:
            return replace(passage, text=" ".join(text[s:e] for s, e in passage.spans))
        # A text that is not the spans' own (shortened, translated) would be charged wrongly.
        length = sum(e - s for s, e in passage.spans) + len(passage.spans) - 1
        if len(passage.text) != length:
            lacking.add(passage.doc_id)
        return passage

    results = {
        name: replace(result, passages=tuple(fill(p) for p in result.passages))
        for name, result in run.results.items()
    }
    if lacking:
        raise InputError(
            f"a token budget needs the exact text of {len(lacking)} documents ({min(lacking)}, …)",
            fix="give texts={document id: text}, or passages with their whole text",
        )
    return replace(run, results=results)


def _require_own_chunks(run: Run, index: ChunkIndex, metrics: Sequence[Metric]) -> None:
    """Refuse recall over chunks for passages that are none: 1 of them may hold 3 chunks."""
    needing = [str(m) for m in metrics if m.level == "chunk" and m.measure.needs_chunks]
    if not needing:
        return
    for result in run.results.values():
        for passage in result.passages:
            if passage.id not in index.ids:
                raise InputError(
                    f"{', '.join(needing)}: the passage {passage.id} of run {run.name!r} "
                    "is no chunk of the collection",
                    fix="use evidence_recall@k or span_recall for grown or merged passages",
                )


def _list_notes(run: Run, asked: Mapping[str, Question], missing: Sequence[str]) -> tuple[str, ...]:
    notes = []
    if missing:
        notes.append(f"{len(missing)} of {len(asked)} questions were not asked: unmeasured, not 0")
    unknown = [name for name in run.results if name not in asked]
    if unknown:
        notes.append(f"{len(unknown)} questions of the run have no ground truth and are left out")
    named = {name for question in asked.values() for name in question.document_grades}
    seen = {p.doc_id for result in run.results.values() for p in result.passages}
    if named and seen and not named & seen:
        notes.append(
            f"no passage comes from a document that the questions name ({min(named)}, …; the run "
            f"has {min(seen)}, …): if these are two names of one thing, use resolve_documents"
        )
    if run.failures:
        notes.append(f"{len(run.failures)} questions failed and are unmeasured")
    return tuple(notes)
