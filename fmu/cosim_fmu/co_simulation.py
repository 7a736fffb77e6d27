"""CoSimulation: participants, connections and a master algorithm."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from types import MappingProxyType
from typing import Any, ClassVar

import cosim
from cosim.kit import (
    ClosedAttributes,
    DefaultExperiment,
    FeedthroughLoop,
    ParticipantDescription,
    ResultStream,
    check_callable,
    check_mapping,
    is_made,
    option_names,
    options_checked,
    own_value,
    read_seconds,
    refuse_attribute,
    without_collection,
)
from cosim_fmu.repeatable_coupling import Recipe
from cosim_fmu.stored_coupling import StoredCoupling
from cosim_master.algorithms.joint import Joint
from cosim_master.algorithms.programmed_algorithm import create_algorithm
from cosim_master.coupling.check_bonds import check_bonds
from cosim_master.coupling.check_loops import check_loops, unknown_order
from cosim_master.coupling.check_participants import (
    check_abilities,
    check_clocks,
    check_copies,
    check_joint,
    check_last_step,
    check_starts,
    check_steps,
    check_tolerances,
    early_ticks,
)
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.feedthrough import override_feedthroughs
from cosim_master.coupling.instant_graph import feedthrough_loops
from cosim_master.coupling.link import Link
from cosim_master.coupling.run_settings import CommunicationPoints, RunOptions, only_experiment, step_of
from cosim_master.coupling.stepping_order import stepping_order
from cosim_master.coupling.wiring import check_connections
from cosim_master.derivatives.coupling_tangents import CouplingTangents
from cosim_master.exchange.exchange_algorithms import exchanging_algorithm
from cosim_master.participants.create_participants import (
    configure_sizes,
    create_participants,
    describe_participants,
)
from cosim_master.participants.joint_participants import NO_MEMBERS, join_participants
from cosim_master.recording.co_simulation_result import CoSimulationResult
from cosim_master.run.run_hooks import RunHooks
from cosim_master.run.simulation_run import SimulationRun
from cosim_master.run.time_limit import TimeLimit
from cosim_master.start.explain import explain
from cosim_master.start.probe_participants import probe_participants

NOTHING: Mapping[str, Any] = MappingProxyType({})


class CoSimulation(StoredCoupling, ClosedAttributes):
    """Several participants that run together and exchange values at fixed intervals.

    Everything is checked when it is made, before any FMU is loaded. Values are exchanged at the
    communication points ``start + i * step`` (`CommunicationPoints`); before the first step they are made
    consistent (`make_consistent`), the participants leave their initialization mode, and they are
    made consistent once more, since initialization may change outputs.

    Parameters
    ----------
    participants : mapping of str to Participant, path, System or Model
        A path is an FMU; any object with the methods of a Participant will
        do. Names have no dots.
    connections : sequence of str, (str, str), mapping or Connection
        ``"plant.felt -> controller.speed"``, or ``("plant.felt", "controller.speed")``: output, input.
        Physical units are converted; a variable without a unit goes with any. With a linear
        transformation, ``{"from": "plant.felt", "to": "controller.speed", "factor": -1.0, "offset": 0.5}``;
        many at once as a bus (`Connection`).
        From a calculated or another parameter to a parameter: its value at the start, passed on once.
    algorithm : str, class or MasterAlgorithm
        Id of a master algorithm; ``fmu.`` may be left out: "jacobi", "gauss_seidel". With "joint" all Model
        Exchange FMUs are solved as one system (`Joint`).
    options : mapping of str to object, optional
        For the algorithm, when it is given by id or class: ``{"extrapolation": 1}``.
    step : float or str, optional
        Communication step, s; text with a unit: "0.1 ms". Of a run with one FMU the step of its default
        experiment, or a thousandth of that; else 1 ms.
    starts : mapping of str to object, optional
        Start values of parameters and inputs: ``{"plant.mass": 2.0}``.
    start : float or str, optional
        Time at the start, s; of a run with one FMU that of its default experiment, else 0.
    tolerance : float, optional
        For the participants' own integrators; by default that of an FMU's default experiment.
    tolerances : mapping of str to float, optional
        For single participants: ``{"plant": 1e-8}``.
    steps : mapping of str to float or str, optional
        Longer communication steps of some participants, s: ``{"battery": "10 ms"}``; multiples of `step`.
        Such a participant steps with the inputs at the start of its step, and the others receive its outputs
        when they have reached the end of it.
    feedthrough : mapping of str to object, optional
        Direct feedthrough that is not declared, or is declared wrongly: ``{"prey": "none"}``, or by output
        the inputs that it depends on at the same instant, ``{"controller": {"force": ["speed"]}}``. To cut a
        loop, declare that an output depends on nothing: it is then one step late.
    threads : int
        The number of threads in which participants step at the same time, if the algorithm and they allow it;
        the results do not depend on it. It is faster if steps take much longer than 0.1 ms.
    bonds : sequence of sequence of str
        Pairs of connected outputs whose product is a power: ``[["plant.force", "wheel.speed"]]``. The energy
        that the coupling creates in them is in ``result.coupling.energy``.

    Attributes
    ----------
    remarks : tuple of str
        Findings about feedthrough at the start (`order_participants`).
    result : Result or None
        The result of the last `simulate`, even if it failed or was interrupted.

    See Also
    --------
    Coupling : its further attributes.

    Raises
    ------
    ModelError
        Listing every fault; a `FmuError` when a single FMU is the only one.

    Examples
    --------
    >>> loop = CoSimulation({"plant": "missing.fmu"}, [], "jacobi", step="0.1 ms")
    Traceback (most recent call last):
        ...
    cosim.errors.FmuError: missing.fmu: no such file
    """

    reading_hints: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("run", "solve", "start_run"), "call simulate(until=…)"),
        "connections": "write co_simulation.links",
    }

    @options_checked
    def __init__(
        self,
        participants: Mapping[str, Any],
        connections: Sequence[Any] = (),
        algorithm: str | type[cosim.MasterAlgorithm] | cosim.MasterAlgorithm = "gauss_seidel",
        step: float | str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        starts: Mapping[str, Any] | None = None,
        start: float | str | None = None,
        tolerance: float | None = None,
        tolerances: Mapping[str, float] | None = None,
        steps: Mapping[str, float | str] | None = None,
        feedthrough: Mapping[str, Any] | None = None,
        threads: int = 1,
        bonds: Sequence[Any] = (),
    ) -> None:
        check_mapping(participants, "participants", "CoSimulation({'plant': 'plant.fmu', …}, […])")
        problems = _faults_of_threads(threads)
        self.threads = threads
        with without_collection():  # it goes through all participants
            problems += self._create(participants, algorithm, options or {}, starts or {})
            experiment = only_experiment(self.descriptions)
            self.start = experiment.start or 0.0 if start is None else read_seconds(start, "start")
            self.step, faults = _communication_step(step, experiment)
            problems += faults
            self.tolerance = tolerance
            by_participant, faults = check_tolerances(self.participants, tolerance, tolerances or {})
            problems += faults
            self.tolerances = MappingProxyType(by_participant)
            self.feedthrough = MappingProxyType(dict(feedthrough or {}))
            if self.feedthrough:
                problems += override_feedthroughs(self._described, self.participants, self.feedthrough)
            unknown = [name for name in participants if name not in self.descriptions]
            problems += self._connect(connections, starts or {}, unknown)
            problems += self._check_exchange(steps or {})
            problems += self._read_bonds(bonds)
        problems += self._order_as_declared()
        if problems:
            if len(problems) == 1 and problems[0].cause is not None:
                raise problems[0].cause
            raise cosim.ModelError(problems)
        self.options = MappingProxyType(dict(options or {}))
        self.until = experiment.stop
        self.run_options = RunOptions()
        self.ssp, self.derived, self.python_files = None, NOTHING, NOTHING
        self.result: cosim.Result | None = None
        self._is_run = threading.Lock()

    def _create(
        self,
        participants: Mapping[str, Any],
        algorithm: str | type[cosim.MasterAlgorithm] | cosim.MasterAlgorithm,
        options: Mapping[str, Any],
        starts: Mapping[str, Any],
    ) -> list[WiringProblem]:
        """Create participants and algorithm, and read the descriptions of the participants."""
        created, problems = create_participants(participants)
        self.algorithm, faults = create_algorithm(algorithm, options)
        problems += faults
        self.joint = None
        if isinstance(self.algorithm, Joint):
            created, self.joint, faults = join_participants(created, self.algorithm)
            problems += faults
            if self.joint is None and not problems:
                problems.append(problem(("master", "algorithm"), NO_MEMBERS))
        self.participants = MappingProxyType(created)
        configure_sizes(self.participants, starts)
        self._described, faults = describe_participants(self.participants)
        self.descriptions = MappingProxyType(self._described)
        return [*problems, *faults]

    def _connect(
        self, connections: Sequence[Any], starts: Mapping[str, Any], unknown: Sequence[str]
    ) -> list[WiringProblem]:
        """Make links from the connections, and convert the start values. Returns the problems of both."""
        links, faults = list[Link](), list[WiringProblem]()
        if connections not in ((), []):
            links, faults = check_connections(self.descriptions, unknown, connections)
        self.parameter_links = tuple(link for link in links if _is_passed_once(link, self.descriptions))
        self.links = tuple(link for link in links if not _is_passed_once(link, self.descriptions))
        self.inner_links = ()
        if self.joint is not None:
            self.links = tuple(self.joint.connect(self.links, self.descriptions))
            self.inner_links = tuple(self.joint.links)
        values, faults_of_starts = check_starts(self.descriptions, unknown, starts)
        self.replace_starts(values)
        return [*faults, *faults_of_starts]

    def _check_exchange(self, steps: Mapping[str, float | str]) -> list[WiringProblem]:
        """Compute the multiples of longer steps, and check that the algorithm can exchange in this way."""
        problems = [*check_copies(self.descriptions), *check_clocks(self.descriptions)]
        problems += check_abilities(self.descriptions, self._exchanging)
        multiples, faults = check_steps(self.participants, steps, self.step, self._exchanging)
        self.step_multiple = MappingProxyType(multiples)
        return [*problems, *faults, *check_joint(self.joint, self.step_multiple)]

    def _read_bonds(self, bonds: Sequence[Any]) -> list[WiringProblem]:
        """Store the power bonds outside the joint system. Returns the problems of bonds."""
        self.bonds = ()
        if bonds == ():
            return []
        pairs, faults = check_bonds(bonds, [*self.links, *self.inner_links], self.descriptions)
        self.bonds = tuple(bond for bond in pairs if not set(bond) & set(self.inner_links))
        return faults

    def __repr__(self) -> str:
        algorithm, step = type(self.algorithm).__name__, f"{self.step:g} s"
        names, links = ", ".join(self.participants), len(self.links)
        return f"<CoSimulation: {names}; {links} connections, {algorithm}, steps of {step}>"

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name == "until" or not is_made(self):
            object.__setattr__(self, name, value)
            return
        options = option_names(CoSimulation)
        if name in options:
            hint = f"it is given where the co-simulation is made: CoSimulation(…, {name}=…)"
        elif name in vars(self) or hasattr(type(self), name):
            hint = "it is worked out from the participants and connections"
        else:
            hint = ""
        refuse_attribute(self, name, ["until"] if hint else [*options, "until"], hint)

    def _store_arguments(self, positional: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        self._recipe: Recipe = CoSimulation, own_value(positional), own_value(dict(keywords))

    def _set(self, **attributes: Any) -> None:
        """Set attributes that users cannot set."""
        self.__dict__.update(attributes)

    def _keep_result(self, result: cosim.Result) -> None:
        """Store the result of the last run."""
        self._set(result=result)

    def set_start(self, path: str, value: Any) -> None:
        """Replace the start value of a parameter or input for the next runs.

        Raises
        ------
        ModelError
            There is no such variable, or it does not take this value.
        """
        values, problems = check_starts(self.descriptions, (), {path: value})
        if problems:
            raise cosim.ModelError(problems)
        self.replace_starts({n: {**starts, **values[n]} for n, starts in self.start_values.items()})

    def replace_starts(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace all start values, by participant and variable, for the next runs; they are not checked."""
        read_only = {name: MappingProxyType(dict(starts)) for name, starts in values.items()}
        self.__dict__["start_values"] = MappingProxyType(read_only)

    def __copy__(self) -> CoSimulation:
        """A copy with the same participants and settings, which may run in parallel with this one."""
        copy = super().__copy__()
        assert isinstance(copy, CoSimulation)
        vars(copy).update(_is_run=threading.Lock())
        return copy

    @property
    def until(self) -> float | None:
        """The default end of `simulate`, s: of an SSP, or of the default experiment of the only FMU."""
        return self._until

    @until.setter
    def until(self, time: float | str | None) -> None:
        self._until = None if time is None else read_seconds(time, "until")

    @options_checked
    def simulate(
        self,
        until: float | str | None = None,
        progress: Callable[[float], bool | None] | None = None,
        record: str | Sequence[str] | None = None,
        observe: Callable[[float, Mapping[str, float]], bool | None] | None = None,
        real_time_rate: float = math.inf,
        inside: str | None = None,
        stream: ResultStream | None = None,
        time_limit: float | None = None,
        checkpoint: cosim.Checkpoint | str | PathLike[str] | None = None,
        keep: Callable[[CoSimulationResult], object] | None = None,
        interval: float | str | None = None,
        derivatives: Sequence[str] = (),
    ) -> CoSimulationResult:
        """Instantiate, run to `until` and close everything, whatever happens.

        Parameters
        ----------
        until : float or str, optional
            s, or text with a unit. The last step is shortened to end there. By default the end of an SSP, or
            of the default experiment of the only FMU.
        progress : callable, optional
            Called with the time (s) at most twenty times a second and at the end; if it returns False, the
            run stops.
        record : str or sequence of str, optional
            Variables to record (`Recorder`); by default outputs and connected variables, or those of a
            scenario.
        observe : callable, optional
            Called at every communication point with the time (s) and the recorded values, by path; if it
            returns False, the run stops. The loop is then not compiled, and slower.
        real_time_rate : float
            The largest number of simulated seconds in a second of wall time. Statistics count points that
            were reached too late (``overruns``, ``largest_lag``).
        inside : str, optional
            Values that are recorded between the communication points: "nothing"; both sides of "events", the
            default; or also those at inner "steps" of participants that report them (steps of integrators,
            intermediate updates of FMI 3.0).
        stream : ResultStream, optional
            Receives the recorded rows during the run, so that a long run needs no more memory than a short
            one; the result then has only the first and the last row.
        time_limit : float, optional
            The limit of wall time of the whole run, s; exceeding it is an error. If an FMU in this process
            does not return from a step, recorded values are saved and the program is ended.
        checkpoint : Checkpoint or path_like, optional
            Receives the whole co-simulation from time to time, with the results so far. Participants that
            cannot serialize their state are reported before the first step.
        keep : callable, optional
            Receives the result after the last step, or after a failed one, before participants are freed: a
            crash of an FMU at its end then loses nothing.
        interval : float or str, optional
            The interval between communication points that the result shows, s: a multiple of the step, by
            default the step. Events and the end are always shown.
        derivatives : sequence of str
            Parameters, start values and inputs that are not connected, ``"plant.stiffness"``. Outputs at
            communication points are differentiated with respect to them:
            ``result.derivative("wheel.speed", "plant.stiffness")``.

        Returns
        -------
        CoSimulationResult
            Its `coupling` estimates its errors. Its statistics are those of `CoSimulationStatistics`. Its
            events are those of the coupling (early returns, requests to stop) and of the participants that
            record theirs, each with the values before and after. Its message is the reason of an early end.

        Raises
        ------
        CoSimulationError
            A participant failed; the error's `result` has the rows before it, as has the KeyboardInterrupt of
            an interrupted run.
        """
        check_callable(progress, "progress", "the time, s")
        check_callable(keep, "keep", "the result")
        check_callable(observe, "observe", "the time, s, and what is recorded, by path")
        if checkpoint is not None and not isinstance(checkpoint, cosim.Checkpoint):
            checkpoint = cosim.Checkpoint(checkpoint)
        if derivatives and inside not in (None, "nothing"):
            raise cosim.ModelError.of("inside", 'with derivatives needs "nothing"')
        inside = "nothing" if derivatives else inside
        options = self.run_options.replaced_by(
            record=[record] if isinstance(record, str) else record,
            inside=inside,
            interval=interval,
            time_limit=time_limit,
        )
        with ExitStack() as stack:
            if not self._is_run.acquire(blocking=False):
                raise cosim.CosimError(
                    "this co-simulation is running already, and its participants serve one run at a time: "
                    "run a copy (pickle.loads(pickle.dumps(loop)))"
                )
            stack.callback(self._is_run.release)
            limit = None
            if options.time_limit is not None:
                limit = stack.enter_context(TimeLimit(options.time_limit, self.participants.values()))
            return self._simulate(
                until,
                limit,
                options,
                derivatives=[derivatives] if isinstance(derivatives, str) else derivatives,
                hooks=RunHooks(
                    progress=progress,
                    observe=observe,
                    real_time_rate=real_time_rate,
                    stream=stream,
                    checkpoint=checkpoint,
                    keep=keep,
                ),
            )

    def _simulate(
        self,
        until: float | str | None,
        limit: TimeLimit | None,
        options: RunOptions,
        derivatives: Sequence[str],
        hooks: RunHooks,
    ) -> CoSimulationResult:
        """Check the settings of a run, and run; the result of a failed run is stored, too."""
        until = self.until if until is None else until
        if until is None:
            raise cosim.ModelError.of("master.until", "is missing: give the end of the run, in seconds")
        points = CommunicationPoints(self.start, read_seconds(until, "until"), self.step)
        problems = check_last_step(self.descriptions, self.step_multiple, points)
        problems += options.faults(self.step)
        if problems:
            raise cosim.ModelError(problems)
        with without_collection():
            self.order_participants()
            resumed_from, self._resumed_from = self._resumed_from, None
            accepted, self._accepted = self._accepted, frozenset[str]()
            self._run = run = SimulationRun(
                self,
                points,
                limit=limit,
                resumed_from=resumed_from,
                accepted=accepted,
                options=options,
                hooks=hooks,
                warnings=self.warnings,
                keep_result=self._keep_result,
                find_run_again=self._find_run_again,
                derivatives=CouplingTangents(self, derivatives) if derivatives else None,
            )
        try:
            result = run.result()
        except BaseException as error:
            self._set(result=getattr(error, "result", self.result))
            raise
        finally:
            self._run = None
        self._set(result=result)
        return result

    def _order_as_declared(self) -> list[WiringProblem]:
        """Order the participants by the feedthrough that they declare. Returns the problems of loops."""
        self.order, self.loops = tuple(self.descriptions), ()
        self.remarks: tuple[str, ...] = ()
        self._failed_probes: list[str] = []
        self._is_settled, self.unreadable_before_step = False, frozenset[str]()
        return [] if self.algorithm is None else self._put_in_order(is_probed=False)

    def order_participants(self) -> None:
        """Determine which loops of direct feedthrough are real, and order the participants accordingly.

        Participants are probed (`probe_participants`) if the algorithm exchanges within a step and a loop
        depends on feedthrough that is undeclared or doubtful, or if the algorithm has to read outputs before
        a step. They are initialized for it and closed again, once. `simulate` and `explain` begin with it.

        Raises
        ------
        ModelError
            A loop that is real, or not known not to be, can be neither ordered nor iterated.
        CoSimulationError
            A participant cannot be initialized.
        """
        if self._is_settled or self.algorithm is None or not self._is_connected:
            return
        findings = probe_participants(self)
        self._set(
            descriptions=MappingProxyType(findings.descriptions),
            unreadable_before_step=findings.unreadable_before_step,
            remarks=tuple(findings.remarks),
        )
        self._failed_probes = findings.warnings
        problems = self._put_in_order(is_probed=True)
        if problems:
            raise cosim.ModelError(problems)
        self._is_settled = True

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings before a run, in sentences."""
        if self.algorithm is None or not self.algorithm.exchanges_within_step or not self._is_connected:
            return tuple(self._failed_probes)
        return (
            *self._failed_probes,
            *early_ticks(self.participants, self.links),
            *unknown_order(self.descriptions, self.links, self.order),
        )

    def explain(self) -> str:
        """The calls of a communication step, and the delay of each connection with its reason.

        Participants are initialized if their feedthrough has to be probed (`order_participants`); no
        communication step is made.
        """
        self.order_participants()
        algorithm = self._exchanging
        assert algorithm is not None
        remarks = [f"  {remark}" for remark in self.remarks]
        probed = ["", "found out before the run:", *remarks] if remarks else []
        return "\n".join([*explain(self, algorithm), *probed, *self.warnings])

    @property
    def _exchanging(self) -> cosim.MasterAlgorithm | None:
        return None if self.algorithm is None else exchanging_algorithm(self.algorithm)

    @property
    def _is_connected(self) -> bool:
        """Whether participants are connected, so that their order and feedthrough matter."""
        return bool(self.links) or self.joint is not None

    def _put_in_order(self, *, is_probed: bool) -> list[WiringProblem]:
        """Order the participants by their known feedthrough. Returns the problems of loops."""
        algorithm = self._exchanging
        if algorithm is None or not algorithm.exchanges_within_step or not self._is_connected:
            return []
        links = [*self.links, *self.inner_links]
        members = [] if self.joint is None else self.joint.names
        loops = feedthrough_loops(self.descriptions, links, members)
        together = list(loops)
        if not any(set(members) & set(loop.participants) for loop in loops):
            together.append(FeedthroughLoop(tuple(members), ()))
        self._set(
            loops=tuple(loops) if algorithm.solves_loops else (),
            order=tuple(stepping_order(list(self.descriptions), self.descriptions, links, together)),
        )
        return check_loops(
            self.descriptions, links, self.step_multiple, algorithm, is_probed=is_probed, joint=members
        )


def _faults_of_threads(threads: Any) -> list[WiringProblem]:
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        return [problem(("master", "threads"), f"is {threads!r}, needs a whole number from 1 on")]
    return []


def _communication_step(
    step: float | str | None, experiment: DefaultExperiment
) -> tuple[float, list[WiringProblem]]:
    """The communication step, s, by default that of the default experiment; and problems.

    A wrong step gives 1 s and the problems, so that the other checks can follow.
    """
    if step is None:
        return step_of(experiment), []
    try:
        return read_seconds(step, "step"), []
    except cosim.ModelError as error:
        return 1.0, [problem(("master", "step"), fault.text) for fault in error.problems]


def _is_passed_once(link: Link, descriptions: Mapping[str, ParticipantDescription]) -> bool:
    """Whether a link passes its value only once: to a parameter, unless from values over time."""
    over_time = descriptions[link.source].over_time
    return descriptions[link.target].variables[link.input].causality == "parameter" and not over_time
