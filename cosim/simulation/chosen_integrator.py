"""The integrator that a run is given: by id, as a class, or made already."""

from __future__ import annotations

from typing import Any

from cosim.contracts.integrator import Integrator
from cosim.errors import ModelError
from cosim.step.projection import END_OF_CORRECTIONS, PREPARE
from cosim.system.system import System


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
        It is made already and has options beside; it cannot keep constraints, and the system has some.
    """
    if isinstance(integrator, str):
        from cosim.registration.registry import registry

        integrator = registry().get("integrator", integrator)
    if isinstance(integrator, type):
        given = options if accuracy is None else {"accuracy": accuracy, **options}
        integrator = integrator(**given)
    elif options:
        names = ", ".join(options)
        raise ModelError.of(
            "integrator", f"it is made already: give {names} to {type(integrator).__name__}()"
        )
    corrections = system.projection
    if (
        corrections[PREPARE] != corrections[END_OF_CORRECTIONS]
        and not integrator.capabilities.supports_constraints
    ):
        raise ModelError.of(
            "integrator",
            f"{type(integrator).__name__} cannot keep constraints, and this system has some: choose "
            "a method whose capabilities say supports_constraints.",
        )
    return integrator
