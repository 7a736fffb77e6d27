"""The models whose native FMUs are measured, and the C files that were written by hand for them."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim import kit
from cosim_mechanics import Multibody

LINKS = 10
COMMUNICATION = 1e-2
EXAMPLE = Path(__file__).parents[2] / "examples" / "engine_mount"


@dataclass(frozen=True)
class Measured:
    """A model, and C files that compute the same.

    Attributes
    ----------
    name : str
    make : callable
        Makes the model.
    step : float
        Of the classical Runge-Kutta method, s.
    by_hand : dict of str to (str, str)
        A C file and a compiler flag, by which equations it has.
    compared : int
        The first states, so many, are those of the C files, after `relative`.
    """

    name: str
    make: Callable[[], cosim.Model]
    step: float
    by_hand: dict[str, tuple[str, str]]
    compared: int

    @property
    def method(self) -> dict[str, Any]:
        """The method as exporters and `Simulator` take it."""
        return {"integrator": "integrators.runge_kutta_4", "fixed_step": self.step}


def chain() -> cosim.Model:
    """Links of 1 m and 1 kg, all at 0.5 rad."""
    model = Multibody("pendulum", gravity=(0, -9.81, 0))
    previous: Any = "ground"
    for i in range(LINKS):
        link = model.body(f"link{i}", mass=1.0, center_of_mass=(0, -0.5, 0), inertia=(1 / 12, 1e-3, 1 / 12))
        place = {} if i == 0 else {"frame_on_parent": (0, -1.0, 0)}
        model.joint("pin", child=link, parent=previous, q=[0.5 if i == 0 else 0.0], **place)
        previous = link
    return model


def mount() -> cosim.Model:
    """The example of an engine mount, with the components of its own plugin."""
    return cosim.Model.from_file(EXAMPLE / "engine_mount.toml")


def registry() -> kit.Registry:
    """The installed plugins, and the example's plugin from this repository."""
    sys.path.insert(0, str(EXAMPLE / "plugin"))
    own = importlib.metadata.EntryPoint("engine_mount", "engine_mount_parts.plugin", "cosim")
    installed = importlib.metadata.entry_points(group="cosim")
    return kit.Registry.discover([*(point for point in installed if point.name != own.name), own])


def relative(way: str, state: NDArray[np.float64]) -> NDArray[np.float64]:
    """States as the model has them: one C file has angles against the vertical, not against the next link."""
    if way != "for this model alone" or state.size != 2 * LINKS:
        return state
    return np.concatenate([np.diff(half, prepend=0.0) for half in (state[:LINKS], state[LINKS:])])


MODELS = (
    Measured(
        "engine mount",
        mount,
        5e-4,
        {
            "the same equations": ("engine_mount.c", "-DGENERAL"),
            "for this model alone": ("engine_mount.c", ""),
        },
        15,
    ),
    Measured(
        "ten links",
        chain,
        1e-3,
        {"the same equations": ("spatial_chain.c", ""), "for this model alone": ("planar_chain.c", "")},
        2 * LINKS,
    ),
)
