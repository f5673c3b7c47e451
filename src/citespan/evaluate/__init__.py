"""Measure retrieval honestly: usable by itself, on anybody's runs.

Read in this order: `metrics` (a name is the whole definition), `runs` and `groundtruth` (the two
inputs), `evaluation` (their scores), `statistics` (is a difference more than luck), then
`ranking`, `span_metrics` and `refusal` for the formulas.
"""

from citespan.evaluate.evaluation import Evaluation, evaluate_run
from citespan.evaluate.groundtruth import Evidence, Question, read_questions, write_questions
from citespan.evaluate.metrics import Metric, parse_metric, parse_metrics
from citespan.evaluate.ranking import evaluate_qrels
from citespan.evaluate.retrieval import query_evaluation, run_retrieval
from citespan.evaluate.runs import RankedPassage, Result, Run, make_run, read_run, write_run
from citespan.evaluate.scores import Scores
from citespan.evaluate.statistics import Comparison, bootstrap_interval, compare_runs

__all__ = [
    "Comparison",
    "Evaluation",
    "Evidence",
    "Metric",
    "Question",
    "RankedPassage",
    "Result",
    "Run",
    "Scores",
    "bootstrap_interval",
    "compare_runs",
    "evaluate_qrels",
    "evaluate_run",
    "make_run",
    "parse_metric",
    "parse_metrics",
    "query_evaluation",
    "read_questions",
    "read_run",
    "run_retrieval",
    "write_questions",
    "write_run",
]
