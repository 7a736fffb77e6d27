"""Many runs of one system: the contract of `cosim.Ensemble`, independent of the plugin that runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosim.attributes import FixedAttributes
from cosim.contracts.ensemble_result import EnsembleResult
from cosim.contracts.integrator import Integrator
from cosim.registration.kinds import plugin_kind
from cosim.registration.registry import registry

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from os import PathLike

    from cosim.contracts.result_sink import ResultSink

    System = Any
    State = Any

DEFAULT_ENSEMBLE = "ensembles.batch"
"""Id of the ensemble that ``cosim.Ensemble(…)`` makes."""


@plugin_kind("ensemble")
class Ensemble(FixedAttributes):
    """Many runs of one system that differ in parameters, start values or inputs.

    In threads, on all processors: many States over one System in compiled code, which holds no lock. Systems
    with handlers or elements in Python, and integrators of libraries, run in processes.

    A plugin does the runs: a class that derives from this one, and that ``Ensemble(…)`` makes.

    Parameters
    ----------
    system : System
    until : float or str
        End of each run, s, or text with a unit.
    integrator : str, class or Integrator
    accuracy : float
    output_interval : float, optional
        Of the common grid, s; a 500th of the run unless given. At an instant with events the value is that
        after them.
    signals : sequence of str, optional
        As for `simulate`: what is recorded over time; with `reduce` nothing is unless it is named here.
    reduce : sequence or mapping, optional
        Numbers to keep of each run in place of values over time: ``"max(engine.z)"`` (also last, first, min,
        mean, rms, span, integral, and ``"quantile(engine.z, 0.95)"``), or a kernel function with its signals:
        ``(overshoot, "engine.z")`` is called with times and values. Of a mapping the keys are the names. They
        see the points of the grid.
    state : State, optional
        Where runs start, but for what differs; not initialized.
    threads : int, optional
        As many as there are processors unless given. The bytes of results do not depend on it.
    endless_events : str
        As for `Simulator`.
    derivatives : sequence of str
        As for `simulate`: signals ``d(of)/d(by)`` of the result, over time. Threads share one lock then.
    **options
        For the integrator.

    Attributes
    ----------
    system : System
    threads : int
    start : State
        Where runs start.
    columns : tuple of str
        Paths of the numbers that are recorded.
    units : mapping of str to str
        Of what is recorded, and of reductions.
    in_python : tuple of str
        Parts that run in Python and therefore prevent threads; empty if there are none.

    Examples
    --------
    >>> import cosim
    >>> class Decay(cosim.Component):
    ...     '''Decays at a constant rate.'''
    ...     level = cosim.auxiliary_state(start=1.0)
    ...     rate = cosim.parameter(unit="1/s", default=1.0)
    ...     @cosim.kernel
    ...     def derivatives(level, rate, level_dot):
    ...         level_dot[0] = -rate * level
    >>> model = cosim.Model("decay")
    >>> decay = model.add(Decay, "decay")
    >>> ensemble = cosim.Ensemble(model.build(), until=1.0, reduce=["last(decay.level)"])
    >>> result = ensemble.run({"decay.rate": [0.0, 1.0, 2.0]})
    >>> result["last(decay.level)"].round(4).tolist()
    [1.0, 0.3679, 0.1353]
    """

    instead = "make another ensemble with it"

    system: System
    threads: int
    start: State
    columns: tuple[str, ...]
    units: Mapping[str, str]
    in_python: tuple[str, ...]

    def __new__(
        cls,
        system: System,
        until: float | str | None = None,
        integrator: str | type[Integrator] | Integrator = "integrators.runge_kutta_merson",
        accuracy: float = 1e-6,
        output_interval: float | None = None,
        signals: Sequence[str] | None = None,
        reduce: Sequence[Any] | Mapping[str, Any] | None = None,
        state: State | None = None,
        threads: int | None = None,
        endless_events: str = "hold",
        derivatives: Sequence[str] = (),
        **options: Any,
    ) -> Ensemble:
        """An ensemble of the class that the plugin registers."""
        kind = registry().get("ensemble", DEFAULT_ENSEMBLE) if cls is Ensemble else cls
        ensemble: Ensemble = object.__new__(kind)
        return ensemble

    def run(
        self,
        values: Mapping[str, Any] | None = None,
        count: int | None = None,
        progress: Callable[[int, int], bool | None] | None = None,
        executor: Executor | None = None,
        chunk: int | None = None,
        parts: str | PathLike[str] | ResultSink | None = None,
        each: Callable[[int, EnsembleResult], Any] | None = None,
    ) -> EnsembleResult:
        """Do the runs.

        Parameters
        ----------
        values : mapping of str to sequence
            Paths of parameters, start values or inputs of the system, with a value for each run: a number, a
            text with a unit, or an array of the variable's shape.
        count : int, optional
            How many runs, where nothing differs.
        progress : callable, optional
            Called with how many runs have ended, and how many there are; answering False stops.
        executor : concurrent.futures.Executor, optional
            Runs in its workers instead, in chunks; those of other libraries need an `ExecutorSupport`.
        chunk : int, optional
            Runs in a chunk for an executor; by their measured time unless given.
        parts : path_like, optional
            A new folder into which values over time are written as runs end, in parts of Parquet, by the
            process that does the runs: workers of a cluster need the folder, too. Memory does not grow with
            the number of runs then. Or a `cosim_workbench.studies.SeriesParts`, which writes such a folder.
        each : callable, optional
            Called as some runs have ended, every few seconds and in any order, with the number of the first
            one and the result of these; values over time are there alone then.

        Returns
        -------
        EnsembleResult

        Raises
        ------
        ModelError
            Every value that cannot be taken, with its run.
        KeyboardInterrupt, CosimError
            Ctrl-C; an executor that takes no more work. Their attribute `result` holds the runs that have
            ended.
        """
        raise NotImplementedError

    def kept_processes(self) -> AbstractContextManager[Executor | None]:
        """A context in which the processes of several calls of `run` stay: each builds the system once.

        It has no effect where the runs need no processes.
        """
        raise NotImplementedError

    def runner(self, paths: Sequence[str]) -> Callable[[ArrayLike], NDArray[np.float64]]:
        """A function that does one run with other values, for loops that need each result at once.

        All else is prepared before the first run, so that a call costs little more than the run. Its results
        are, to the byte, those of `run` with the same values.

        Parameters
        ----------
        paths : sequence of str
            Parameters, start values or inputs of the system, which get other values in each run.

        Returns
        -------
        callable
            Called with the numbers of these variables, one behind the other, in SI. It returns the
            reductions of the run, or without any what is recorded, at its end; its attribute ``names`` says
            which. `SimulationError` where the run fails, `ModelError` or `StateError` for a number that its
            variable cannot take. Several threads need one each; Ctrl-C acts between runs.

        Raises
        ------
        ModelError
            A variable that no run can be given.
        """
        raise NotImplementedError
