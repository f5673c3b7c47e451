"""Names and parts: the built-in ones exist, others come by entry points, mistakes are helped."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from citespan import registry
from citespan.errors import InputError
from citespan.registry import BUILT_IN, list_names, resolve_name

NAMES = [(kind, name) for kind, names in BUILT_IN.items() for name in names]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_each_built_in_name_stands_for_something_callable(kind, name):
    assert callable(resolve_name(kind, name))
    assert name in list_names(kind)


def test_a_wrong_name_is_answered_with_the_likeliest_and_all():
    with pytest.raises(InputError) as caught:
        resolve_name("splitter", "sentence")
    assert "did you mean sentences?" in str(caught.value)
    assert all(name in str(caught.value) for name in list_names("splitter"))
    with pytest.raises(InputError) as caught:
        resolve_name("splitter", "zzz")
    assert "did you mean" not in str(caught.value)


def test_other_packages_add_names_and_replace_none(monkeypatch):
    def find(*, group):
        return [
            EntryPoint("verses", "json:dumps", group),
            EntryPoint("words", "json:loads", group),
        ]

    monkeypatch.setattr(registry, "entry_points", find)
    assert resolve_name("splitter", "verses").__name__ == "dumps"
    assert resolve_name("splitter", "words").__module__ == "citespan.split.words"
    assert list_names("splitter").count("words") == 1


def test_public_names_are_there_and_wrong_ones_are_not():
    import citespan

    for name in citespan.__all__:
        assert getattr(citespan, name) is not None
    assert set(citespan.__all__) <= set(dir(citespan))
    with pytest.raises(AttributeError, match="nosuch"):
        citespan.nosuch  # noqa: B018
