"""FmuExporter: the base of exporters of FMUs, with checks before an export and a report after it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

import cosim
from cosim.kit import ExportReport
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_options import FmuOptions
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.hidden_variables import hidden_text
from cosim_export.interface.names import leaves_that_are_branches, without_subscripts
from cosim_export.interface.smoke_experiment import add_smoke_experiment

log = logging.getLogger("cosim.export")


def check_parts(model: cosim.Model) -> None:
    """Refuse a model with parts that cannot be exported; `ModelError` names all of them."""
    problems = [
        cosim.Problem(name, f"this part cannot be exported: {part.not_exported}")
        for name, part in model.parts.items()
        if part.not_exported
    ]
    if problems:
        raise cosim.ModelError(problems)


def bus_warnings(variables: Iterable[FmuVariable]) -> tuple[str, ...]:
    """A warning about names of variables with which names of others begin, with the remedy."""
    clashes = leaves_that_are_branches(without_subscripts(v.name) for v in variables)
    if not clashes:
        return ()
    (name, longer), *others = clashes
    more = f" (and {len(others)} more such names)" if others else ""
    return (
        f"{name} is a variable, and the name of {longer} begins with it{more}: tools that make a bus of "
        'names with dots (Simulink) take no such port. --naming flat (naming="flat") writes names without '
        f'dots, --names {name}=other (names={{"{name}": "other"}}) gives one another name',
    )


class FmuExporter(cosim.Exporter):
    """The base of exporters of FMUs: reports count hidden variables, and warn about names.

    Attributes
    ----------
    options : type of FmuOptions
        The names that `export` accepts.
    """

    options: ClassVar[type[FmuOptions]] = FmuOptions

    def option_names(self) -> list[str]:
        """Names of the options, without those of the integrator."""
        return self.options.option_names()

    def add_experiment(self, path: Path) -> str:
        """Add a smoke experiment: some steps, with the outputs as reference results."""
        return add_smoke_experiment(path)

    def report(
        self, target: Path, form: str, interface: ExportedInterface, left_out: Mapping[str, int]
    ) -> ExportReport:
        """The report of an export to `target`; its warnings are logged as well."""
        warnings = bus_warnings(interface.variables)
        for text in warnings:
            log.warning("%s: %s", interface.model_name, text)
        summary = "\n".join(line for line in (form, hidden_text(left_out)) if line)
        return ExportReport(target, summary, warnings)
