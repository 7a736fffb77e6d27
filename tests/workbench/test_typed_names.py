"""IPython completes ids in calls of the methods of a model."""

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
def test_ids_that_fit_the_typed_text(before: str, typed: str, ids: list[str]) -> None:
    completion = ids_that_fit(before, NAMES, cosim.Model)
    assert completion[0] == typed and completion[1][: len(ids) or None] == ids


def test_each_method_completes_the_ids_of_its_kind() -> None:
    assert "measures.delay" in ids_that_fit('model.add("', NAMES, cosim.Model)[1]
    assert "measures.delay" not in ids_that_fit('model.joint("', NAMES, cosim.Model)[1]


def test_the_first_model_in_ipython_adds_one_matcher(monkeypatch: pytest.MonkeyPatch) -> None:
    matchers: list[Any] = []
    shell = SimpleNamespace(Completer=SimpleNamespace(custom_matchers=matchers), user_ns=NAMES)
    ipython, completer = ModuleType("IPython"), ModuleType("IPython.core.completer")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    completer.SimpleCompletion = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.core", ModuleType("IPython.core"))
    monkeypatch.setitem(sys.modules, "IPython.core.completer", completer)
    cosim.Model("first")
    Multibody("second")
    (matcher,) = matchers
    assert matcher.matcher_api_version == 2
    text = 'model.add("measures.dela") # more'
    completions = matcher(SimpleNamespace(full_text=text, cursor_position=text.index('")')))
    assert [item.text for item in completions["completions"]] == ["measures.delay"]
    assert completions["matched_fragment"] == "measures.dela" and completions["suppress"]


def test_a_shell_of_ipython_completes() -> None:
    completion = pytest.importorskip("IPython.core.completer")
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    shell.run_cell("import cosim\nmodel = cosim.Model('m')\n")
    with completion.provisionalcompleter():
        line = 'model.add("measures.dela'
        assert [found.text for found in shell.Completer.completions(line, len(line))] == ["measures.delay"]
