"""The contract of exporters: they write a system to a file that other tools can run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cosim.attributes import AbstractClosedAttributes
from cosim.errors import Problem
from cosim.options import option_names
from cosim.registration.kinds import plugin_kind

if TYPE_CHECKING:
    Model = Any


@dataclass(frozen=True)
class ExportReport:
    """What an exporter has written.

    Attributes
    ----------
    path : Path
        The file.
    summary : str
        The form of the file in a few words, for people, and lines on what was left out.
    warnings : tuple of str
        Parts of the file that some importers reject, with a remedy.
    fallback : str
        Why the recommended form could not be written; empty if it was.
    """

    path: Path
    summary: str = ""
    warnings: tuple[str, ...] = ()
    fallback: str = ""


@plugin_kind("exporter")
class Exporter(AbstractClosedAttributes):
    r"""Writes a model in a form that runs outside of this process.

    A plugin registers the class; it is instantiated without arguments. `Model.export_fmu` calls it.

    Examples
    --------
    >>> class Listing(Exporter):
    ...     '''Writes the names of the parts: an exporter that is as small as can be.'''
    ...     def export(self, model, path, **options):
    ...         path = Path(path)
    ...         path.write_text("\n".join(model.build().parts), "utf-8")
    ...         return ExportReport(path, "names of parts")
    """

    title: ClassVar[str] = ""
    """Where it is exported to, in a few words, for lists of what hinders it."""

    def option_names(self) -> list[str]:
        """The options of `export`, without those of the integrator."""
        return [name for name in option_names(self.export) if name not in ("model", "path")]

    def refusals(self, cls: type) -> list[Problem]:
        """The reasons against exporting a class of components or integrators in any model.

        ``cosim describe`` shows it where the exporter has a `title`.
        """
        return []

    def add_experiment(self, path: Path) -> str:
        """Put an experiment with reference results into what was written, where it has a place for one.

        ``cosim export`` calls it.

        Returns
        -------
        str
            Why there is none; "" where there is, or where such files have no place for one.
        """
        return ""

    @abstractmethod
    def export(
        self,
        model: Model,
        path: str | PathLike[str],
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        parameters: Sequence[str] | None = None,
        expose: Sequence[str] | None = None,
        step_size: float | None = None,
        stop_time: float | None = None,
        integrator: str | None = None,
        accuracy: float | None = None,
        all: bool = False,  # noqa: A002
        **options: Any,
    ) -> ExportReport:
        """Write the model.

        Every selection is a list of paths or patterns (``energy.*``); None means the default: what the
        model names.

        Parameters
        ----------
        model : Model
            Is built; a fault of it is a `ModelError`.
        path : path_like
            Where to write; an existing file is replaced, and only when everything went well.
        inputs : sequence of str, optional
            Inputs that are set from outside; by default all that nothing in the model is connected to.
        outputs : sequence of str, optional
            By default the declared outputs of all components, the values of all measures, and the signals
            that the model records; of diagnostics (energies) those that it records.
        parameters : sequence of str, optional
            By default those that were given a value, but for the frames of bodies and joints.
        expose : sequence of str, optional
            Further variables; by default states that were given a start value, coordinates that have
            a name (``hinge.angle``), states of components with equations of their own, and default
            outputs that `outputs` leaves out.
        step_size : float, optional
            Proposed communication step, s, > 0.
        stop_time : float, optional
            Proposed end, s; by default that of the model's own simulation settings.
        integrator : str, optional
            Id of the integrator; by default that of the model's own simulation settings.
        accuracy : float, optional
            Of the integrator, where whoever runs it gives no tolerance.
        all : bool
            Makes everything the default: all parameters, outputs, states and named signals.
        **options
            For the integrator: ``fixed_step``, ``maximum_step`` …; they come before those of the model.

        Returns
        -------
        ExportReport

        Raises
        ------
        ModelError
            All faults together: of the model, and names that match nothing.
        """
