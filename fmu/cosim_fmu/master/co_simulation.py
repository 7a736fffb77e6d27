"""CoSimulation: participants, connections and a master algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Any

import cosim
from cosim.kit import (
    FeedthroughLoop,
    KeepsInstance,
    ParticipantDescription,
    Resizes,
    ResultStream,
    interrupt_between_steps,
    options_checked,
    seconds,
)
from cosim_fmu.binding.exit_guard import last_words
from cosim_fmu.master.loop.begin import begin
from cosim_fmu.master.loop.co_simulation_statistics import CoSimulationStatistics
from cosim_fmu.master.loop.communication_points import CommunicationPoints
from cosim_fmu.master.loop.compiled_loop import CompiledLoop, NotCompiledError
from cosim_fmu.master.loop.coupled_participants import CoupledParticipants
from cosim_fmu.master.loop.explain import explain
from cosim_fmu.master.loop.look_into_participants import look_into_participants
from cosim_fmu.master.loop.pace import Pace
from cosim_fmu.master.loop.participant_events import events_inside, in_order, without_returns
from cosim_fmu.master.loop.step_threads import StepThreads
from cosim_fmu.master.loop.time_limit import TimeLimit
from cosim_fmu.master.participants.open_fmu import open_fmu
from cosim_fmu.master.participants.same_folder import same_folder
from cosim_fmu.master.participants.system_participant import SystemParticipant
from cosim_fmu.master.recording.derived_signal import DerivedSignal
from cosim_fmu.master.recording.recorder import Recorder
from cosim_fmu.master.wiring.check_loops import check_loops, unknown_outputs
from cosim_fmu.master.wiring.check_tolerances import check_tolerances
from cosim_fmu.master.wiring.default_experiment import only_experiment, step_of
from cosim_fmu.master.wiring.description_faults import description_faults
from cosim_fmu.master.wiring.feedthrough import feedthrough_loops, stepping_order
from cosim_fmu.master.wiring.link import Link
from cosim_fmu.master.wiring.said_feedthrough import with_said_feedthrough
from cosim_fmu.master.wiring.wiring import (
    check_abilities,
    check_clocks,
    check_connections,
    check_copies,
    check_last_step,
    check_starts,
    check_steps,
)
from cosim_fmu.master.wiring.wiring_problem import WiringProblem, problem

MOST_SECONDS_WITHOUT_PROGRESS = 0.05
INSIDE = ("nothing", "events", "steps")


class CoSimulation:
    """Several participants that run together and exchange values at fixed intervals.

    Everything is checked when it is made, before any FMU is loaded. Values are exchanged at the
    communication points ``start + i * step`` (`CommunicationPoints`); before the first step they are made
    consistent (`make_consistent`), the participants leave their initialization mode, and they are
    made consistent once more, since initialization may change outputs.

    Parameters
    ----------
    participants : mapping of str to Participant, path, System or Model
        A path is an FMU for FMI 2.0 Co-Simulation; any object with the methods of a Participant will
        do. Names have no dots.
    connections : sequence of str, (str, str), mapping or Connection
        ``"plant.felt -> controller.speed"``, or ``("plant.felt", "controller.speed")``: output, input.
        Physical units are converted; a variable without a unit goes with any. With a linear
        transformation, ``{"from": "plant.felt", "to": "controller.speed", "factor": -1.0, "offset": 0.5}``;
        many at once as a bus (`Connection`).
        From a calculated or another parameter to a parameter: its value at the start, passed on once.
    algorithm : str, class or MasterAlgorithm
        Id of a master algorithm; ``fmu.`` may be left out: "jacobi", "gauss_seidel".
    options : mapping of str to object, optional
        For the algorithm, when it is given by id or class: ``{"extrapolation": 1}``.
    step : float or str, optional
        Communication step, s; text with a unit: "0.1 ms". Of a run with one FMU the step of its default
        experiment, or a thousandth of that; else 1 ms.
    starts : mapping of str to object, optional
        Start values of parameters and inputs: ``{"plant.mass": 2.0}``.
    start : float, optional
        Time at the start, s; of a run with one FMU that of its default experiment, else 0.
    tolerance : float, optional
        For the participants' own integrators; an FMU gets that of its default experiment when none is given.
    tolerances : mapping of str to float, optional
        For single participants: ``{"plant": 1e-8}``.
    steps : mapping of str to float or str, optional
        Participants with a longer communication step than the others', s: ``{"battery": "10 ms"}``. A
        multiple of `step`; such a participant goes that far with the inputs at its start, and the others
        see what it has reached when they are there, too.
    feedthrough : mapping of str to object, optional
        What is known of direct feedthrough and not declared, or declared wrongly: ``{"prey": "none"}``, or by
        output the inputs that it depends on at the same instant, ``{"controller": {"force": ["speed"]}}``. An
        output that is said to depend on nothing is one step late where it does: so a loop is cut.
    threads : int
        In so many threads participants step side by side where the algorithm and they allow it; the results
        are the same for every number. Worth it where steps take much longer than 0.1 ms.

    Attributes
    ----------
    order : list of str
        In which the participants are stepped.
    loops : list of FeedthroughLoop
        Closed loops of direct feedthrough, which the algorithm iterates.
    remarks : list of str
        What was found out about feedthrough at the start (`settle_order`).
    descriptions : dict of str to ParticipantDescription
    start_values : dict of str to dict
        Of each participant by name, in the units of its variables.
    result : Result or None
        Of the last `simulate`, also when it failed or was interrupted.
    options : dict of str to object
        As given.
    until : float or None
        Where `simulate` ends unless told, s: of an SSP, or of the default experiment of the only FMU.
    findings : list of Problem
        Offences of an SSP against the standard, which were read nevertheless.
    derived : dict of str to DerivedSignal
        What results show beside the variables: what the connectors of an SSP's own system give.

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
        start: float | None = None,
        tolerance: float | None = None,
        tolerances: Mapping[str, float] | None = None,
        steps: Mapping[str, float | str] | None = None,
        feedthrough: Mapping[str, Any] | None = None,
        threads: int = 1,
    ) -> None:
        problems: list[WiringProblem] = []
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            problems.append(problem(("master", "threads"), f"is {threads!r}, needs a whole number from 1 on"))
        self.threads = threads
        self.participants = _participants(participants, problems)
        _configure(self.participants, starts or {})
        self.descriptions = _describe(self.participants, problems)
        experiment = only_experiment(self.descriptions)
        self.start = experiment.start or 0.0 if start is None else start
        self.step = step_of(experiment) if step is None else _seconds(step, problems)
        self.tolerance = tolerance
        self.tolerances, faults = check_tolerances(self.participants, tolerance, tolerances or {})
        problems += faults
        unknown = [name for name in participants if name not in self.descriptions]
        self.feedthrough = dict(feedthrough or {})
        problems += self._take_feedthrough()
        links, faults = check_connections(self.descriptions, unknown, connections)
        self.parameter_links = [link for link in links if _is_passed_once(link, self.descriptions)]
        self.links = [link for link in links if not _is_passed_once(link, self.descriptions)]
        self.start_values, more = check_starts(self.descriptions, unknown, starts or {})
        problems += [*faults, *more, *check_copies(self.descriptions), *check_clocks(self.descriptions)]
        self.algorithm = _algorithm(algorithm, options or {}, problems)
        problems += check_abilities(self.descriptions, self.algorithm)
        self.every, faults = check_steps(self.participants, steps or {}, self.step, self.algorithm)
        problems += faults
        self.order, self.loops = list(self.descriptions), list[FeedthroughLoop]()
        self.remarks: list[str] = []
        self._is_settled, self._refusing = False, frozenset[str]()
        if self.algorithm is not None:
            problems += self._put_in_order(looked_into=False)
        if problems:
            if len(problems) == 1 and problems[0].cause is not None:
                raise problems[0].cause
            raise cosim.ModelError(problems)
        self.result: cosim.Result | None = None
        self._so_far: Callable[[], cosim.Result] | None = None
        self.until = experiment.stop
        self.findings: list[cosim.Problem] = []
        self.ssp: Any = None
        self.derived: dict[str, DerivedSignal] = {}
        self.options = dict(options or {})

    @classmethod
    def from_ssp(
        cls,
        path: str | Path,
        variant: str | None = None,
        *,
        starts: Mapping[str, Any] | None = None,
        inputs: Any = None,
        **options: Any,
    ) -> CoSimulation:
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
        from cosim_fmu.ssp.couple import couple_ssp

        return couple_ssp(path, variant, starts, inputs, **options)

    def to_ssp(self, path: str | Path, until: float | None = None, **export: Any) -> Path:
        """Write an SSP that other tools run, valid against the schemas of the standard.

        What was read from an SSP is written with all that it had: geometry, annotations, other variants.
        Systems of ours are exported as FMUs, which the SSP holds.

        Parameters
        ----------
        path : str or Path
            Of the archive; one that was there is replaced.
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
        from cosim_fmu.ssp.write_package import write_ssp

        return write_ssp(self, Path(path), until, export)

    @options_checked
    def simulate(
        self,
        until: float | str | None = None,
        progress: Callable[[float], bool | None] | None = None,
        record: Sequence[str] | None = None,
        observe: Callable[[float, Mapping[str, float]], bool | None] | None = None,
        real_time_rate: float = math.inf,
        inside: str = "events",
        stream: ResultStream | None = None,
        time_limit: float | None = None,
    ) -> cosim.Result:
        """Instantiate, run to `until` and close everything, whatever happens.

        Parameters
        ----------
        until : float or str, optional
            s, or text with a unit. The last step is shortened to end there. An SSP may say it itself.
        progress : callable, optional
            Called with the time (s) at most twenty times a second and at the end; answering False
            stops the run.
        record : sequence of str, optional
            What to record (`Recorder`).
        observe : callable, optional
            Called at every communication point with the time (s) and what is recorded, by path; answering
            False stops the run. It costs the speed of the compiled loop.
        real_time_rate : float
            Simulated seconds in a second of the wall clock, at most; what came too late is counted in the
            statistics (``overruns``, ``largest_lag``).
        inside : str
            What is recorded between the communication points: "nothing"; both sides of "events"; also
            values where participants that tell them make "steps" of their own (those of the integrator, and
            intermediate updates of FMI 3.0).
        stream : ResultStream, optional
            Takes what is recorded while the run goes on, so that a long one needs no more memory than a
            short one; the result has the first and the last row alone.
        time_limit : float, optional
            Seconds of wall time for the whole run; after them it is an error. An FMU in this process that
            does not come back from a step then ends the program, when what was recorded is saved.

        Returns
        -------
        Result
            Its statistics are those of `CoSimulationStatistics`; its events are those of the coupling (early
            returns, requests to stop) and of the participants that record theirs, each with the values before
            and after; its message tells why it ended early, if it did.

        Raises
        ------
        CoSimulationError
            A participant failed; the error's `result` has what was recorded before (as has the
            KeyboardInterrupt of a run that was interrupted).
        """
        with TimeLimit(time_limit, self.participants.values()) as limit:
            return self._simulate(
                until, progress, record, observe, real_time_rate, inside, stream, limit=limit
            )

    def _simulate(
        self,
        until: float | str | None,
        progress: Callable[[float], bool | None] | None,
        record: Sequence[str] | None,
        observe: Callable[[float, Mapping[str, float]], bool | None] | None,
        real_time_rate: float,
        inside: str,
        stream: ResultStream | None,
        limit: TimeLimit,
    ) -> cosim.Result:
        until = self.until if until is None else until
        if until is None:
            raise cosim.ModelError.of("master.until", "is missing: say when the run ends, in seconds")
        until = seconds(until, "until")
        points = CommunicationPoints(self.start, until, self.step)
        problems = check_last_step(self.descriptions, self.every, points)
        if inside not in INSIDE:
            problems.append(problem(("output", "inside"), f"is {inside!r}, needs {either(INSIDE)}"))
        if problems:
            raise cosim.ModelError(problems)
        self.settle_order()
        keeps_inside = inside != "nothing"
        recorder = Recorder(
            self.descriptions,
            self.links,
            record,
            keeps_inside=keeps_inside,
            stream=stream,
            derived=self.derived,
        )
        reads = recorder.reads(self.links)
        statistics = CoSimulationStatistics(warnings=[*self.warnings, *recorder.remarks])
        coupled = CoupledParticipants(
            *(self.participants, self.links, self.order, reads, statistics, self.descriptions),
            *(points, self.every, StepThreads(min(self.threads, len(self.participants)))),
        )
        coupled.loops = self.loops
        coupled.refreshes.update(dict.fromkeys(self._refusing, False))
        recorder.bind(reads, coupled.input_names)
        pace = Pace(real_time_rate, self.start)
        message, begun = "interrupted", perf_counter()
        failure: BaseException | None = None
        happened: list[cosim.EventRecord] = []

        def so_far(why: str = "not at its end") -> cosim.Result:
            return recorder.result(events=[], statistics=vars(statistics), message=why)

        def keep(why: str) -> None:
            """The process is about to be ended: what has been recorded."""
            if recorder.unfinished is not None:
                recorder.unfinished()
            self.result = so_far(why)

        self._so_far = None if stream is not None else so_far

        try:
            with same_folder(), last_words(keep), ExitStack() as stack:
                interrupted = stack.enter_context(interrupt_between_steps())

                def check() -> None:
                    interrupted()
                    limit.check(coupled.time)

                self._initialize(coupled, until, stack, inside)
                stack.callback(lambda: happened.extend(events_inside(self.participants)))
                stack.enter_context(coupled.threads)  # last: who is at work in one is not closed
                coupled.forget_inside()
                recorder.record(self.start, coupled.board, coupled.held)
                initialized = perf_counter()
                pace = Pace(real_time_rate, self.start)
                message = self._run(coupled, points, recorder, progress, check, observe, pace)
                statistics.wall_time = perf_counter() - begun
                statistics.stepping_time = perf_counter() - initialized
        except (cosim.SimulationError, KeyboardInterrupt) as error:
            message, failure = str(error) or message, error
            raise
        finally:
            if coupled.inside:
                recorder.inside(coupled.take_inside())
            statistics.wall_time = statistics.wall_time or perf_counter() - begun
            statistics.overruns, statistics.largest_lag = pace.overruns, pace.largest_lag
            if self.algorithm is not None:
                statistics.algorithm.update(self.algorithm.figures)
            events = in_order(happened, without_returns(coupled.events, happened))
            statistics.events = len(events)
            self.result = recorder.result(events=events, statistics=vars(statistics), message=message)
            if failure is not None:
                failure.result = self.result  # type: ignore[attr-defined]
        return self.result

    def _take_feedthrough(self) -> list[WiringProblem]:
        """What the user says about feedthrough, into the descriptions."""
        problems = []
        for name, said in self.feedthrough.items():
            if name not in self.participants:
                text = str(cosim.LookUpError("participant", name, self.participants))
                problems.append(problem(("participants", name), text))
            elif name in self.descriptions:
                try:
                    self.descriptions[name] = with_said_feedthrough(self.descriptions[name], said)
                except ValueError as error:
                    problems.append(problem(("participants", name, "feedthrough"), str(error)))
        return problems

    def result_so_far(self) -> cosim.Result:
        """What the present run has recorded, without its events; for a `progress` of `simulate`.

        Raises
        ------
        CosimError
            There is no run, or one whose rows go to a stream.
        """
        if self._so_far is None:
            raise cosim.CosimError("there is no run whose rows are kept here")
        return self._so_far()

    def keep_instances(self, keep: bool = True) -> bool:
        """Whether FMUs keep their instances from run to run and only reset them; whether there are such.

        Parameters
        ----------
        keep : bool
            False gives up those that are kept: the next run makes new ones.
        """
        able = [p for p in self.participants.values() if isinstance(p, KeepsInstance)]
        for participant in able:
            participant.keep_instance(keep)
        return bool(able)

    def settle_order(self) -> None:
        """Find out which loops of direct feedthrough are real, and order the participants so.

        Where the algorithm exchanges within a step, and a loop is closed by what a participant does not
        declare, or may declare too much; and who may be read where an algorithm needs it
        (`look_into_participants`). The participants are initialized for it and closed again, once. `simulate`
        and `explain` begin with it.

        Raises
        ------
        ModelError
            A loop that is real, or not known not to be, can be neither ordered nor iterated.
        CoSimulationError
            A participant cannot be initialized.
        """
        if self._is_settled or self.algorithm is None:
            return
        found = look_into_participants(
            *(self.participants, self.descriptions, self.links, self.parameter_links, self.start_values),
            *(self.tolerances, self.start, self.step, self.algorithm),
        )
        self.descriptions, self._refusing, self.remarks = found
        problems = self._put_in_order(looked_into=True)
        if problems:
            raise cosim.ModelError(problems)
        self._is_settled = True

    @property
    def warnings(self) -> list[str]:
        """What the user should know before a run, in sentences."""
        if self.algorithm is None or not self.algorithm.exchanges_within_step:
            return []
        unknown = unknown_outputs(self.descriptions, self.links)
        if not unknown:
            return []
        names = ", ".join(".".join(port) for port in unknown)
        depends, order = f"depend{'s' * (len(unknown) == 1)} on directly", " → ".join(self.order)
        return [
            f"which inputs {names} {depends} is not known, and that closes a loop: the participants step in "
            f"the order {order}, and what one takes from those after it is one step late. Where there is no "
            f'feedthrough, write feedthrough = "none" in [participants.{unknown[0][0]}]'
        ]

    def _put_in_order(self, *, looked_into: bool) -> list[WiringProblem]:
        """Order the participants by what is known of their feedthrough; what is wrong with loops."""
        algorithm = self.algorithm
        if algorithm is None or not algorithm.exchanges_within_step:
            return []
        loops = feedthrough_loops(self.descriptions, self.links)
        self.loops = loops if algorithm.solves_loops else []
        self.order = stepping_order(list(self.descriptions), self.descriptions, self.links, loops)
        return check_loops(self.descriptions, self.links, self.every, algorithm, looked_into=looked_into)

    def explain(self) -> str:
        """The calls of a communication step, and for each connection how late it is and why.

        Participants are initialized for it where their feedthrough has to be found out (`settle_order`); no
        step is taken.
        """
        self.settle_order()
        assert self.algorithm is not None
        told = self.algorithm, self.order, self.links, self.every, self.step, self.descriptions, self.loops
        once = [f"  {link}: once, in initialization" for link in self.parameter_links]
        found = (
            ["", "found out before the run:", *(f"  {remark}" for remark in self.remarks)]
            if self.remarks
            else []
        )
        return "\n".join([explain(*told), *once, *found, *self.warnings])

    def _initialize(self, coupled: CoupledParticipants, until: float, stack: ExitStack, inside: str) -> None:
        coupled.watch(inside)
        begin(coupled, self.start_values, self.tolerances, (self.start, until), self.parameter_links, stack)
        for name in self.order:
            coupled.read_outputs(name)
        for name in self.order:
            coupled.set_inputs(name)

    def _run(
        self,
        coupled: CoupledParticipants,
        points: CommunicationPoints,
        recorder: Recorder,
        progress: Callable[[float], bool | None] | None,
        check: Callable[[], None],
        observe: Callable[[float, Mapping[str, float]], bool | None] | None,
        pace: Pace,
    ) -> str:
        """All steps; returns why it ended before the last one, else ""."""
        assert self.algorithm is not None
        if coupled.stop_reason:
            return coupled.stop_reason
        coupled.guarded_algorithm(self.algorithm, self.algorithm.initialize, coupled, self.start)
        one_by_one = observe is not None or not pace.is_free
        take = self._loop(coupled, points, recorder, one_by_one)
        if observe is not None and observe(self.start, recorder.latest()) is False:
            return f"stopped at t = {self.start:.9g} s"
        shown, done = perf_counter(), 0
        while done < points.count:
            done = take(done)
            check()
            if not pace.is_free:
                pace.wait(points.time(done))
            if observe is not None and observe(points.time(done), recorder.latest()) is False:
                return f"stopped at t = {points.time(done):.9g} s"
            if coupled.stop_reason:
                return coupled.stop_reason
            if progress is not None:
                now = perf_counter()
                if now - shown >= MOST_SECONDS_WITHOUT_PROGRESS or done == points.count:
                    shown = now
                    if progress(points.time(done)) is False and done < points.count:
                        return f"stopped at t = {points.time(done):.9g} s"
        return ""

    def _loop(
        self,
        coupled: CoupledParticipants,
        points: CommunicationPoints,
        recorder: Recorder,
        one_by_one: bool,
    ) -> Callable[[int], int]:
        """What takes one or several steps from a communication point on, and gives the point reached."""
        algorithm = self.algorithm
        assert algorithm is not None
        try:
            run = CompiledLoop(coupled, points, algorithm, recorder, one_by_one).run
            coupled.statistics.loop = "compiled"
            return run
        except NotCompiledError as reason:
            coupled.statistics.loop = f"Python ({reason})"

        def step(i: int) -> int:
            time, following = points.time(i), points.time(i + 1)
            coupled.begin_step(i)
            while time < following:
                end = coupled.next_tick(time, following)
                coupled.guarded_algorithm(algorithm, algorithm.step, coupled, time, end - time)
                coupled.time = time = end
                coupled.collect()
                if coupled.inside:
                    recorder.inside(coupled.take_inside())
                if end == following or recorder.keeps_inside:
                    recorder.record(end, coupled.board, coupled.held, coupled.drives)
            coupled.statistics.steps += 1
            return i + 1

        return step


def either(names: Sequence[str]) -> str:
    """Names in a sentence: ``'a', 'b' or 'c'``."""
    return ", ".join(map(repr, names[:-1])) + f" or {names[-1]!r}"


def _seconds(step: float | str, problems: list[WiringProblem]) -> float:
    try:
        return cosim.parse_quantity(step, "s") if isinstance(step, str) else float(step)
    except (cosim.UnitError, TypeError, ValueError) as error:
        problems.append(problem(("master", "step"), f"{error}"))
        return 1.0


def _participants(given: Mapping[str, Any], problems: list[WiringProblem]) -> dict[str, cosim.Participant]:
    made: dict[str, cosim.Participant] = {}
    for name, what in given.items():
        key = ("participants", name)
        if not name or "." in name:
            problems.append(problem(key, "the name of a participant is not empty and has no dots"))
        elif isinstance(what, cosim.Participant) or _has_contract(what):
            if any(what is other for other in made.values()):
                problems.append(
                    problem(key, "is the same object as another participant: make one for each name")
                )
            made[name] = what
        elif isinstance(what, (str, Path)):
            made[name] = open_fmu(what, name)
        elif isinstance(what, (cosim.System, cosim.Model)):
            try:
                made[name] = SystemParticipant(what)
            except cosim.ModelError as error:
                problems += [problem((*key, fault.where), fault.text) for fault in error.problems]
        elif callable(getattr(what, "describe", None)):
            missing = sorted(n for n in cosim.Participant.__abstractmethods__ if not hasattr(what, n))
            text = f"is a {type(what).__name__}, which has no {', '.join(missing)}: a participant needs that"
            problems.append(problem(key, text))
        else:
            text = f"is a {type(what).__name__}, needs the path of an FMU, a System, a Model or a Participant"
            problems.append(problem(key, text))
    return made


def _is_passed_once(link: Link, descriptions: Mapping[str, ParticipantDescription]) -> bool:
    """Whether it goes to a parameter, from anything but values over time."""
    over_time = descriptions[link.source].over_time
    return descriptions[link.target].variables[link.input].causality == "parameter" and not over_time


def _configure(participants: Mapping[str, cosim.Participant], starts: Mapping[str, Any]) -> None:
    """Tell start values to participants whose arrays have the sizes that they say."""
    for name, participant in participants.items():
        own = {k.partition(".")[2]: v for k, v in starts.items() if k.partition(".")[0] == name}
        sizes = {k: v for k, v in own.items() if isinstance(v, int) and not isinstance(v, bool) and v >= 0}
        if isinstance(participant, Resizes) and sizes:
            with suppress(cosim.FmuError):  # `describe` says it
                participant.configure(sizes)


def _has_contract(what: Any) -> bool:
    """Whether an object has all methods of a Participant, whatever it derives from."""
    return all(callable(getattr(what, name, None)) for name in cosim.Participant.__abstractmethods__)


def _describe(
    participants: Mapping[str, cosim.Participant], problems: list[WiringProblem]
) -> dict[str, ParticipantDescription]:
    found = {}
    for name, participant in participants.items():
        try:
            told = participant.describe()
        except cosim.FmuError as error:
            problems.append(problem(("participants", name), str(error), error))
        except Exception as error:
            problems.append(
                problem(("participants", name), f"cannot describe itself: {type(error).__name__}: {error}")
            )
        else:
            faults = description_faults(told)
            problems += [problem(("participants", name), fault) for fault in faults]
            if not faults:
                found[name] = told
    return found


def _algorithm(
    given: Any, options: Mapping[str, Any], problems: list[WiringProblem]
) -> cosim.MasterAlgorithm | None:
    if isinstance(given, str):
        try:
            given = cosim.registry().get("master_algorithm", given if "." in given else f"fmu.{given}")
        except cosim.LookUpError as error:
            problems.append(problem(("master", "algorithm"), str(error)))
            return None
    if isinstance(given, type) and issubclass(given, cosim.MasterAlgorithm):
        given = _made(given, options, problems)
        if given is None:
            return None
    if not isinstance(given, cosim.MasterAlgorithm):
        text = f'is {given!r}, needs the id of a master algorithm ("jacobi"), a class or an instance'
        problems.append(problem(("master", "algorithm"), text))
        return None
    return given


def _made(
    kind: type[cosim.MasterAlgorithm], options: Mapping[str, Any], problems: list[WiringProblem]
) -> cosim.MasterAlgorithm | None:
    known = [name for name in signature(kind).parameters if name != "self"]
    unknown = [name for name in options if name not in known]
    for name in unknown:
        text = str(cosim.LookUpError(f"option of {kind.__name__}", name, known))
        problems.append(problem(("master", "options", name), text))
    if unknown:
        return None
    try:
        return kind(**options)
    except cosim.ModelError as error:
        problems += [problem(("master", "options", fault.where), fault.text) for fault in error.problems]
        return None
