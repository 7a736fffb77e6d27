"""StoredCoupling: co-simulations that are read from files and written to them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from cosim_fmu.repeatable_coupling import RepeatableCoupling


class StoredCoupling(RepeatableCoupling):
    """The half of `CoSimulation` about scenarios and SSPs."""

    @classmethod
    def from_file(
        cls, path: str | Path, variant: str | None = None, *, inputs: Any = None, **options: Any
    ) -> Self:
        """The co-simulation of a scenario file (TOML); an SSP is read by `from_ssp`.

        Parameters
        ----------
        path : str or Path
        variant : str, optional
            Name of a table of ``[variants]``, which is laid over the others.
        inputs : path, Result, mapping or TimedInputs, optional
            Values over time for inputs that nothing feeds, by their paths:
            ``{"plant.force": [[0.0, 0.0], [1.0, 5.0]]}``.
        **options
            As for the constructor (``step``, ``algorithm``, ``starts`` …), instead of what the file says;
            ``starts`` count beside those of the file.

        Returns
        -------
        CoSimulation
            Its `until` and `run_options` are those of the file: ``simulate()`` runs it as
            ``cosim cosimulate`` does.

        Raises
        ------
        ModelError
            Every fault, with its line.
        """
        from cosim_fmu.scenario.scenario import Scenario

        scenario = Scenario.read(path, variant)
        if inputs is not None:
            scenario.feed(inputs)
        loop = scenario.couple(cls, **options)
        keywords = {"inputs": inputs, **options}
        loop._recipe = cls.from_file, (Path(path).absolute(), variant), keywords
        return loop

    @classmethod
    def from_ssp(
        cls,
        path: str | Path,
        variant: str | None = None,
        *,
        starts: Mapping[str, Any] | None = None,
        inputs: Any = None,
        **options: Any,
    ) -> Self:
        """The co-simulation that an SSP describes (versions 1.0 and 2.0).

        Parameters
        ----------
        path : str or Path
            An SSP (``.ssp``), the folder of an unpacked one, or an SSD (``.ssd``).
        variant : str, optional
            Name of another SSD of the package than ``SystemStructure.ssd``.
        starts : mapping of str to object, optional
            Further start values, which count more than those of the SSP: ``{"plant.mass": 2.0}``.
        inputs : path, Result, mapping or TimedInputs, optional
            Values over time (CSV, Parquet) for the connectors of the system itself, by their names, or for
            inputs of components: ``{"drive": [[0.0, 0.0], [1.0, 5.0]]}``. No SSP can hold them.
        **options
            As for the constructor (``algorithm``, ``step``, ``tolerance`` …), instead of what the SSP says.

        Returns
        -------
        CoSimulation
            Its `until` is the end of the default experiment; its `findings` are the offences of the file.

        Raises
        ------
        ModelError
            Every fault, with file and line.
        """
        from cosim_ssp.couple_ssp import couple_ssp  # reads XML: late

        loop = couple_ssp(cls, path, variant, starts, inputs, **options)
        keywords = {"starts": starts, "inputs": inputs, **options}
        loop._recipe = cls.from_ssp, (Path(path).absolute(), variant), keywords
        return loop

    def to_ssp(self, path: str | Path, until: float | None = None, **export: Any) -> Path:
        """Write an SSP that other tools run, valid against the schemas of the standard.

        What was read from an SSP is written with all that it had: geometry, annotations, other variants.
        Systems of ours are exported as FMUs, which the SSP holds.

        Parameters
        ----------
        path : str or Path
            The archive; an existing one is replaced.
        until : float, optional
            End of the default experiment, s.
        **export
            How systems are exported, as for `Model.export_fmu`: ``native=True`` for FMUs that need no Python
            where they run, ``platforms``, ``fmi`` …

        Raises
        ------
        ModelError
            A participant that no SSP can hold, a system that cannot be exported.
        """
        from cosim_ssp.write_package import write_ssp  # exports FMUs: late

        return write_ssp(self, Path(path), until, export)
