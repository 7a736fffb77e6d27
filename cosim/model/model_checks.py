"""Checks of a model before and after its system is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cosim.contracts.solver import Solver
from cosim.errors import CosimError, ModelError, Problem
from cosim.options import check_options, option_names
from cosim.registration.kinds import declared_kinds
from cosim.registration.registry import registry
from cosim.value_text import quote

if TYPE_CHECKING:
    from cosim.system.system import System


def check_model(model: Any) -> None:
    """Refuse a name that is not text, settings that nothing has, and parts that were not added by `add`.

    Raises
    ------
    ModelError
        The name, or a part that is not called as it is listed.
    OptionError
        A setting that neither the model nor a solver has.
    """
    check_model_name(model)
    if not set(model.settings) <= {*model.ABOUT, *option_names(type(model))}:
        check_options(f"model '{model.name}'", model.settings, model.setting_names())
    check_solvers(model)
    wrong = [name for name, part in model.parts.items() if getattr(part, "name", None) != name]
    if wrong:
        text = f"it is not called so: add it with model.add(part, '{wrong[0]}')"
        raise ModelError.of(f"parts['{wrong[0]}']", text)


def check_solvers(model: Any) -> None:
    """`LookUpError` for a solver that does not exist, also where no part asks for one."""
    if not model.settings:
        return  # listing the kinds imports all of the kernel
    for name, kind in declared_kinds().items():
        if issubclass(kind, Solver) and kind.setting in model.settings:
            registry().entry(name, str(model.settings[kind.setting]))


def check_model_name(model: Any) -> None:
    """`ModelError` unless the name of a model is text that is not blank."""
    if not isinstance(model.name, str) or not model.name.strip():
        raise ModelError.of("model", f"its name is {quote(model.name)}, needs text")


def check_starts(model: Any, system: System) -> None:
    """`ModelError` with all start values that the system does not take."""
    from cosim.system.state import State

    problems, state = [], State(system)
    for path, value in model.starts.items():
        try:
            system.write(state, path, value)
        except CosimError as error:
            problems.append(Problem(f"starts: {path}", str(error).removeprefix(f"{path}: ")))
    if problems:
        raise ModelError(problems)
