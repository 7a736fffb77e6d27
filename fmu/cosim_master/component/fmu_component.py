"""A Model Exchange FMU as a part of a model."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

import cosim
from cosim.kit import data_file
from cosim_master.component import calls
from cosim_master.component.running_fmu import NotKeptError, RunningFmu


class ModelExchangeFmu(cosim.Component):
    """A Model Exchange FMU of FMI 1.0, 2.0 or 3.0 among the parts of a model.

    Its states, derivatives, inputs, outputs, event indicators and time events join those of the model: one
    integrator solves several FMUs and the other parts as one system, without communication points. Inputs,
    outputs (numbers of any type, elements of arrays) and parameters have the names of the variables, with
    ``_`` for what Python does not take in names; start values of others have the names in the FMU.
    Parameters that are no real numbers (integers, booleans, text, items of enumerations by name) are options.
    Outputs are evaluated in the order in which the model description lets them depend on inputs; a loop is
    refused by name. Booleans are 0 or 1. Discrete outputs (integers, booleans, discrete reals) change when
    the FMU is in event mode; discrete inputs that have changed at the end of a step lead it there, at once.

    Limits: the FMU runs for one State at a time. A State can be put back as long as the FMU has not been in
    event mode since, or, where it saves its state, over the last `kept_events` events; that of an FMU without
    discrete variables and indicators always can. Others are refused. In another process, or after another
    run has begun, only the latter goes on. A model with such a part is not exported as an FMU. States are
    kept in units of ``scale``, the powers of two next to their nominal values.

    Parameters
    ----------
    fmu : path
        The file. It is not trusted: nothing of it is loaded before a run begins.
    feedthrough : mapping of str to list of str, or "all"
        For each output the inputs that it follows at once, in place of what the description says; "all":
        every output follows every input.
    tolerance : float
        The tolerance of solvers inside the FMU; 0: that of its default experiment.
    kept_events : int
        Behind so many of its last events the state of the FMU is kept, where it can save it; 0: none.

    Attributes
    ----------
    variables : dict of str to str
        The name in the model of each variable of the FMU that has one.

    Raises
    ------
    FmuError
        The file cannot be used.
    ModelError
        A value does not fit.

    References
    ----------
    Functional Mock-up Interface specification 2.0.4, section 3 (Model Exchange).
    """

    plain_methods: ClassVar[tuple[str, ...]] = ("bind",)
    takes_more: ClassVar[bool] = True
    not_exported: ClassVar[str] = "it contains an FMU; nested FMUs cannot be exported"
    not_saved: ClassVar[str] = "it is an FMU, which runs in this process alone"
    variables: ClassVar[Mapping[str, str]] = {}
    inputs: ClassVar[tuple[str, ...]] = ()
    groups: ClassVar[tuple[tuple[str, ...], ...]] = ()
    discrete_inputs: ClassVar[tuple[str, ...]] = ()
    discrete_outputs: ClassVar[tuple[str, ...]] = ()
    follows: ClassVar[Mapping[str, Sequence[str]]] = {}

    fmu = data_file("the FMU")
    tolerance = cosim.option(0.0, description="that the FMU receives; 0: its own")
    kept_events = cosim.option(100, description="events over which its state is kept; 0: none")
    epoch = cosim.discrete(dtype=int, invalidates=cosim.Stage.TIME, internal=True)
    next_event = cosim.timer(description="when the FMU wants event mode next")
    live = cosim.cache_slot(description="where the control block lies")

    def __new__(cls, **values: Any) -> Any:
        if cls is ModelExchangeFmu:
            from cosim_master.component.fmu_class import class_for

            return object.__new__(class_for(values.get("fmu"), values.get("feedthrough")))
        return object.__new__(cls)

    def __init__(self, **values: Any) -> None:
        feedthrough = {"feedthrough": values.pop("feedthrough")} if "feedthrough" in values else {}
        own = {self.variables.get(name, name): value for name, value in values.items()}
        for name, value in own.items():
            if name in self.chosen:
                own[name] = self._as_declared(name, value)
            elif isinstance(value, bool) and name not in self.other_starts:
                own[name] = float(value)
        self.others = {name: own.pop(name) for name in [*own] if name in self.other_starts}
        super().__init__(**{**own, "fmu": str(own["fmu"])})
        self.values.arguments |= {**self.others, **feedthrough}
        self.block = np.zeros(calls.SIZE, dtype=np.int64)
        self.running: RunningFmu | None = None
        self.keeps_nothing = False

    def __reduce__(self) -> Any:
        """The recipe of a copy: the class belongs to a file, and running instances are not copied."""
        return _rebuild, (self.name, self.values.arguments)

    other_starts: ClassVar[frozenset[str]] = frozenset()
    """Variables that take a start value and are neither an input nor a parameter with a name in the model."""
    chosen: ClassVar[Mapping[str, str]] = {}
    """The parameters that are no real numbers: name in the model, and in the FMU."""
    items: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    """The items of options that are enumerations."""

    def _as_declared(self, name: str, value: Any) -> Any:
        """A value of one of `chosen`: the name of an item also by its number, integers of any kind."""
        declared = self.declarations[name]
        if declared.options["choices"] and isinstance(value, Integral):
            return {number: item for item, number in self.items[name].items()}.get(int(value), value)
        if type(declared.start) is bool and isinstance(value, (Integral, np.bool_)) and value in (0, 1):
            return bool(value)
        return int(value) if type(declared.start) is int and isinstance(value, Integral) else value

    def bind(self, live):
        """Store the place of the control block, from which compiled code continues."""
        live[0] = float(self.block.ctypes.data)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(self, state, next_state):
        """Instantiate and initialize the FMU at the present time."""
        self.close()
        parameters = {
            n: own for n, own in self.variables.items() if self.declarations[own].kind == "parameter"
        }
        values = {n: float(state[f"{self.name}.{own}"]) for n, own in parameters.items()}
        # what stays as it is declared is not set: an FMU may refuse even that
        values = {n: v for n, v in values.items() if v != self.declarations[parameters[n]].start}
        discrete = self._discrete(state)
        values |= {n: v for n, v in discrete.items() if v != self.declarations[self.variables[n]].start}
        options = {own: self.values.options[own] for own in self.chosen}
        changed = {own: value for own, value in options.items() if value != self.declarations[own].start}
        values |= {self.chosen[n]: self.items.get(n, {}).get(value, value) for n, value in changed.items()}
        arguments = state.time, {**values, **self.others}, self._inputs(state), self.tolerance or None
        try:
            fmu, states, following = self._started(arguments, 0 if self.keeps_nothing else self.kept_events)
        except NotKeptError:  # after that it is of no use: those of OpenModelica, for example
            self.keeps_nothing = True
            fmu, states, following = self._started(arguments, 0)
        self.running = fmu
        self._end = weakref.finalize(self, fmu.close)  # now: at exit the last made is called first
        self._take(next_state, states, following, True, discrete)
        return fmu.stop_request() or cosim.EventStatus.succeeded()

    def _started(self, values: Any, kept_events: int) -> tuple[RunningFmu, Sequence[float], float]:
        ports = self.inputs, self.groups, self.block, self.follows
        fmu = RunningFmu(self.fmu, self.name, *ports, kept_events)
        try:
            return fmu, *fmu.start(*values)
        except BaseException:
            fmu.close()
            raise

    @cosim.on(next_event, does="unrestricted")
    def time_event(self, state, next_state):
        """The FMU has announced an event for this time."""
        if state[f"{self.name}.next_event"] > state.time:  # an indicator has led through event mode here
            return cosim.EventStatus.did_nothing()
        return self._handle(state, next_state)

    def _handle(self, state: Any, next_state: Any) -> cosim.EventStatus | None:
        if next_state[f"{self.name}.epoch"] != state[f"{self.name}.epoch"]:
            return cosim.EventStatus.did_nothing()  # another event of this instant has led through event mode
        fmu = self._fmu(state)
        discrete = self._discrete(state)
        inputs_with_values = zip(discrete.items(), np.atleast_1d(state[f"{self.name}.given"]), strict=False)
        news = {name: value for (name, value), last in inputs_with_values if value != last}
        answer = fmu.handle_event(state.time, self._states(state), self._inputs(state), news)
        self._take(next_state, *answer, discrete)
        return fmu.stop_request()

    def _handle_request(self, state: Any, next_state: Any) -> cosim.EventStatus | None:
        return self._fmu(state).stop_request() or self._handle(state, next_state)

    def _fmu(self, state: Any) -> RunningFmu:
        fmu = self.running
        if fmu is None or not fmu.restore_epoch(int(state[f"{self.name}.epoch"])):
            raise cosim.FmuError(str(self.fmu), "runs for another State: initialize the simulation again")
        return fmu

    def _take(
        self,
        next_state: Any,
        states: Sequence[float],
        following: float,
        rescale: bool,
        values: Mapping[str, float],
    ) -> None:
        fmu = self.running
        assert fmu is not None
        if values:
            next_state[f"{self.name}.given"] = [*values.values()]
        if self.discrete_outputs:
            next_state[f"{self.name}.shown"] = [float(x) for x in fmu.get(self.discrete_outputs)]
        if len(states):
            if rescale:
                next_state[f"{self.name}.scale"] = fmu.scales()
            scale = np.atleast_1d(next_state[f"{self.name}.scale"])
            next_state[f"{self.name}.z"] = np.asarray(states) / scale
        next_state[f"{self.name}.next_event"] = following
        # what changed inside the FMU makes everything that was computed from it void
        next_state[f"{self.name}.epoch"] = fmu.epoch

    def _states(self, state: Any) -> list[float]:
        states = np.atleast_1d(state[f"{self.name}.z"]) * np.atleast_1d(state[f"{self.name}.scale"])
        return [float(x) for x in states]

    def _inputs(self, state: Any) -> list[float]:
        return [float(state[f"{self.name}.{self.variables[name]}"]) for name in self.inputs]

    def _discrete(self, state: Any) -> dict[str, float]:
        return {n: float(state[f"{self.name}.{self.variables[n]}"]) for n in self.discrete_inputs}

    def explain_failure(self) -> Exception | None:
        """The error of the FMU in an evaluation that failed; see `Component`."""
        return None if self.running is None else self.running.explain_failure()

    def close(self) -> None:
        """Terminate and free the instance, as the end of the component does."""
        if self.running is not None:
            self._end()
            self.running = None


def _rebuild(name: str, values: Mapping[str, Any]) -> ModelExchangeFmu:
    part = ModelExchangeFmu(**values)
    object.__setattr__(part, "name", name)
    return part
