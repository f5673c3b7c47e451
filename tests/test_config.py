"""Settings: which source wins, and every mistake reported at once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from citespan.config import LoadedSettings, Settings, load_settings, resolve_settings
from citespan.errors import InputError


def load(flags=None, environ=None, toml: str | None = None, folder: Path | None = None):
    if toml is not None:
        (folder / "citespan.toml").write_text(toml, encoding="utf-8")
    return load_settings(flags or {}, environ=environ or {}, folder=folder or Path("nowhere"))


def test_flag_before_environment_before_file_before_default(tmp_path):
    toml = "k = 1\nbudget = 1\npassage = 1\n"
    found = load({"k": 3}, {"CITESPAN_K": "2", "CITESPAN_BUDGET": "2"}, toml, tmp_path)
    chosen = found.settings
    assert (chosen.k, chosen.budget, chosen.passage) == (3, 2, 1)
    assert chosen.context == Settings().context
    origin = {o.name: o.source for o in found.origins}
    assert [origin[n] for n in ("k", "budget", "passage", "context")] == [
        *("flag", "environment", "citespan.toml", "default")
    ]
    assert set(origin) == {f.name for f in fields(Settings)}


def test_a_flag_of_none_is_not_given():
    assert load({"k": None}).settings == Settings()


def test_every_mistake_is_reported_at_once(tmp_path):
    with pytest.raises(InputError) as caught:
        load({"k": 0}, {"CITESPAN_SPEED": "9", "CITESPAN_THRESHOLD": "x"}, "size = 2.5\n", tmp_path)
    said = str(caught.value)
    for part in ("k = 0 (flag)", "unknown setting 'speed'", "threshold = 'x'", "size = 2.5"):
        assert part in said


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("k", "many", "wants a whole number"),
        ("k", 0, "at least 1"),
        ("k", True, "wants a number"),
        ("overlap", -1, "must not be negative"),
        ("threshold", "nan", "between 0 and 1"),
        ("threshold", 1.5, "between 0 and 1"),
        ("timeout", 0, "positive"),
        ("timeout", "inf", "positive"),
        ("unit", "miles", "must be one of words"),
        ("retriever", "x", "must be one of"),
        ("splitter", "", "must not be empty"),
        ("model", 5, "wants text"),
        ("allow_private", "perhaps", "true or false"),
        ("include", [1], "list of globs"),
    ],
)
def test_unusable_values(name, value, said):
    with pytest.raises(InputError, match=said):
        load({name: value})


def test_globs_come_as_a_list_or_joined_by_commas(tmp_path):
    assert load(toml='include = ["*.md", "*.txt"]', folder=tmp_path).settings.include == (
        *("*.md", "*.txt"),
    )
    assert load(environ={"CITESPAN_INCLUDE": "*.md, *.txt"}).settings.include == ("*.md", "*.txt")


def test_words_for_yes_and_no():
    for word, value in (("1", True), ("Yes", True), ("false", False), ("0", False)):
        assert load(environ={"CITESPAN_ALLOW_PRIVATE": word}).settings.allow_private is value


def test_a_file_may_be_named_and_must_then_exist(tmp_path):
    other = tmp_path / "other.toml"
    other.write_text("k = 4", encoding="utf-8")
    assert load(environ={"CITESPAN_CONFIG": str(other)}).settings.k == 4
    with pytest.raises(InputError, match="not a file"):
        load(environ={"CITESPAN_CONFIG": str(tmp_path / "none.toml")})


@pytest.mark.parametrize("content", [b'k = "x', b"\xff\xfe"])
def test_a_file_that_is_no_toml(tmp_path, content):
    (tmp_path / "citespan.toml").write_bytes(content)
    with pytest.raises(InputError, match="not valid TOML"):
        load(folder=tmp_path)


def test_variables_of_the_program_itself_are_no_settings():
    names = ("CITESPAN_MODELS", "CITESPAN_BENCH", "CITESPAN_DEBUG")
    assert load(environ=dict.fromkeys(names, "x")).settings == Settings()


def test_resolve_settings(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CITESPAN_INDEX", raising=False)
    loaded = LoadedSettings(Settings(k=2))
    assert resolve_settings(loaded) is loaded
    assert resolve_settings(None).settings.index == ".citespan"
    assert resolve_settings(tmp_path).settings.index == str(tmp_path)
