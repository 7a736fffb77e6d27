"""The checks that make calls which environments must not make: an FMU should refuse them."""

from __future__ import annotations

import math
from collections.abc import Callable

from cosim_fmi.validate.check_parts import Faults, instance_of
from cosim_fmi.validate.finding import FailedCallError
from cosim_fmi.validate.foreign_instance import ForeignFmu

FAR_BEYOND = 12345
"""Added to the largest value reference: no variable has the sum."""


def wrong_steps(fmu: ForeignFmu) -> Faults:
    """Communication steps that are not positive."""
    if not fmu.is_co_simulation:
        return
    accepted = []
    for size in (0.0, -fmu.step):
        with instance_of(fmu) as instance:
            instance.start()
            if _is_taken(instance.do_step, fmu.start, size):
                accepted.append(f"{size:g}")
    if accepted:
        yield "warning", f"communication steps of {' and '.join(accepted)} s are answered by OK"


def wrong_values(fmu: ForeignFmu) -> Faults:
    """References and values that cannot be."""
    unknown = max((v["reference"] for v in fmu.variables), default=0) + FAR_BEYOND
    kind = "Float64" if fmu.job["version"] == "3.0" else "Real"
    nowhere = {"name": "?", "access": kind, "size": 1, "reference": unknown}
    with instance_of(fmu) as instance:
        instance.start()
        if _is_taken(instance.get, [nowhere]):
            name = instance.instance.name_of(f"Get{kind}")
            yield "warning", f"{name} of a value reference that is not there ({unknown}) is answered by OK"
    for variable in fmu.driven[:1]:
        with instance_of(fmu) as instance:
            instance.start()
            if _is_taken(instance.set, [variable], [math.nan]):
                yield "warning", f"input {variable['name']} accepts NaN and returns OK"
    if not fmu.is_co_simulation:
        return
    for variable in fmu.of("input", "parameter", kind="Real"):
        if variable["min"] is not None and variable["variability"] != "fixed" and variable["size"] == 1:
            below = float(variable["min"]) - max(1.0, abs(float(variable["min"])))
            with instance_of(fmu) as instance:
                instance.start()
                if _is_taken(instance.set, [variable], [below]):
                    name = variable["name"]
                    yield "warning", f"{name} takes {below!r}, below its min {variable['min']}, with OK"
            break


def _is_taken(action: Callable[..., object], *arguments: object) -> bool:
    """Whether an FMU answers OK to what no environment may do."""
    try:
        action(*arguments)
    except FailedCallError:
        return False
    return True
