"""Ids in calls of a model's methods are completed in IPython."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import cosim
from cosim.model.typed_names import ids_that_fit
from cosim_mechanics import Multibody

NAMES = {"model": Multibody("m"), "plain": cosim.Model("p"), "text": "model"}


@pytest.mark.parametrize(
    ("before", "typed", "ids"),
    [
        ('model.add("mechanics.linear_b', "mechanics.linear_b", ["mechanics.linear_bushing"]),
        ("x = model.add(kind='mechanics.linear_b", "mechanics.linear_b", ["mechanics.linear_bushing"]),
        ('model.measure("measures.dela', "measures.dela", ["measures.delay"]),
        ('model.joint("weld', "weld", ["mechanics.weld"]),
        ('model.constraint("gear', "gear", ["mechanics.gear"]),
        ('model.simulate(until=max(1, 2), integrator="radau5', "radau5", ["integrators.radau5"]),
        ('plain.add("signals.pid', "signals.pid", ["signals.pid"]),
        ('plain.joint("weld', "", []),
        ('text.add("mechanics.linear_b', "", []),
        ('unknown.add("mechanics.linear_b', "", []),
        ('model.add("mechanics.linear_bushing", "name', "", []),
        ('print("mechanics.', "", []),
    ],
)
def test_what_fits(before: str, typed: str, ids: list[str]) -> None:
    found = ids_that_fit(before, NAMES, cosim.Model)
    assert found[0] == typed and found[1][: len(ids) or None] == ids


def test_a_measure_is_no_joint() -> None:
    assert "measures.delay" in ids_that_fit('model.add("', NAMES, cosim.Model)[1]
    assert "measures.delay" not in ids_that_fit('model.joint("', NAMES, cosim.Model)[1]


def test_the_first_model_in_ipython_adds_one_matcher(monkeypatch: pytest.MonkeyPatch) -> None:
    matchers: list[Any] = []
    shell = SimpleNamespace(Completer=SimpleNamespace(custom_matchers=matchers), user_ns=NAMES)
    fake, completer = ModuleType("IPython"), ModuleType("IPython.core.completer")
    fake.get_ipython = lambda: shell  # type: ignore[attr-defined]
    completer.SimpleCompletion = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.core", ModuleType("IPython.core"))
    monkeypatch.setitem(sys.modules, "IPython.core.completer", completer)
    cosim.Model("first")
    Multibody("second")
    (matcher,) = matchers
    assert matcher.matcher_api_version == 2
    text = 'model.add("measures.dela") # more'
    found = matcher(SimpleNamespace(full_text=text, cursor_position=text.index('")')))
    assert [item.text for item in found["completions"]] == ["measures.delay"]
    assert found["matched_fragment"] == "measures.dela" and found["suppress"]


def test_ipython_itself() -> None:
    completion = pytest.importorskip("IPython.core.completer")
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    shell.run_cell("import cosim\nmodel = cosim.Model('m')\n")
    with completion.provisionalcompleter():
        line = 'model.add("measures.dela'
        assert [found.text for found in shell.Completer.completions(line, len(line))] == ["measures.delay"]
