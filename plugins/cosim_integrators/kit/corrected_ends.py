"""What the correction of the end of a step leaves in each state: below that no tolerance helps.

A correction solves linear equations, so each state that it moves is right to a rounding of what it moves
farthest. A mechanism that lies in a plane is moved out of it by that. A method that estimates its errors from
ends of steps sees the corrections themselves: each end is corrected as soon as it is off by the tolerance of
constraints, and differences show that several times larger.

Only states that a correction has moved are held to that: a small state beside a mechanism is not.
"""

from __future__ import annotations

import math

from cosim.kit import has_constraints, project_end
from cosim_integrators.kit.start_of_step import copy_values

EPSILON = 2.220446049250313e-16
IN_DIFFERENCES = 10.0  # what one end is off by, in a difference of fifth order


def sees_corrections(method):
    """Whether errors are estimated from ends of steps that constraints correct."""
    return method.least_absolute_tolerance > 0.0


def correct_end_of_step(system, method, t):
    """As `project_end`; with error control, floors rise to what corrections leave."""
    if not (method.is_controlled and has_constraints(method.corrections)):
        return project_end(system, method, t)
    before = method.spare
    copy_values(before, method.end)
    status = project_end(system, method, t)
    if status == 0:
        note_correction(method, before, method.end)
    return status


def note_correction(method, before, after):
    """Raise the floors of the states that differ; see above.

    The rounding hardly shrinks with the step, as that of `raise_floors`.
    """
    sizes = method.sizes
    corrected = sizes.corrected
    floors = sizes.floors
    farthest = 0.0
    for m in range(method.n):
        farthest = max(farthest, abs(after[m] - before[m]))
    rounding = math.pow(2.0, method.settings.error_order) * EPSILON * farthest
    in_differences = IN_DIFFERENCES if sees_corrections(method) else 0.0
    for m in range(method.n):
        change = abs(after[m] - before[m])
        if change > 0.0 and method.follows_size(m):
            left = min(max(rounding, in_differences * change), method.absolute_tolerances[m])
            corrected[m] = max(corrected[m], left)
            floors[m] = max(floors[m], corrected[m])
