"""Options of participants that are integrated here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import cosim

SIMULATOR = ("endless_events", "final_time")  # options that are not the integrator's


def check_options(integrator: str, options: Mapping[str, Any]) -> None:
    """Say now what an integrator does not take.

    Parameters
    ----------
    integrator : str
        Its id.
    options : mapping of str to object
        For its constructor, ``accuracy`` among them, and for the simulator.

    Raises
    ------
    ModelError
        Listing every fault.
    LookUpError
        There is no such integrator.

    Examples
    --------
    >>> check_options("integrators.runge_kutta_4", {"fixed_stp": 1e-3})
    Traceback (most recent call last):
        ...
    cosim.errors.ModelError: options.fixed_stp: no option 'fixed_stp'. Nearest: fixed_step.
    """
    kind = cosim.registry().get("integrator", integrator)
    common = inspect.signature(cosim.Integrator).parameters
    own = [p.name for p in inspect.signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
    known = dict.fromkeys(("integrator", *common, *own, *SIMULATOR))
    unknown = [name for name in options if name not in known]
    if unknown:
        raise cosim.ModelError(
            [cosim.Problem(f"options.{n}", str(cosim.LookUpError("option", n, known))) for n in unknown]
        )
    kind(**{name: value for name, value in options.items() if name not in SIMULATOR})
