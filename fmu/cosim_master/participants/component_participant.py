"""A participant made of a single component."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.abilities import InnerPoint
from cosim_master.native_calls import NativeCalls
from cosim_master.participants.system_participant import SystemParticipant

WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word begins inside the name of a class: ``PidController`` has two."""


class ComponentParticipant(SystemParticipant):
    """A system of one component, whose variables have the names that the class declares.

    In a coupling the gain of the participant ``controller`` is ``controller.gain``.

    Parameters
    ----------
    component : type of Component
    **options
        Its parameters, start values and attachments, as for `Model.add`.

    Raises
    ------
    ModelError
        The component cannot be made with these options.

    Examples
    --------
    >>> class Doubler(cosim.Component):
    ...     "y = 2 u"
    ...
    ...     u = cosim.input()
    ...     y = cosim.output()
    ...
    ...     def law(self, u, y):
    ...         y[0] = 2.0 * u
    >>> sorted(ComponentParticipant(Doubler).describe().variables)
    ['u', 'y']
    """

    def __init__(self, component: type[cosim.Component], **options: Any) -> None:
        name = WORD_BEGINS.sub("_", component.__name__).lower()
        model = cosim.Model(name)
        model.add(component, name, **options)
        super().__init__(model)
        self._prefix = f"{name}."

    def describe(self) -> ParticipantDescription:
        """Variables, feedthrough and abilities, under the names of the class."""
        if self._description is None:
            self._description = self._renamed(super().describe())
        return self._description

    def _renamed(self, inner: ParticipantDescription) -> ParticipantDescription:
        """The description of the system with the names of the class."""
        name_of = self._name_of
        return replace(
            inner,
            variables={name_of(path): replace(v, name=name_of(path)) for path, v in inner.variables.items()},
            feedthrough={
                name_of(path): frozenset(map(name_of, inputs))
                for path, inputs in (inner.feedthrough or {}).items()
            },
            settable=frozenset(map(name_of, inner.settable or ())),
            tunable=frozenset(map(name_of, inner.tunable)),
            readable=frozenset(map(name_of, inner.readable)),
            discrete=frozenset(map(name_of, inner.discrete)),
            states=tuple(map(name_of, inner.states)),
            arrays={
                name_of(n): (shape, tuple(map(name_of, names))) for n, (shape, names) in inner.arrays.items()
            },
        )

    def _name_of(self, path: str) -> str:
        """The name that the class declares for a variable of the system."""
        return path.removeprefix(self._prefix)

    def path_of(self, name: str) -> str:
        """The path in the system of a variable, which is its name in an exported FMU."""
        path = self._prefix + name
        return path if path.partition("[")[0] in self.system.variables else name

    def _paths(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.path_of, names))

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls:
        """The functions of the system."""
        return super().native_calls(self._paths(inputs), self._paths(reads), flags)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Make a State at `start` (s) with these values."""
        super().initialize(start, stop, {self.path_of(n): v for n, v in values.items()}, tolerance)

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write inputs."""
        super().set(self._paths(names), values)

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Let inputs run along lines over the next step, per s."""
        super().set_slopes(self._paths(names), slopes)

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Values at the present time."""
        return super().get(self._paths(names))

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Variables whose values are kept between communication points."""
        super().watch(self._paths(names), where)

    def inside(self) -> Sequence[InnerPoint]:
        """Values at events since the last call."""
        names = tuple(map(self._name_of, self._watched))
        return [point._replace(names=names) for point in super().inside()]

    def export_fmu(self, path: Path, also: Sequence[str] = (), **options: Any) -> Path:
        """Write the system as an FMU, whose variables have the paths of the system."""
        return super().export_fmu(path, self._paths(also), **options)
