"""Model Exchange FMUs as one system under one integrator."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.model_exchange.instance_calls import LAZY
from cosim_master.coupling.co_simulation_error import CoSimulationError
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.coupling.link import Link, links_into
from cosim_master.coupling.stop_requested import StopRequested
from cosim_master.joint.joint_member import JointMember
from cosim_master.joint.joint_model import JointModel, JointPart, UnsolvedError
from cosim_master.joint.joint_wiring import JointWiring, with_more_feedthrough
from cosim_master.model_exchange.indicator_findings import indicator_findings
from cosim_master.model_exchange.model_exchange_solver import ACCURACY, ModelExchangeSolver
from cosim_master.participants.called_model_exchange import CalledModelExchange

Descriptions = Mapping[str, ParticipantDescription]


class JointSystem:
    """The members, what connects them with each other, and the integrator that solves them.

    Each member is initialized by itself, in the order of the master; when the last one has ended its
    initialization the system begins. Master algorithms see it under the name of its first member.

    Parameters
    ----------
    integrator : str
        Id of an integrator.
    accuracy : float, optional
        The smallest tolerance that a member is told, or 1e-6, unless given.
    options : mapping of str to object
        For the integrator and the simulator.

    Attributes
    ----------
    members : dict of str to JointMember
        By the names of the participants.
    links : list of Link
        With both ends among the members.
    """

    def __init__(self, integrator: str, accuracy: float | None, options: Mapping[str, Any]) -> None:
        self.integrator, self._accuracy, self._options = integrator, accuracy, dict(options)
        self.members: dict[str, JointMember] = {}
        self.links: list[Link] = []
        self._descriptions: Descriptions = {}
        self._inner: dict[str, frozenset[str]] = {}
        self._solver: ModelExchangeSolver | None = None
        self._model: JointModel | None = None
        self._wiring: JointWiring | None = None
        self._lazy: frozenset[str] | None = None
        self._settled, self._since = False, math.nan

    @property
    def names(self) -> list[str]:
        """Of the members, in order."""
        return list(self.members)

    def __str__(self) -> str:
        return " + ".join(self.members)

    def connect(self, links: Sequence[Link], descriptions: Descriptions) -> list[Link]:
        """Take the connections among the members; the others are given back.

        Parameters
        ----------
        links : sequence of Link
        descriptions : mapping of str to ParticipantDescription
            With what is said about feedthrough.
        """
        self.links = [link for link in links if link.source in self.members and link.target in self.members]
        self._descriptions = {name: descriptions[name] for name in self.members if name in descriptions}
        into = links_into(self.links)
        self._inner = {name: frozenset(link.input for link in into[name]) for name in self.members}
        return [l for l in links if l.source not in self.members or l.target not in self.members]

    def told(self) -> list[str]:
        """What is solved, in lines."""
        accuracy = "" if self._accuracy is None else f", accuracy {self._accuracy:g}"
        head = f"{self}: one system, solved by {self.integrator}{accuracy}"
        return [head, *(f"  {link}: at every instant" for link in self.links)]

    @property
    def has_begun(self) -> bool:
        """Whether all members have ended their initialization."""
        return self._solver is not None

    @property
    def solver(self) -> ModelExchangeSolver:
        """Of the run; `SimulationError` where there is none."""
        if self._solver is None:
            raise cosim.SimulationError(math.nan, "the system is not initialized")
        return self._solver

    def inner_inputs(self, name: str) -> frozenset[str]:
        """Inputs of a member that other members feed."""
        return self._inner[name] if self.has_begun else frozenset()

    def outer_inputs(self, name: str) -> list[str]:
        """Continuous inputs of a member that no other member feeds."""
        return [n for n in self.members[name].continuous_inputs() if n not in self._inner[name]]

    def inner_values(self, name: str) -> dict[str, Any]:
        """What the other members have given to a member."""
        assert self._wiring is not None
        return {input: value for (target, input), value in self._wiring.given.items() if target == name}

    def is_lazy(self, name: str) -> bool:
        """Whether outputs of a member have to be asked for behind its derivatives."""
        return self._lazy is None or name in self._lazy

    def is_last(self, name: str) -> bool:
        """Whether it is the last member, which saves and restores the system."""
        return name == next(reversed(self.members))

    def begin(self) -> None:
        """A member has ended its initialization: begin if it was the last one."""
        members = self.members
        if not all(member.is_ready for member in members.values()):
            return
        start = self._since = next(iter(members.values()))._start
        parts: list[JointPart] = []
        inputs: dict[tuple[str, str], float] = {}
        for name, member in members.items():
            inputs.update({(name, input): value for input, value in member.begin_values().items()})
            parts.append(JointPart(name, member.model, member))
        self._lazy = None
        for part in parts:
            part.member.begin_instant()
            try:
                part.now, part.next_event, _ = part.member.leave_event_mode(start)
            except Exception as error:
                raise CoSimulationError(start, str(part.member.failed(error)), part.name) from error
        wiring, self._lazy = self._wire()
        model = self._model = JointModel(parts, wiring)
        self._wiring = wiring
        self.guard(lambda: self._agree(start))
        model.note = self._note
        accuracies = [a for m in members.values() for a in (m.own_accuracy,) if a]
        make = functools.partial(
            ModelExchangeSolver,
            *(model, inputs, start, [x for part in parts for x in part.now]),
            min(part.next_event for part in parts),
            integrator=self.integrator,
            accuracy=self._accuracy or min(accuracies, default=ACCURACY),
            options=self._options,
            wants_steps=any(part.model.wants_steps for part in parts),
        )
        self._solver = self.guard(make)
        self._settled = False
        if any(member.notes_steps for member in members.values()):
            self.solver.simulator.set_monitor(self._note_step)
        self.guard(self.solver.simulator.initialize)
        self._heed()

    def _agree(self, start: float) -> None:
        """All have left their first event mode: let their outputs reach each other."""
        assert self._model is not None
        self._model.leave_event_mode(start, [])
        for member in self.members.values():
            member.end_instant()

    def _wire(self) -> tuple[JointWiring, frozenset[str]]:
        """The connections, with what FMUs do not say about their outputs; and whose outputs are late."""
        continuous = {name: member.continuous_inputs() for name, member in self.members.items()}
        descriptions, lazy = dict(self._descriptions), set()
        for name, member in self.members.items():
            outputs = list(
                dict.fromkeys(x.output for x in self.links if x.source == name and _feeds(x, continuous))
            )
            real = [y for y in outputs if descriptions[name].variables[y].type == "real"]
            values = {n: v for n, v in member.first_values().items() if n in continuous[name]}
            known = {y: direct_inputs(descriptions[name], y) for y in real}
            if member.wish_to_stop():
                continue
            try:
                more = member.hidden_feedthrough(real, values, known)
                if member.shows_states_late(real):
                    lazy.add(name)
            except Exception as error:
                raise CoSimulationError(self._since, str(member.failed(error)), name) from error
            descriptions[name] = with_more_feedthrough(descriptions[name], more)
        wiring = JointWiring(self.links, self.members, descriptions, continuous)
        for name, member in self.members.items():
            member.model.block.words[LAZY] = int(name in lazy)
        wiring.begin_with({x.end: self.members[x.target].first_values()[x.input] for x in wiring.continuous})
        return wiring, frozenset(lazy)

    def set(self, member: JointMember, values: Mapping[str, Any]) -> None:
        """Write inputs of a member: real ones are held from now on, all others are written in event mode."""
        solver, name = self.solver, member.name
        own = {n: v for n, v in values.items() if n not in self._inner[name]}
        solver.hold({(name, n): v for n, v in own.items() if (name, n) in solver.known})
        self._settled = False
        others = member.changed_ports({n: v for n, v in own.items() if (name, n) not in solver.known})
        if others:
            self._pass_events({name: others})

    def follow(self, name: str, slopes: Mapping[str, float]) -> None:
        """Let inputs of a member run along lines over the next step, per s."""
        self.solver.follow({(name, input): slope for input, slope in slopes.items()})

    def settle(self) -> None:
        """Move all to the present point, for reading."""
        if not self._settled:
            self.guard(self.solver.settle)
            self._settled = True

    def step(self, time: float, size: float) -> float:
        """Integrate to ``time + size``, through all events on the way.

        Raises
        ------
        StopRequested
            A member asks for the end of the run; it is named.
        CoSimulationError
            A member has failed, which is named, or the integrator cannot go on.
        """
        assert self._model is not None
        self._since = time
        for member in self.members.values():
            member.check_runs()
            member.begin_step()
        self._pass_sampled()
        self._model.clear_lost()
        return self.advance(lambda: self.solver.advance(time + size), time)

    def advance(self, advance: Callable[[], None], time: float) -> float:
        """Take a step that began at `time` (s), see `step`."""
        self._since, self._settled = time, False
        self.guard(advance)
        self.solver.hold_inputs()
        self._heed()
        return self.solver.time

    def call(self) -> CalledModelExchange:
        """Let compiled code step the system."""
        assert self._wiring is not None
        is_new, called = self.solver.called is None, CalledModelExchange.of(self.solver)
        self._settled = False
        if is_new:
            called.compare(self._wiring.sampled())
        return called

    def inner_addresses(self, name: str) -> dict[str, int]:
        """Where the values lie that other members have given to a member."""
        assert self._wiring is not None
        return {input: at for (target, input), at in self._wiring.addresses.items() if target == name}

    def _pass_sampled(self) -> None:
        """Inputs that change at events alone follow at least at communication points."""
        assert self._wiring is not None
        if self._wiring.samples:
            self.settle()
            found = self.guard(self._wiring.changes_at_events)
            if found:
                self._pass_events(found)

    def _pass_events(self, going: Mapping[str, Mapping[str, Any]]) -> None:
        """Members go through event mode between two steps, and others that are reached by it."""
        assert self._model is not None
        model, time = self._model, self.solver.time
        self.settle()
        self._note(time)
        states, following, _ = self.guard(lambda: model.pass_events(time, going))
        self.guard(model.compute_all)
        self._note(time)
        self.solver.jump(states, following)
        self._settled = False

    def _note(self, time: float) -> None:
        if self._solver is not None and self._solver.called is not None:
            self._solver.called.forget_compared()
        for member in self.members.values():
            member.note(time)

    def _note_step(self, state: cosim.State) -> None:
        self._settled = False
        self.settle()
        self._settled = False
        self._note(float(state.time))

    def _heed(self) -> None:
        for name, member in self.members.items():
            reason = member.wish_to_stop()
            if reason:
                raise StopRequested(self.solver.time, reason, name)

    def guard(self, action: Any) -> Any:
        """Call something; what it raises becomes an error that names the member."""
        model = self._model
        assert model is not None
        try:
            return action()
        except (CoSimulationError, StopRequested):
            raise
        except Exception as error:
            causes: list[BaseException] = [error]
            while causes[-1].__cause__ is not None:
                causes.append(causes[-1].__cause__)
            own = next((c for c in causes if isinstance(c, (CoSimulationError, UnsolvedError))), None)
            if isinstance(own, CoSimulationError):
                raise own from error
            deepest = causes[-1]
            if own is not None or isinstance(deepest, cosim.SimulationError):
                what = str(own or model.lost or deepest)
                raise CoSimulationError(self._since, f"{self}, solved jointly: {what}") from error
            assert isinstance(deepest, Exception)
            told = self.members[model.at].failed(deepest)
            if told is not deepest:
                told.__cause__ = deepest
            raise CoSimulationError(self._since, str(told), model.at) from told

    def to_bytes(self) -> bytes:
        """What is not in the members: the State, and where searches begin."""
        assert self._model is not None and self._wiring is not None
        told = {
            "events": self.solver.simulator.events.total,
            "next": [part.next_event for part in self._model.parts],
            "loops": self._wiring.memory(),
            "written": {name: member.written for name, member in self.members.items()},
        }
        head = json.dumps(told).encode()
        return len(head).to_bytes(8, "little") + head + self.solver.simulator.state.to_bytes()

    def go_back(self, saved: bytes) -> None:
        """To what `to_bytes` gave; the members have gone back already."""
        assert self._model is not None and self._wiring is not None
        end = 8 + int.from_bytes(saved[:8], "little")
        told = json.loads(saved[8:end])
        self.guard(lambda: self.solver.go_back(saved[end:], told["events"]))
        for part, following in zip(self._model.parts, told["next"], strict=True):
            part.next_event = following
        for name, written in told["written"].items():
            self.members[name].written = written
        self._wiring.put_back(told["loops"])
        self._settled = False
        forgetful = [member for member in self.members.values() if member.remembers_relations]
        if forgetful:
            self.settle()
            for member in forgetful:
                self.guard(member.forget_relations)
            self._wiring.put_back(told["loops"])
            self._settled = False

    def end(self) -> None:
        """Nothing is solved any more."""
        if self._model is not None:
            self._model.evaluation.end()
        self._solver = self._model = self._wiring = self._lazy = None

    def findings_of(self, name: str) -> list[str]:
        """What was noticed about the event indicators of a member."""
        if self._solver is None or self._model is None:
            return []
        part = next(part for part in self._model.parts if part.name == name)
        findings = self._solver.simulator.findings
        return indicator_findings(findings, part.indicators.start, part.model.indicators)

    def events_of(self, name: str) -> list[cosim.EventRecord]:
        """What has happened to a member: its event indicators, its time events, steps that it asked for."""
        if self._solver is None or self._model is None:
            return []
        part = next(part for part in self._model.parts if part.name == name)
        found = []
        for event in self._solver.simulator.events:
            kind, _, number = event.handler.removeprefix("fmu.").rpartition("_")
            if kind == "state_event":
                place = int(number) - part.indicators.start
                if not 0 <= place < part.model.indicators:
                    continue
                event = replace(
                    event,
                    handler=f"fmu.state_event_{place}",
                    witness=f"fmu.indicator_{place}",
                    name=f"indicator_{place}",
                )
            elif event.handler == "fmu.time_event":
                if name not in self._model.due.get(event.time, [name]):
                    continue
            elif not event.changed or not part.model.wants_steps:
                continue
            found.append(_of_member(event, part))
        return found


def _of_member(event: cosim.EventRecord, part: JointPart) -> cosim.EventRecord:
    """The record with the states of one member alone."""
    if "fmu.z" not in event.changed:
        return event
    before, after = ({**side, "fmu.z": side["fmu.z"][part.states]} for side in (event.before, event.after))
    changed = tuple(
        each for each in event.changed if each != "fmu.z" or list(before[each]) != list(after[each])
    )
    return replace(
        event,
        changed=changed,
        before={n: v for n, v in before.items() if n in changed},
        after={n: v for n, v in after.items() if n in changed},
    )


def _feeds(link: Link, continuous: Mapping[str, Sequence[str]]) -> bool:
    return link.input in continuous[link.target]
