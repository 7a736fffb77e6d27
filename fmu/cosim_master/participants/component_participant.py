"""A single component as a participant."""

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
from cosim_master.abilities import InnerPoint, NativeCalls
from cosim_master.participants.system_participant import SystemParticipant

WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class ComponentParticipant(SystemParticipant):
    """A component alone: its variables have the names that the class declares (``controller.gain``).

    It runs as a system of this one component does.

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

    def _renamed(self, told: ParticipantDescription) -> ParticipantDescription:
        own = self._own
        return replace(
            told,
            variables={own(name): replace(v, name=own(name)) for name, v in told.variables.items()},
            feedthrough={
                own(name): frozenset(map(own, inputs)) for name, inputs in (told.feedthrough or {}).items()
            },
            settable=frozenset(map(own, told.settable or ())),
            tunable=frozenset(map(own, told.tunable)),
            readable=frozenset(map(own, told.readable)),
            discrete=frozenset(map(own, told.discrete)),
            arrays={own(n): (shape, tuple(map(own, names))) for n, (shape, names) in told.arrays.items()},
        )

    def _own(self, path: str) -> str:
        """The name of a variable of the system."""
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
        """As those of the system."""
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
        """Let inputs run along lines over the next step; per s."""
        super().set_slopes(self._paths(names), slopes)

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Values at the present time."""
        return super().get(self._paths(names))

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Variables whose values are kept between communication points."""
        super().watch(self._paths(names), where)

    def inside(self) -> Sequence[InnerPoint]:
        """Values at events since the last call."""
        names = tuple(map(self._own, self._watched))
        return [point._replace(names=names) for point in super().inside()]

    def export_fmu(self, path: Path, also: Sequence[str] = (), **options: Any) -> Path:
        """Write the system as an FMU, whose variables have the paths of the system."""
        return super().export_fmu(path, self._paths(also), **options)
