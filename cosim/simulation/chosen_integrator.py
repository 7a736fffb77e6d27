"""The integrator of a run, chosen by id, as a class, or as an instance."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

from cosim.argument_checks import read_seconds
from cosim.contracts.integrator import Integrator
from cosim.contracts.tolerances import LOOSEST_WINDOW, accuracy_fault
from cosim.errors import ModelError
from cosim.options import check_options, option_names
from cosim.system.system import System
from cosim.value_text import quote

DEFAULT = "integrators.runge_kutta_merson"
TIMES = ("initial_step", "minimum_step", "maximum_step", "fixed_step")


def integrator_options(integrator: str | type[Integrator] | Integrator) -> list[str]:
    """Names of the options of an integrator; none of an instance."""
    method = _class_of(integrator)
    return option_names(method) if isinstance(method, type) else []


def _class_of(integrator: Any) -> Any:
    """The class behind an id; anything else as it is."""
    if not isinstance(integrator, str):
        return integrator
    from cosim.registration.registry import registry  # a process that runs an FMU alone needs none

    return registry().get("integrator", integrator)


def make_integrator(
    integrator: str | type[Integrator] | Integrator, accuracy: float | None, options: Mapping[str, Any]
) -> Integrator:
    """Make an integrator with its options; times may be text with a unit.

    Raises
    ------
    LookUpError, OptionError
        No such integrator, or it has no such option.
    ModelError
        An option is wrong or missing; or options are passed beside an instance.
    """
    method = _class_of(integrator)
    is_class = isinstance(method, type) and issubclass(method, Integrator)
    if not (is_class or isinstance(method, Integrator)):
        needs = f"an id, such as '{DEFAULT}', or an Integrator"
        raise ModelError.of("integrator", f"is {quote(integrator)}, needs {needs}")
    if accuracy is not None and (isinstance(accuracy, bool) or not isinstance(accuracy, numbers.Real)):
        raise ModelError.of("accuracy", f"is {quote(accuracy)}, needs a number, such as 1e-6")
    if is_class:
        if options:
            check_options(method.__name__, options, option_names(method))
        values = dict(options) if accuracy is None else {"accuracy": accuracy, **options}
        values.update(
            {name: read_seconds(values[name], name) for name in TIMES if values.get(name) is not None}
        )
        method = method(**values)
    elif accuracy is not None and (fault := accuracy_fault(accuracy, LOOSEST_WINDOW)):
        raise ModelError.of("accuracy", fault)
    elif options:
        names = ", ".join(options)
        raise ModelError.of(
            "integrator",
            f"already has its options: pass {names} to {type(method).__name__}()",
        )
    instance: Integrator = method
    return instance


def chosen_integrator(
    integrator: str | type[Integrator] | Integrator,
    system: System,
    accuracy: float | None,
    options: dict[str, Any],
) -> Integrator:
    """Make an integrator and check that it is one for this system.

    Raises
    ------
    LookUpError
        No such integrator.
    ModelError
        Options are passed beside an instance; or the integrator cannot meet the system's constraints.
    """
    integrator = make_integrator(integrator, accuracy, options)
    corrections = system.corrections
    if corrections.prepare != corrections.end and not integrator.capabilities.supports_constraints:
        raise ModelError.of(
            "integrator",
            f"{type(integrator).__name__} cannot keep constraints, and this system has some: choose "
            "a method whose capabilities say supports_constraints.",
        )
    return integrator
