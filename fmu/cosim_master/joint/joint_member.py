"""A Model Exchange FMU that is solved with others as one system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.binding import modes
from cosim_fmi.instances.fmu_state import FmuState
from cosim_fmi.variables.access import Access
from cosim_master.model_exchange.model_exchange_solver import ModelExchangeSolver
from cosim_master.participants.called_model_exchange import CalledModelExchange
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

if TYPE_CHECKING:
    from cosim_master.joint.joint_system import JointSystem


class _Saved(NamedTuple):
    """The state of an FMU, None where time, states and inputs are all; with the last one the system's."""

    fmu: FmuState | None
    system: bytes
    clocks: Any = None


class JointMember(ModelExchangeParticipant):
    """Initialized, set and read as any participant; the first member of a system steps for all.

    Parameters
    ----------
    path : str or Path
    name : str
        Of the participant.
    system : JointSystem
    """

    def __init__(self, path: Any, name: str, system: JointSystem) -> None:
        super().__init__(path, name)
        self.system = system
        self._earlier: set[str] = set()

    @classmethod
    def of(cls, given: InstanceParticipant, name: str, system: JointSystem) -> JointMember:
        """A member in the place of a participant with the same FMU."""
        made = cls(given.path, name, system)
        made._log_file = given._log_file
        if isinstance(given, ModelExchangeParticipant):
            made._interface = given._interface
        return made

    @property
    def has_begun(self) -> bool:
        """Whether the system is being solved."""
        return self.system.has_begun

    @property
    def is_ready(self) -> bool:
        """Whether its initialization has ended."""
        return self._fmu is not None

    @property
    def wants_steps(self) -> bool:
        """Whether the FMU is told when an integrator step has ended."""
        return self._read_interface().wants_steps

    @property
    def _running(self) -> ModelExchangeSolver:
        return self.system.solver

    @property
    def events(self) -> list[cosim.EventRecord]:
        """Those of the system that this FMU wanted."""
        return self.system.events_of(self.name)

    def _findings(self) -> list[str]:
        return self.system.findings_of(self.name)

    def describe(self) -> ParticipantDescription:
        """As the file says; derivatives of a single FMU are not those of the system."""
        return replace(super().describe(), has_derivatives=False)

    def _begin(self) -> None:
        """In event mode: wait for the others, then begin together."""
        self._fmu = self._bind(tuple(self.system.outer_inputs(self.name)))
        self.system.begin()

    def begin_values(self) -> dict[str, float]:
        """Continuous inputs that are given from outside, as they were set."""
        wanted = self.system.outer_inputs(self.name)
        return {name: value for name, value in self._first_inputs().items() if name in wanted}

    def first_values(self) -> dict[str, float]:
        """All continuous inputs as they were set in initialization."""
        return self._first_inputs()

    @property
    def own_accuracy(self) -> float | None:
        """What the user wants of the integration of this FMU."""
        return self._tolerance

    @property
    def remembers_relations(self) -> bool:
        """Whether it may know on which side of zero its indicators were, and that is not saved with it."""
        return self._read_interface().restores_by_states and self._fmu.indicators > 0

    def continuous_inputs(self) -> list[str]:
        """Names of those that change between events."""
        return self._continuous_inputs()

    @property
    def model(self) -> Any:
        """Its instance in continuous-time mode, a `FmuModel`."""
        return self._fmu

    def read_ports(self, names: Sequence[str]) -> Sequence[Any]:
        """Values at the point that the instance has been moved to."""
        if self.system.is_lazy(self.name):
            self._fmu.compute_all()
        found = self._access(tuple(names)).read()
        return found.tolist() if isinstance(found, np.ndarray) else found

    def write_ports(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Write continuous inputs."""
        self._access(tuple(names)).write(values)

    def changed_ports(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Those of discrete inputs that have to go through event mode."""
        return self._changed(given)

    @property
    def written(self) -> dict[str, Any]:
        """What discrete inputs have been given: the same is not given again."""
        return {name: value for name, value in self._written.items() if not isinstance(value, bytes)}

    @written.setter
    def written(self, values: Mapping[str, Any]) -> None:
        self._written = dict(values)

    def has_ticked(self, name: str) -> bool:
        """Whether a clock has ticked at this instant."""
        return name in self._clocks.ticked

    def leave_event_mode(self, time: float) -> Any:
        """From its first event mode to continuous-time mode, see `FmuModel.leave_event_mode`."""
        return self._leave_event_mode(time)

    def begin_instant(self) -> None:
        """Before event mode: what ticks from now on is new."""
        self._clocks.fired = set()
        self._earlier, self._clocks.ticked = self._clocks.ticked, set()

    def end_instant(self) -> None:
        """After event mode: what has ticked since the step began is told to the others at its end."""
        self._clocks.ticked |= self._earlier

    def write_discrete(self, given: Mapping[str, Any]) -> None:
        """In event mode: write inputs, let clocks tick."""
        if given:
            self._write_discrete(given)

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables: real inputs are held from now on, all others are written in event mode."""
        if not self.has_begun:
            super().set(names, values)
        else:
            self.system.set(self, dict(zip(names, values, strict=True)))

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Let continuous inputs run along lines over the next step, per s; others stay as they are."""
        self.system.follow(self.name, dict(zip(names, slopes, strict=True)))

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Read variables at the present time."""
        if self.has_begun:
            self.system.settle()
        return super().get(names)

    def _read(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        if self.system.inner_inputs(self.name).isdisjoint(names):
            return super()._read(names)
        known = self.system.inner_values(self.name)
        others = [name for name in names if name not in known]
        found = dict(zip(others, super()._read(others), strict=True)) if others else {}
        values = [known[name] if name in known else found[name] for name in names]
        return np.array(values) if all(isinstance(value, float) for value in values) else values

    def hidden_feedthrough(
        self, outputs: Sequence[str], inputs: Mapping[str, float], known: Mapping[str, frozenset[str]]
    ) -> dict[str, frozenset[str]]:
        """What outputs follow beyond what is known: each input is moved a little.

        Parameters
        ----------
        outputs : sequence of str
            Real ones.
        inputs : mapping of str to float
            Continuous ones, with their values.
        known : mapping of str to frozenset of str
        """
        wanted = [y for y in outputs if inputs.keys() - known[y]]
        if not wanted:
            return {}
        before = np.array(self.read_ports(wanted), dtype=float)
        found: dict[str, set[str]] = {}
        for name, value in inputs.items():
            self.write_ports([name], [value + max(1.0, abs(value)) * 2.0**-10])
            after = np.array(self.read_ports(wanted), dtype=float)
            self.write_ports([name], [value])
            for j in np.flatnonzero((after != before) & np.isfinite(after)):
                if name not in known[wanted[j]]:
                    found.setdefault(wanted[j], set()).add(name)
        return {output: frozenset(needs) for output, needs in found.items()}

    def shows_states_late(self, outputs: Sequence[str]) -> bool:
        """Whether outputs follow the states only when the derivatives have been asked for."""
        return bool(outputs) and bool(self._fmu.shows_states_late(self._access(tuple(outputs)).read))

    def access(self, names: Sequence[str], verb: str) -> Access:
        """How compiled code reads ("Get") or writes ("Set") variables."""
        return Access(self._instance, names, self._read_interface().elements, verb)

    def note(self, time: float) -> None:
        """Keep the present values."""
        self._note(time)

    def begin_step(self) -> None:
        """A communication step begins."""
        self._clocks.begin_step()

    def step(self, time: float, size: float) -> float:
        """Take the whole system to ``time + size``."""
        self.exit_initialization()
        return self.system.step(time, size)

    def _advance(self, advance: Callable[[], None], time: float) -> float:
        return self.system.advance(advance, time)

    def _call(self) -> CalledModelExchange:
        return self.system.call()

    def _move(self, move: Callable[[], None]) -> None:
        self.system.guard(move)

    def _members(self) -> Sequence[JointMember]:
        return list(self.system.members.values())

    def _key(self, name: str) -> Any:
        return self.name, name

    def _addresses(self) -> Mapping[str, int]:
        return self.system.inner_addresses(self.name)

    def check_runs(self) -> None:
        """Raise an error when the instance has failed."""
        self._check_steps(modes.RUNNING)

    def save(self) -> Any:
        """The state of the FMU; of the last member also that of the system."""
        if not self.has_begun:
            return super().save()
        by_states = self._read_interface().restores_by_states
        fmu = None if by_states else InstanceParticipant.save(self)
        system = self.system.to_bytes() if self.system.is_last(self.name) else b""
        return _Saved(fmu, system, self._clocks.save())

    def restore(self, token: Any) -> None:
        """Go back to a state that this instance saved; the system goes with the last member."""
        if not isinstance(token, _Saved):
            super().restore(token)
            self.system.end()
            return
        self.exit_initialization()
        if token.fmu is not None:
            InstanceParticipant.restore(self, token.fmu)
        if token.clocks is not None:
            self._clocks.restore(token.clocks)
        if token.system:
            self.system.go_back(token.system)

    def forget_relations(self) -> None:
        """After a restored state: let the FMU see anew on which side of zero its indicators are."""
        self._guard(self._instance.enter_event_mode)
        self._leave_event_mode(self.system.solver.time)

    def serialize(self, token: Any) -> bytes:
        """A saved state as bytes."""
        system: bytes = token.system
        return len(system).to_bytes(8, "little") + system + InstanceParticipant.serialize(self, token.fmu)

    def deserialize(self, data: bytes) -> Any:
        """The token that `serialize` was given, for this or another instance of the same FMU."""
        end = 8 + int.from_bytes(data[:8], "little")
        return _Saved(InstanceParticipant.deserialize(self, data[end:]), data[8:end])

    def failed(self, error: Exception, what: str = "") -> cosim.CosimError:
        """The error to raise for a failed call."""
        return self._failure(error, what)

    def wish_to_stop(self) -> str:
        """Why it has asked for the end of the run, "" when it has not."""
        return self._why_it_stops() if self._fmu.asked_to_stop else ""

    def close(self) -> None:
        """Terminate, free, unload; the system ends with the first."""
        self.system.end()
        super().close()
