"""A four-bar linkage that is cut at a stiff joint moves as it does as one system, if steps are iterated."""

from typing import Any

import numpy as np
import pytest
from four_bar import ACCURACY, MOTION, START, UNTIL, add_crank, add_rocker, multibody, whole

from cosim_fmu import CoSimulation, SystemParticipant


def cut(algorithm: str, step: float, **options: Any) -> np.ndarray:
    """The angles at the end of a co-simulation of the two systems."""
    linkage, rocker = multibody("linkage"), multibody("rocker")
    add_crank(linkage)
    add_rocker(rocker)
    parts = {
        "linkage": SystemParticipant(linkage, accuracy=ACCURACY),
        "rocker": SystemParticipant(rocker, accuracy=ACCURACY),
    }
    links = [(f"rocker.rocker_{name}", f"linkage.joint.{name}2") for name in MOTION]
    links += [(f"linkage.joint.f{axis}2", f"rocker.rocker_f{axis}.force") for axis in "xy"]
    loop = CoSimulation(parts, links, algorithm, step, options=options)
    names = ["linkage.crank_joint.q[0]", "linkage.coupler_joint.q[0]", "rocker.rocker_joint.q[0]"]
    result = loop.simulate(UNTIL, record=names)
    return np.array([result[name][-1] for name in names])


@pytest.mark.thorough
def test_a_cut_linkage_moves_as_one_system_with_errors_of_second_order() -> None:
    exact = whole()
    assert abs(exact[0] - START) > 0.1
    errors = [float(np.max(np.abs(cut("interface_newton", step) - exact))) for step in (2e-3, 1e-3)]
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)
    # without iteration the coupling is unstable, since the joint is too stiff for this step
    assert np.max(np.abs(cut("jacobi", 2e-3, extrapolation=1) - exact)) > 1.0
