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
from cosim_master.model_exchange.fmu_model import AfterEvent


class ModelExchangeFmu(cosim.Component):
    """A Model Exchange FMU of FMI 1.0, 2.0 or 3.0 among the parts of a model.

    Its states, derivatives, inputs, outputs, event indicators and time events join those of the model: one
    integrator solves several FMUs and the other parts as one system, without communication points. Inputs,
    outputs (numbers of any type, elements of arrays) and parameters have the names of the variables, with
    ``_`` for characters that names in Python cannot have; start values of other variables have the names in
    the FMU. Parameters that are no real numbers (integers, booleans, text, items of enumerations by name) are
    options. Outputs are evaluated in the order of the dependencies in the model description; a loop is
    refused, and named. Booleans are 0 or 1. Discrete outputs (integers, booleans, discrete reals) change in
    event mode, which the FMU enters at once when discrete inputs have changed at the end of a step.

    Parameters
    ----------
    fmu : path
        The file. It is not trusted: nothing of it is loaded before a run begins.
    feedthrough : mapping of str to list of str, or "all"
        For each output the inputs that it depends on directly, in place of the model description; "all":
        every output depends on every input.
    tolerance : float
        The tolerance of solvers inside the FMU; 0 for that of its default experiment.
    kept_events : int
        The number of last events after which the state of the FMU is stored, if it can save it; 0 for none.

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

    Notes
    -----
    The FMU runs for one State at a time. These earlier States can be restored, all others are refused:

    - all States since the FMU was last in event mode;
    - all States of the last `kept_events` events, if the FMU can save its state;
    - all States, also of another process and of an earlier run, if the FMU has no discrete variables and no
      event indicators.

    A model with such a part is not exported as an FMU.

    References
    ----------
    Functional Mock-up Interface specification 2.0.4, section 3 (Model Exchange).
    """

    plain_methods: ClassVar[tuple[str, ...]] = ("bind",)
    takes_more: ClassVar[bool] = True
    not_exported: ClassVar[str] = "it contains an FMU; nested FMUs cannot be exported"
    not_saved: ClassVar[str] = "it is an FMU, which runs in this process alone"

    # `class_for` makes a subclass for each file and sets what follows. Variables have their names in the FMU.
    variables: ClassVar[Mapping[str, str]] = {}
    inputs: ClassVar[tuple[str, ...]] = ()
    """Continuous inputs."""
    output_groups: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Continuous outputs, in groups that are read together."""
    direct_inputs: ClassVar[Mapping[str, Sequence[str]]] = {}
    """For each continuous output the inputs that are written before it is read."""
    discrete_inputs: ClassVar[tuple[str, ...]] = ()
    discrete_outputs: ClassVar[tuple[str, ...]] = ()
    other_starts: ClassVar[frozenset[str]] = frozenset()
    """Variables with a start value that are neither inputs nor parameters of the part."""
    option_variables: ClassVar[Mapping[str, str]] = {}
    """The variable of each option: a parameter that is not a real number."""
    enumeration_items: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    """For each option that is an enumeration, its items and their numbers."""

    # The subclass also declares `z`, the states in units of `scale` (powers of two near nominal values), and
    # `received_inputs` and `event_outputs`, the discrete inputs and outputs of the last event mode.
    fmu = data_file("the FMU")
    tolerance = cosim.option(0.0, description="that the FMU receives; 0: its own")
    kept_events = cosim.option(100, description="events over which its state is kept; 0: none")
    epoch = cosim.discrete(dtype=int, invalidates=cosim.Stage.TIME, internal=True)
    next_event = cosim.timer(description="when the FMU wants event mode next")
    block_address = cosim.cache_slot(description="the address of the control block")

    def __new__(cls, **values: Any) -> Any:
        if cls is ModelExchangeFmu:
            from cosim_master.component.fmu_class import class_for

            return object.__new__(class_for(values.get("fmu"), values.get("feedthrough")))
        return object.__new__(cls)

    def __init__(self, **values: Any) -> None:
        # the class has used the feedthrough; a copy of the part needs it again
        feedthrough = {"feedthrough": values.pop("feedthrough")} if "feedthrough" in values else {}
        # users may write the names in the FMU or those in the model
        arguments = {self.variables.get(name, name): value for name, value in values.items()}
        for name, value in arguments.items():
            if name in self.option_variables:
                arguments[name] = self._as_declared(name, value)
            elif isinstance(value, bool) and name not in self.other_starts:
                arguments[name] = float(value)  # discrete inputs are numbers
        # start values of variables without a declaration go to the FMU alone
        self.undeclared_starts = {
            name: arguments.pop(name) for name in [*arguments] if name in self.other_starts
        }
        super().__init__(**{**arguments, "fmu": str(arguments["fmu"])})
        self.values.arguments |= {**self.undeclared_starts, **feedthrough}
        self.block = np.zeros(calls.SIZE, dtype=np.int64)
        self.running: RunningFmu | None = None
        self.fails_to_save = False  # although the FMU declares that it saves its state

    def __reduce__(self) -> Any:
        """The recipe of a copy: the class belongs to a file, and running instances are not copied."""
        return _rebuild, (self.name, self.values.arguments)

    def _as_declared(self, name: str, value: Any) -> Any:
        """The value of an option in its declared type; an item of an enumeration may be given by number."""
        declared = self.declarations[name]
        if declared.options["choices"] and isinstance(value, Integral):
            items = {number: item for item, number in self.enumeration_items[name].items()}
            return items.get(int(value), value)
        if type(declared.start) is bool and isinstance(value, (Integral, np.bool_)) and value in (0, 1):
            return bool(value)
        return int(value) if type(declared.start) is int and isinstance(value, Integral) else value

    def bind(self, block_address):
        """Store the address of the control block, by which compiled code calls the FMU."""
        block_address[0] = float(self.block.ctypes.data)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(self, state, next_state):
        """Instantiate and initialize the FMU at the present time."""
        self.close()
        discrete = self._discrete(state)
        values = {**self._changed_starts(state, discrete), **self.undeclared_starts}
        arguments = state.time, values, self._inputs(state), self.tolerance or None
        try:
            fmu, after = self._started(arguments, 0 if self.fails_to_save else self.kept_events)
        except NotKeptError:  # that instance cannot be used any more: of OpenModelica, for example
            self.fails_to_save = True
            fmu, after = self._started(arguments, 0)
        self.running = fmu
        # created after the FMU, since finalizers are called in reverse order at exit
        self._end = weakref.finalize(self, fmu.close)
        self._store(next_state, after._replace(nominals_changed=True), discrete)
        return fmu.stop_request() or cosim.EventStatus.succeeded()

    def _changed_starts(self, state: Any, discrete: Mapping[str, float]) -> dict[str, Any]:
        """The start values that differ from the declared ones: an FMU may refuse to be set even to these."""
        names = self.variables
        values = {n: float(state[f"{self.name}.{p}"]) for n, p in names.items() if self._is_parameter(p)}
        values |= discrete
        starts = {n: value for n, value in values.items() if value != self.declarations[names[n]].start}
        for option, name in self.option_variables.items():
            value = self.values.options[option]
            if value != self.declarations[option].start:
                starts[name] = self.enumeration_items.get(option, {}).get(value, value)
        return starts

    def _is_parameter(self, name: str) -> bool:
        return self.declarations[name].kind == "parameter"

    def _started(self, arguments: Any, kept_events: int) -> tuple[RunningFmu, AfterEvent]:
        """A new instance, started with these arguments."""
        ports = self.inputs, self.output_groups, self.block, self.direct_inputs
        fmu = RunningFmu(self.fmu, self.name, *ports, kept_events)
        try:
            return fmu, fmu.start(*arguments)
        except BaseException:
            fmu.close()
            raise

    @cosim.on(next_event, does="unrestricted")
    def time_event(self, state, next_state):
        """Handle an event that the FMU has announced for this time."""
        if state[f"{self.name}.next_event"] > state.time:  # the event of an indicator has handled it
            return cosim.EventStatus.did_nothing()
        return self._handle(state, next_state)

    def _handle(self, state: Any, next_state: Any) -> cosim.EventStatus | None:
        if next_state[f"{self.name}.epoch"] != state[f"{self.name}.epoch"]:
            return cosim.EventStatus.did_nothing()  # another event of this instant has handled it
        fmu = self._fmu(state)
        discrete = self._discrete(state)
        last_values = np.atleast_1d(state[f"{self.name}.received_inputs"])
        changes = {n: v for (n, v), last in zip(discrete.items(), last_values, strict=False) if v != last}
        after = fmu.handle_event(state.time, self._states(state), self._inputs(state), changes)
        self._store(next_state, after, discrete)
        return fmu.stop_request()

    def _handle_request(self, state: Any, next_state: Any) -> cosim.EventStatus | None:
        return self._fmu(state).stop_request() or self._handle(state, next_state)

    def _fmu(self, state: Any) -> RunningFmu:
        fmu = self.running
        if fmu is None or not fmu.restore_epoch(int(state[f"{self.name}.epoch"])):
            raise cosim.FmuError(str(self.fmu), "runs for another State now: initialize the simulation again")
        return fmu

    def _store(self, next_state: Any, after: AfterEvent, discrete: Mapping[str, float]) -> None:
        """Store the FMU after event mode, and the discrete inputs that it has received."""
        fmu = self.running
        assert fmu is not None
        if discrete:
            next_state[f"{self.name}.received_inputs"] = [*discrete.values()]
        if self.discrete_outputs:
            next_state[f"{self.name}.event_outputs"] = [float(x) for x in fmu.get(self.discrete_outputs)]
        if len(after.states):
            if after.nominals_changed:
                next_state[f"{self.name}.scale"] = fmu.scales()
            scale = np.atleast_1d(next_state[f"{self.name}.scale"])
            next_state[f"{self.name}.z"] = np.asarray(after.states) / scale
        next_state[f"{self.name}.next_event"] = after.next_event
        # invalidates everything that was computed from the FMU
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
