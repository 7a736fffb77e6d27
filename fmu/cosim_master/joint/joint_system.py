"""Model Exchange FMUs, one or several, as one system under one integrator."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.model_exchange.instance_calls import OUTPUTS_LAG
from cosim_master.coupling.errors import CoSimulationError, StopRequested
from cosim_master.coupling.link import Link, links_into
from cosim_master.joint.joint_errors import joint_error, member_error
from cosim_master.joint.joint_events import events_of_member
from cosim_master.joint.joint_memory import JointMemory, SavedMemory
from cosim_master.joint.joint_model import JointModel, JointPart
from cosim_master.joint.joint_wiring import JointWiring
from cosim_master.joint.wire_members import wire_members
from cosim_master.model_exchange.called_simulator import CalledModelExchange, KeptState
from cosim_master.model_exchange.evaluation import Evaluation
from cosim_master.model_exchange.fmu_model import indicator_findings
from cosim_master.model_exchange.model_exchange_solver import ACCURACY, ModelExchangeSolver
from cosim_workbench.trial_options import tightened

Descriptions = Mapping[str, ParticipantDescription]


class JointSystem:
    """The members, their connections with each other, and the integrator that solves them.

    Each member is initialized by itself, in the order of the master; the system begins when the last one has
    ended its initialization. For master algorithms it has the name of its first member.

    Parameters
    ----------
    integrator : str
        Id of an integrator.
    accuracy : float, optional
        By default the smallest tolerance that a member receives, or else 1e-6.
    options : mapping of str to object
        For the integrator and the simulator.

    Attributes
    ----------
    members : dict of str to ModelExchangeParticipant
        By the names of the participants.
    links : list of Link
        The connections between members.
    is_refined : bool
        Whether the integration takes a tenth of the accuracy, for a run that another one is compared with.
    before_first_step : callable or None
        Called with the evaluation and the simulator before the latter is initialized, in runs whose tangents
        are directional derivatives.
    """

    def __init__(self, integrator: str, accuracy: float | None, options: Mapping[str, Any]) -> None:
        self.integrator, self._accuracy, self._options = integrator, accuracy, dict(options)
        self.members: dict[str, Any] = {}
        self.links: list[Link] = []
        self._descriptions: dict[str, ParticipantDescription] = {}
        self._inner: dict[str, frozenset[str]] = {}
        self._solver: ModelExchangeSolver | None = None
        self._model: JointModel | None = None
        self._wiring: JointWiring | None = None
        self._lagging: frozenset[str] | None = None
        self._outputs_are_present = False  # whether the members are at the point of the solver
        self._since = math.nan
        self._remembered: SavedMemory | None = None
        self.is_refined = False
        self.before_first_step: Callable[[Evaluation, cosim.Simulator], None] | None = None

    @property
    def names(self) -> list[str]:
        """The names of the members, in order."""
        return list(self.members)

    def __str__(self) -> str:
        return " + ".join(self.members)

    def connect(self, links: Sequence[Link], descriptions: Descriptions) -> list[Link]:
        """Connect the members. Returns the links that are not between members.

        Parameters
        ----------
        links : sequence of Link
        descriptions : mapping of str to ParticipantDescription
            With the user's declarations of feedthrough.
        """
        self.links = [link for link in links if link.source in self.members and link.target in self.members]
        self._descriptions = {name: descriptions[name] for name in self.members if name in descriptions}
        into = links_into(self.links)
        self._inner = {name: frozenset(link.input for link in into[name]) for name in self.members}
        return [l for l in links if l.source not in self.members or l.target not in self.members]

    def another(self) -> JointSystem:
        """A new system of the same FMUs and connections, which writes no logs."""
        system = JointSystem(self.integrator, self._accuracy, self._options)
        for name, member in self.members.items():
            system.members[name] = type(member).joined(member, name, system)
            system.members[name].write_log(None)
        system.connect(self.links, self._descriptions)
        return system

    def lines(self) -> list[str]:
        """A description of the solved system, in lines."""
        accuracy = "" if self._accuracy is None else f", accuracy {self._accuracy:g}"
        head = f"{self}: one system, solved by {self.integrator}{accuracy}"
        return [head, *(f"  {link}: at every instant" for link in self.links)]

    @property
    def has_begun(self) -> bool:
        """Whether all members have ended their initialization."""
        return self._solver is not None

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of all members; they have begun."""
        assert self._model is not None
        return self._model.evaluation

    @property
    def solver(self) -> ModelExchangeSolver:
        """The solver of the run; `SimulationError` if there is none."""
        if self._solver is None:
            raise cosim.SimulationError(math.nan, "the participant is not initialized")
        return self._solver

    def _fed(self, name: str) -> frozenset[str]:
        """Inputs of a member that other members feed."""
        return self._inner.get(name, frozenset())

    def outer_inputs(self, name: str) -> list[str]:
        """Continuous inputs of a member that no other member feeds."""
        return [n for n in self.members[name].continuous_inputs() if n not in self._fed(name)]

    def inner_values(self, name: str) -> dict[str, Any]:
        """The inputs of a member from other members."""
        if self._wiring is None or not self._fed(name):
            return {}
        return {input: value for (target, input), value in self._wiring.given.items() if target == name}

    def outputs_lag(self, name: str) -> bool:
        """Whether outputs of a member follow its states only after the derivatives are computed."""
        return self._lagging is None or name in self._lagging

    def start_if_complete(self) -> None:
        """Begin the simulation when the last member has ended its initialization."""
        members = self.members
        parts = [JointPart(name, m.model) for name, m in members.items() if m.model is not None]
        if len(parts) < len(members):
            return
        start = self._since = members[parts[0].name].start
        first = {name: member.first_values() for name, member in members.items()}
        inputs = {(name, input): first[name][input] for name in members for input in self.outer_inputs(name)}
        self._lagging = None
        for part in parts:
            part.model.start_instant()
            try:
                part.state_values, part.next_event, _ = part.model.leave_event_mode(start)
            except Exception as error:
                failure = member_error(error, members, part.name, start)
                raise failure from failure.__cause__
        self._raise_stop_request(start)
        wired = wire_members(members, self.links, self._descriptions, first, start)
        wiring, self._lagging = wired.wiring, wired.lagging
        for part in parts:
            part.model.block.words[OUTPUTS_LAG] = int(part.name in self._lagging)
        model = self._model = JointModel(parts, wiring)
        self._wiring = wiring
        self.guard(lambda: self._exchange_first(start))
        model.store_values, model.before_event = self._store_values, self._before_event
        settings = self._settings()
        make = partial(
            ModelExchangeSolver,
            *(model, inputs, start, [x for part in parts for x in part.state_values]),
            min(part.next_event for part in parts),
            integrator=self.integrator,
            accuracy=settings.pop("accuracy"),
            options=settings,
            wants_steps=any(part.model.wants_steps for part in parts),
            derives=self.before_first_step is not None,
        )
        self._solver = self.guard(make)
        self.invalidate_outputs()
        if any(member.records_inner_steps for member in members.values()):
            self.solver.simulator.set_monitor(self._record_step)
        if self.before_first_step is not None:
            self.before_first_step(model.evaluation, self.solver.simulator)
        self.guard(self.solver.simulator.initialize)
        self._raise_stop_request(start)

    def _settings(self) -> dict[str, Any]:
        """The accuracy and the options of the integration."""
        tolerances = [member.tolerance for member in self.members.values() if member.tolerance]
        accuracy = self._accuracy or min(tolerances, default=ACCURACY)
        settings = {**self._options, "accuracy": accuracy}
        return tightened(settings, accuracy) if self.is_refined else settings

    def _exchange_first(self, start: float) -> None:
        """Exchange the outputs once all members have left their first event mode."""
        assert self._model is not None
        self._model.leave_event_mode(start, [])
        for part in self._model.parts:
            part.model.end_instant()

    def set(self, member: Any, values: Mapping[str, Any]) -> None:
        """Write inputs of a member: real ones are held from now on, all others are written in event mode."""
        solver, name = self.solver, member.name
        outer = {n: v for n, v in values.items() if n not in self._fed(name)}
        solver.hold({(name, n): v for n, v in outer.items() if (name, n) in solver.known})
        self.invalidate_outputs()
        changed = member.changed_ports({n: v for n, v in outer.items() if (name, n) not in solver.known})
        if changed:
            self._pass_events({name: changed})

    def follow(self, name: str, slopes: Mapping[str, float]) -> None:
        """Let inputs of a member run along lines over the next step, per s."""
        self.solver.follow({(name, input): slope for input, slope in slopes.items()})

    def move_to_point(self) -> None:
        """Move all members to the present point, for reading."""
        if not self._outputs_are_present:
            self.guard(self.solver.move_to_point, "setting the time")
            self._outputs_are_present = True

    def invalidate_outputs(self) -> None:
        """Let `move_to_point` move the members again: the time, a state or an input has changed."""
        self._outputs_are_present = False

    def step(self, time: float, size: float) -> float:
        """Integrate to ``time + size``, through all events on the way.

        Raises
        ------
        StopRequested
            A member asks for the end of the run; it is named.
        CoSimulationError
            A member has failed, which is named, or the integrator cannot continue.
        """
        assert self._model is not None
        self._since = time
        for member in self.members.values():
            member.start_step()
        self._pass_sampled()
        self._model.clear_lost()
        return self.advance(lambda: self.solver.advance(time + size), time)

    def advance(self, advance: Callable[[], None], time: float) -> float:
        """Take a step that began at `time` (s); see `step`."""
        self._since = time
        self.invalidate_outputs()
        self.guard(advance)
        self.solver.hold_inputs()
        self._raise_stop_request(self.solver.time)
        return self.solver.time

    def call(self) -> CalledModelExchange:
        """Let compiled code step the system."""
        assert self._wiring is not None
        is_new, called = self.solver.called is None, CalledModelExchange.of(self.solver)
        self.invalidate_outputs()
        if is_new:
            called.compare(self._wiring.sampled())
        return called

    def state_calls(self, name: str, functions: Any) -> dict[str, Any]:
        """The functions that save and restore a member's state, with the last member that of the run.

        Parameters
        ----------
        name : str
        functions : tuple of int or None
            See `KeptState`.
        """
        if name != next(reversed(self.members)):
            return {"kept": KeptState(functions)}
        assert self._wiring is not None
        saved = KeptState(functions, self.call(), self._wiring.search_memory)
        calls = {"remember": self.remember, "remember_saved": self.remember_saved, "forget": self.forget}
        return {"kept": saved, **calls}

    def _before_event(self) -> None:
        """Store the memory before an event in a step that compiled code may repeat."""
        called = self.solver.called
        if called is None or not called.record.is_saved:
            return
        called.record.needs_python = 1
        if not called.record.is_memory_saved:
            self._remembered = self._saved_memory(self.solver.events_when_saved)
            called.record.is_memory_saved = 1

    def remember(self) -> SavedMemory:
        """The present memory, for a state that compiled code is about to save."""
        return self._saved_memory(self.solver.event_total)

    def remember_saved(self) -> SavedMemory:
        """The memory at the time when compiled code saved the state."""
        is_known = self.call().record.is_memory_saved
        if is_known and self._remembered is not None:
            return self._remembered
        return self._saved_memory(self.solver.events_when_saved)

    def _memory(self, events: int) -> JointMemory:
        """The present memory, with this number of events."""
        assert self._model is not None
        return JointMemory.of(events, self._model.parts, self.members)

    def _saved_memory(self, events: int) -> SavedMemory:
        """The present memory for a state of compiled code, with this number of events."""
        assert self._model is not None
        return SavedMemory(self._memory(events), [part.model.instance.mode for part in self._model.parts])

    def forget(self, saved: SavedMemory) -> None:
        """Restore the memory; compiled code restores the state."""
        assert self._model is not None
        self.solver.simulator.events.truncate(saved.memory.events)
        self._model.stop_requested = False
        self._model.forget()
        saved.memory.apply(self._model.parts, self.members)
        for part, mode in zip(self._model.parts, saved.modes, strict=True):
            part.model.instance.mode = mode
        self.call()

    def leave(self) -> None:
        """Let Python make all further steps."""
        if self.solver.called is not None:
            self.solver.called.unbind()
        self.solver.called = None

    def inner_addresses(self, name: str) -> dict[str, int]:
        """Addresses of the inputs of a member from other members."""
        assert self._wiring is not None
        return {input: at for (target, input), at in self._wiring.addresses.items() if target == name}

    def _pass_sampled(self) -> None:
        """Pass inputs on that change at events alone, at a communication point."""
        assert self._wiring is not None
        if self._wiring.samples:
            self.move_to_point()
            changes = self.guard(self._wiring.changes_at_events)
            if changes:
                self._pass_events(changes)

    def _pass_events(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        """Pass members whose inputs change, and then those that they feed, through event mode."""
        assert self._model is not None
        model, time = self._model, self.solver.time
        self.move_to_point()
        self._store_values(time)
        after = self.guard(lambda: model.pass_events(time, changes))
        self.guard(model.compute_all)
        self._store_values(time)
        self.solver.jump(after.states, after.next_event)
        self.invalidate_outputs()

    def _store_values(self, time: float) -> None:
        """Store the values of all members at a time inside a step, for rows."""
        if self._solver is not None and self._solver.called is not None:
            self._solver.called.clear_compared()
        for member in self.members.values():
            member.store_values(time)

    def _record_step(self, state: cosim.State) -> None:
        """Record the values of the members at the end of an integrator step."""
        self.guard(self.solver.move_to_point, "setting the time")
        self.invalidate_outputs()  # the step continues
        self._store_values(float(state.time))

    def _raise_stop_request(self, time: float) -> None:
        """Raise `StopRequested` if a member has asked for the end of the run."""
        for name, member in self.members.items():
            reason = member.stop_request()
            if reason:
                raise StopRequested(time, reason, "" if self._is_alone else name)

    @property
    def _is_alone(self) -> bool:
        """Whether there is only one member, whose errors and events need no name."""
        return len(self.members) == 1

    def guard(self, action: Any, function: str = "") -> Any:
        """Call a function; its exceptions become a `joint_error`, which names the member.

        Parameters
        ----------
        action : callable
        function : str
            The call, for the message.
        """
        assert self._model is not None
        try:
            return action()
        except (CoSimulationError, StopRequested):
            raise
        except Exception as error:
            failure = joint_error(error, self._model, self.members, self._since, function)
            raise failure from failure.__cause__

    def to_bytes(self, name: str) -> bytes:
        """The part of the state that is outside the members; empty for all members but the last."""
        if name != next(reversed(self.members)):
            return b""
        assert self._wiring is not None
        memory = self._memory(self.solver.simulator.events.total)
        return memory.to_bytes(self._wiring.memory()) + self.solver.simulator.state.to_bytes()

    def restore(self, saved: bytes) -> None:
        """Restore a state of `to_bytes`, after the members have restored theirs."""
        assert self._model is not None and self._wiring is not None
        memory, loops, state = JointMemory.from_bytes(saved)
        self.guard(lambda: self.solver.restore(state, memory.events))
        memory.apply(self._model.parts, self.members)
        self._wiring.put_back(loops)
        self.invalidate_outputs()
        with_relations = [member for member in self.members.values() if member.remembers_relations]
        if with_relations:
            self.move_to_point()
            for member in with_relations:
                self.guard(member.refresh_relations)
            self._wiring.put_back(loops)
            self.invalidate_outputs()

    def end(self) -> None:
        """End the evaluation of the members and drop the solver."""
        if self._model is not None:
            self._model.evaluation.end()
        self._solver = self._model = self._wiring = self._lagging = None

    def findings_of(self, name: str) -> list[str]:
        """The findings about event indicators of a member."""
        if self._solver is None or self._model is None:
            return []
        part = next(part for part in self._model.parts if part.name == name)
        findings = self._solver.simulator.findings
        return indicator_findings(findings, part.indicators.start, part.model.indicators)

    def events_of(self, name: str) -> list[cosim.EventRecord]:
        """The events of a member: of its event indicators, its time events, and steps that it asked for."""
        if self._solver is None or self._model is None:
            return []
        idle = cosim.EventCause.TIME_ADVANCED
        events = [e for e in self._solver.simulator.events if e.changed or e.cause is not idle]
        if self._is_alone:
            return events
        part = next(part for part in self._model.parts if part.name == name)
        return events_of_member(events, part, self._model.due)
