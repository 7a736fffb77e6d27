"""Ids in ``model.add("…")`` are completed in IPython and notebooks."""

from __future__ import annotations

import re
import sys
from typing import Any

from cosim.registration.registry import registry

CALL = re.compile(r"(\w+)\.(\w+)\(\s*(?:kind\s*=\s*)?[\"']([\w.]*)$")
INTEGRATOR = re.compile(r"(\w+)\.\w+\((?:[^()]|\([^()]*\))*\bintegrator\s*=\s*[\"']([\w.]*)$")
KINDS = {"add": "component", "measure": "measure", "joint": "joint", "constraint": "constraint"}
"""What the methods of a model take first."""


def complete_in_ipython(model: type) -> None:
    """Teach IPython, where it runs, which ids the methods of models take.

    IPython asks objects about keys (``_ipython_key_completions_``) and not about arguments: that needs a
    matcher of its own, which is added once.

    Parameters
    ----------
    model : type
        `cosim.Model`.
    """
    module = sys.modules.get("IPython")
    shell: Any = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    matchers: list[Any] | None = getattr(getattr(shell, "Completer", None), "custom_matchers", None)
    if matchers is None or any(getattr(added, "matcher_identifier", "") == "cosim" for added in matchers):
        return

    completion = sys.modules["IPython.core.completer"].SimpleCompletion

    def matcher(context: Any) -> dict[str, Any]:
        before = context.full_text[: context.cursor_position]
        typed, ids = ids_that_fit(before, shell.user_ns, model)
        return {
            "completions": [completion(text=id, type="id") for id in ids],
            "matched_fragment": typed,
            "suppress": bool(ids),
        }

    matcher.matcher_identifier = "cosim"  # type: ignore[attr-defined]
    matcher.matcher_api_version = 2  # type: ignore[attr-defined]
    matchers.append(matcher)


def ids_that_fit(before: str, names: dict[str, Any], model: type) -> tuple[str, list[str]]:
    """The typed part of an id at the end of a text, and the ids that begin with it or contain it.

    Parameters
    ----------
    before : str
        The text up to the cursor.
    names : dict
        The user's; nothing in them is called.
    model : type
        Objects of this class are models.

    Examples
    --------
    >>> ids_that_fit('m.simulate(integrator="integrators.runge_kutta_m', {"m": 1}, int)
    ('integrators.runge_kutta_m', ['integrators.runge_kutta_merson'])
    """
    call, option = CALL.search(before), INTEGRATOR.search(before)
    if call and call[2] in KINDS:
        owner, method, kind, typed = names.get(call[1]), call[2], KINDS[call[2]], call[3]
    elif option:
        owner, method, kind, typed = names.get(option[1]), "", "integrator", option[2]
    else:
        return "", []
    if not isinstance(owner, model) or (method and not hasattr(owner, method)):
        return "", []
    ids = [entry.id for entry in registry().entries(kind)]
    return typed, [id for id in ids if id.startswith(typed)] or [id for id in ids if typed in id]
