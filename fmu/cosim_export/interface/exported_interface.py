"""The interface of an exported FMU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import cosim
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.names import c_identifier


@dataclass(frozen=True)
class ExportedInterface:
    """The content of the model description, and how the FMU integrates.

    The value reference of a variable is its place in `variables`, counted from 0; the index that the
    model structure uses counts from 1.

    Attributes
    ----------
    model_name : str
        The name of the model.
    identifier : str
        The name as a C identifier: that of the binaries.
    about : dict of str to str
        Facts about the model: "description", "author", "version", "copyright", "license".
    variables : tuple of FmuVariable
    integrator : str
        Id of the integrator.
    integrator_options : dict
        Arguments of its constructor: ``fixed_step``, ``maximum_step`` …
    accuracy : float or None
        Used unless the environment gives a tolerance; None if participants have their own.
    step_size, stop_time : float or None
        Values of the default experiment, s.
    start_time : float
        The start of the default experiment, s.
    naming : str
        "structured" or "flat".
    unit_meanings : dict of str to (exponents, factor, offset)
        Definitions of units that are no unit expressions, as in `cosim.kit.UnitDefinition`.
    has_arrays : bool
        Whether elements of an array are one variable in FMI 3.0.
    """

    model_name: str
    identifier: str
    about: dict[str, str]
    variables: tuple[FmuVariable, ...]
    integrator: str
    integrator_options: dict[str, Any]
    accuracy: float | None
    step_size: float | None = None
    stop_time: float | None = None
    start_time: float = 0.0
    naming: str = "structured"
    unit_meanings: dict[str, Any] = field(default_factory=dict)
    has_arrays: bool = True

    @classmethod
    def of_model(
        cls, model: cosim.Model, variables: tuple[FmuVariable, ...], settings: Mapping[str, Any], **more: Any
    ) -> ExportedInterface:
        """The interface of a model with its names and description; `settings` from `FmuOptions`."""
        about = {n: str(model.settings[n]) for n in cosim.Model.ABOUT if model.settings.get(n)}
        return cls(model.name, c_identifier(model.name), about, variables, **settings, **more)

    def of(self, causality: str) -> list[FmuVariable]:
        """The variables of one causality, in order."""
        return [v for v in self.variables if v.causality == causality]

    def to_json(self) -> str:
        """The interface as text for a running FMU, without facts that only the description needs."""
        row = asdict(self) | {"variables": [v.to_dict() for v in self.variables]}
        return json.dumps(row, indent=1, sort_keys=True)  # infinite times become "Infinity"

    @classmethod
    def from_json(cls, text: str) -> ExportedInterface:
        """The interface that `to_json` wrote, without the dependencies of its variables."""
        row: dict[str, Any] = json.loads(text)
        variables = tuple(FmuVariable(**v) for v in row.pop("variables"))
        return cls(variables=variables, **row)
