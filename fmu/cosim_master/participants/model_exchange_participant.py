"""An FMU for Model Exchange as a participant, with an integrator of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import Element, FmuInterface
from cosim_fmi.instances import FmuState
from cosim_fmi.variables.variable_access import Access
from cosim_fmu.abilities import NativeCalls
from cosim_master.algorithms.joint import check_options
from cosim_master.joint.joint_system import JointSystem
from cosim_master.model_exchange.called_simulator import MemberCalls
from cosim_master.model_exchange.directional_derivatives import DirectionalDerivatives
from cosim_master.model_exchange.evaluation import Evaluation
from cosim_master.model_exchange.fmu_model import FmuModel
from cosim_master.model_exchange.model_exchange_solver import INTEGRATOR
from cosim_master.participants.instance_participant import InstanceParticipant


class _Saved(NamedTuple):
    """A saved state.

    Attributes
    ----------
    fmu : FmuState or None
        None if time, continuous states and inputs are the whole state of the FMU.
    system : bytes or None
        The state of the joint system, with its last member; empty for other members, None before it begins.
    clocks : object
        Of `FmuClocks.save`.
    """

    fmu: FmuState | None
    system: bytes | None
    clocks: Any = None


class ModelExchangeParticipant(InstanceParticipant):
    """A Model Exchange FMU of FMI 1.0, 2.0 or 3.0: its derivatives are integrated by a `Simulator`.

    Its continuous states are those of a system (`model_exchange_system`), its event indicators witnesses
    that are located, its time events scheduled; in event mode it is updated until nothing changes, and it is
    told when an integrator step has ended. Continuous inputs are held between communication points, or run
    along their slopes; other inputs are written in event mode. An event that is due at a communication point
    belongs to the step that ends there. The numbers of states and event indicators are read from an
    instance of FMI 3.0, since structural parameters change them.

    Absolute tolerances are multiples of the nominal values of the states, which are read again when the FMU
    says that they have changed.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        Name of the instance; by default the file's name.
    integrator : str
        Id of an integrator plugin.
    accuracy : float, optional
        The accuracy of the integration; by default the tolerance of the co-simulation, or 1e-6.
    **options
        For the integrator: ``maximum_step`` …

    Attributes
    ----------
    integrator, accuracy, integrator_options
        As given.
    """

    _interface_wanted: ClassVar[str] = "ModelExchange"

    def __init__(
        self,
        path: Any,
        name: str | None = None,
        integrator: str = INTEGRATOR,
        accuracy: float | None = None,
        wine: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(path, name, wine=wine)
        check_options(integrator, options | ({} if accuracy is None else {"accuracy": accuracy}))
        self.integrator, self.accuracy, self.integrator_options = integrator, accuracy, options
        self.system = JointSystem(integrator, accuracy, options)
        self.system.members[self.name] = self
        self.tolerance: float | None = None
        self.start = math.nan
        self.model: FmuModel | None = None
        self._set_before_start: dict[str, Any] = {}
        self._calls: MemberCalls | None = None
        self.derivatives: DirectionalDerivatives | None = None
        self.tangents: Any = None

    @classmethod
    def joined(cls, original: Any, name: str, system: JointSystem) -> ModelExchangeParticipant:
        """A member of a joint system, in the place of a participant with the same FMU."""
        participant = cls(original.path, name, wine=getattr(original, "_wine", False))
        vars(participant).update(system=system, _log_file=original._log_file)
        if isinstance(original, ModelExchangeParticipant):
            participant._interface = original._interface
        return participant

    def refine(self, refined: bool) -> None:
        """From the next run on, integrate the FMU with a tenth of the accuracy, or as given."""
        self.system.is_refined = refined

    @property
    def simulator(self) -> cosim.Simulator:
        """The simulator in use; `SimulationError` before initialization ends and after `close`."""
        return self.system.solver.simulator

    @property
    def events(self) -> list[cosim.EventRecord]:
        """The events since `initialize`, without those that were rolled back.

        The end of an integrator step is an event only if the FMU then asks for one.
        """
        return self.system.events_of(self.name)

    @property
    def warnings(self) -> list[str]:
        """The findings about event indicators."""
        return self.system.findings_of(self.name)

    def describe(self) -> ParticipantDescription:
        """The description in the file; a member of a joint system offers no directional derivatives."""
        description = super().describe()
        is_alone = len(self.system.members) == 1
        return description if is_alone else replace(description, has_derivatives=False)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Unpack, load, instantiate and enter initialization mode at `start` (s)."""
        self.tolerance, self.start = tolerance, start
        self.model = self._calls = None
        self._set_before_start = {}
        super().initialize(start, stop, values, tolerance)

    def _enter_stepped_mode(self) -> None:
        """Begin the simulation when all members have reached event mode."""
        interface, instance = self.read_interface(), self._instance
        # FMI 1.0 and 2.0 have no functions for the numbers: they are in the model description
        states, indicators = instance.sizes() or (interface.states, interface.indicators)
        self._guard(self._clocks.start_schedule, self.start)
        inputs = self.system.outer_inputs(self.name)
        access = Access(instance, inputs, interface.elements, "Set") if inputs else None
        self.model = FmuModel(
            *(instance, states, indicators, access, self._event_inputs),
            interface.needs_completed_steps,
        )
        self.model.block.report_calls()
        self.system.start_if_complete()

    def first_values(self) -> dict[str, float]:
        """Continuous inputs as they were set, or else their start values; an FMU may refuse to be read."""
        variables = self.describe().variables
        return {
            n: float(self._set_before_start.get(n, variables[n].start or 0.0))
            for n in self.continuous_inputs()
        }

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables: real inputs are held from now on, all others are written in event mode."""
        value_of = dict(zip(names, values, strict=True))
        if self.system.has_begun:
            self.system.set(self, value_of)
        else:
            super().set(names, values)
            self._set_before_start.update(value_of)

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Let continuous inputs run along lines over the next step, per s; other inputs stay as they are."""
        self.system.follow(self.name, dict(zip(names, slopes, strict=True)))

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Read variables at the present time."""
        if self.system.has_begun:
            self.system.move_to_point()
        return super().get(names)

    def _read(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        inner_values = self.system.inner_values(self.name)
        own_names = [name for name in names if name not in inner_values]
        if len(own_names) == len(names):
            return super()._read(names)
        values_read = dict(zip(own_names, super()._read(own_names), strict=True)) if own_names else {}
        values = [inner_values[name] if name in inner_values else values_read[name] for name in names]
        return np.array(values) if all(isinstance(value, float) for value in values) else values

    def step(self, time: float, size: float) -> float:
        """Integrate to ``time + size``, through all events on the way; the first of several steps for all.

        Raises
        ------
        StopRequested
            When an FMU wants the simulation to end.
        """
        self.exit_initialization()
        return self.system.step(time, size)

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Addresses of functions that write, advance and read.

        None if there are clocks, which Python handles; it also takes over at events and failures.

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            Not used.

        Raises
        ------
        ModelError
            The reason why Python is needed at the end of each integrator step.
        """
        if self.system.before_first_step is not None:
            raise cosim.ModelError.of("derivatives", "derivatives are computed in Python")
        self.exit_initialization()
        members = self.system.members.values()
        if any(member.records_inner_steps for member in members):
            raise cosim.ModelError.of("inside", "ends of integrator steps are recorded in Python")
        if self.simulator.final_time < math.inf:
            raise cosim.ModelError.of("final_time", "it ends in Python")
        if any(member.has_clocks for member in members):
            return None
        called, inner_addresses = self.system.call(), self.system.inner_addresses(self.name)
        read_from_fmu = [name for name in reads if name not in inner_addresses]
        places = [  # negative ones are inner values
            read_from_fmu.index(name) if name not in inner_addresses else -1 - inner_addresses[name]
            for name in reads
        ]
        calls = self._calls = MemberCalls(
            called,
            {name: self._place(name) for name in inputs},
            lambda: self._event_inputs.written,
            self.access(read_from_fmu, "Get"),
            places,
        )
        return calls.calls(**self._state_calls(), leave=self.system.leave)

    def couple_tangents(self, directions: int, own: Mapping[int, str]) -> None:
        """Let the next runs carry this number of tangents, as `CoupledTangents`; 0 for none.

        They are made of directional derivatives of the FMU by states and inputs. `own`, the parameters of the
        directions, is empty: in these modes an FMU gives no derivatives by parameters.
        """
        self.tangents = self.derivatives = None
        self.system.before_first_step = partial(self._start_tangents, directions) if directions else None

    def _start_tangents(self, directions: int, evaluation: Evaluation, simulator: cosim.Simulator) -> None:
        interface = self.read_interface()
        states, inputs = (
            [interface.elements[name] for name in names]
            for names in (interface.description.states, self.continuous_inputs())
        )
        self.derivatives = DirectionalDerivatives(
            self._instance, interface.state_derivatives, states, inputs, evaluation, self.start
        )
        self.tangents = simulator.couple_tangents(directions, {})

    def path_of(self, name: str) -> str:
        """The path of a continuous input in the system that is integrated."""
        return self.system.solver.path((self.name, name))

    def continuous_outputs(self, names: Sequence[str]) -> dict[str, Element]:
        """The variables among `names` that change between events."""
        description, elements = self.describe(), self.read_interface().elements
        return {
            name: elements[name]
            for name in names
            if description.variables[name].type == "real" and name not in description.discrete
        }

    @property
    def has_rates(self) -> bool:
        """Whether the description names each state and its derivative."""
        interface = self.read_interface()
        return len(interface.description.states) == len(interface.state_derivatives) == interface.states

    def _place(self, name: str) -> tuple[Any, str | None]:
        """An input among those of the solver, and its path; None where it is written in event mode."""
        solver, key = self.system.solver, (self.name, name)
        return key, solver.path(key) if key in solver.known else None

    def _state_calls(self) -> dict[str, Any]:
        """The functions that save and restore states, of C or of Python (`MemberCalls.calls`)."""
        if not all(member.is_kept_outside for member in self.system.members.values()):
            return {"kept": None, "remember": self._remembered, "forget": self._forget}
        if self.read_interface().is_restored_by_states:
            return self.system.state_calls(self.name, None)
        functions = self._states.native_functions(modes.CONTINUOUS) if self.describe().can_restore else None
        if functions is None:
            return {"kept": None, "remember": self._remembered, "forget": self._forget}
        save, restore, free, state = functions
        kept = save, restore, free, self._instance.component, state
        return {**self.system.state_calls(self.name, kept), "after_state": self._after_state}

    @property
    def is_kept_outside(self) -> bool:
        """Whether compiled code can restore a state of it."""
        if self.read_interface().is_restored_by_states:
            return not self.remembers_relations
        return self.describe().can_restore

    def _remembered(self) -> Any:
        token = self.save()
        self.resume_native()
        return token

    def _forget(self, token: Any) -> None:
        self.restore(token)
        self.resume_native()

    def resume_native(self) -> None:
        """Let compiled code continue from the present state, if it steps the FMU."""
        if self.system.solver.called is not None:
            self.system.call()

    def finish_native_step(self, status: int, time: float, size: float) -> float:
        """Finish a step that compiled code has left to Python."""
        called = self.system.solver.called
        if called is None or not called.has_begun:
            return self.step(time, size)
        return self.system.advance(lambda: called.end_step(time + size), time)

    def check_native_access(self, verb: str, status: int) -> None:
        """Raise what `get` would have raised; inputs are written once more."""
        called, calls = self.system.solver.called, self._calls
        if verb == "Get" and called is not None and calls is not None:
            self.system.guard(called.check_settled, "setting the time")
            self._guard(calls.check)

    def save(self) -> Any:
        """The state of the FMU; of the last member also that of the system."""
        by_states = self.read_interface().is_restored_by_states
        if not self.system.has_begun:
            if by_states:
                raise self._error("has no state to be saved before its initialization has ended")
            return _Saved(super().save(), None)
        fmu = None if by_states else super().save()
        return _Saved(fmu, self.system.to_bytes(self.name), self._clocks.save())

    def restore(self, token: Any) -> None:
        """Restore a state that this instance saved; the last member restores the system."""
        if not isinstance(token, _Saved):
            raise self._error("this state was not saved by this instance")
        if token.system is not None:
            self.exit_initialization()
        if token.fmu is not None:
            super().restore(token.fmu)
        if token.clocks is not None:
            self._clocks.restore(token.clocks)
        if token.system is None:
            self.model = None
            self.system.end()
        elif token.system:
            self.system.restore(token.system)

    def serialize(self, token: Any) -> bytes:
        """The states of the system and of the FMU as bytes."""
        system = token.system or b""
        return len(system).to_bytes(8, "little") + system + super().serialize(token.fmu)

    def deserialize(self, data: bytes) -> Any:
        """The token that `serialize` was given, for this or another instance of the same FMU."""
        end = 8 + int.from_bytes(data[:8], "little")
        fmu = super().deserialize(data[end:])
        return _Saved(fmu, None if fmu.initializing else data[8:end])

    def close(self) -> None:
        """Terminate, free, unload; the system ends with the first member that is closed."""
        self.system.end()
        self.model = None
        super().close()

    # for the system

    @property
    def records_inner_steps(self) -> bool:
        """Whether values are wanted where integrator steps end."""
        return bool(self._watched) and self._watched_at == "steps"

    @property
    def has_clocks(self) -> bool:
        """Whether it has clocks, or variables that belong to some."""
        interface = self.read_interface()
        return bool(interface.clocks or interface.clocks_of)

    @property
    def remembers_relations(self) -> bool:
        """Whether it may remember signs of its indicators that are not saved with its state."""
        return (
            self.model is not None
            and self.model.indicators > 0
            and self.read_interface().is_restored_by_states
        )

    def continuous_inputs(self) -> list[str]:
        """Names of the inputs that change between events."""
        description = self.describe()
        discrete = description.discrete | self.read_interface().clocks_of.keys()
        return [
            v.name
            for v in description.variables.values()
            if v.causality == "input" and v.type == "real" and v.name not in discrete
        ]

    def answers(self, outputs: Sequence[str], inputs: Mapping[str, Any]) -> Sequence[Any]:
        """Outputs at the present point where inputs have these values."""
        self._access(tuple(inputs)).write(list(inputs.values()))
        return self.read_ports(outputs)

    def read_ports(self, names: Sequence[str]) -> Sequence[Any]:
        """The values of these variables at the present point."""
        assert self.model is not None
        if self.system.outputs_lag(self.name):
            self.model.compute_all()
        values = self._access(tuple(names)).read()
        return values.tolist() if isinstance(values, np.ndarray) else values

    def outputs_lag(self, outputs: Sequence[str]) -> bool:
        """Whether outputs follow the states only after the derivatives are computed."""
        assert self.model is not None
        return bool(outputs) and self.model.outputs_lag(self._access(tuple(outputs)).read)

    def access(self, names: Sequence[str], verb: str) -> Access:
        """The access by which compiled code reads ("Get") or writes ("Set") variables."""
        return Access(self._instance, names, self.read_interface().elements, verb)

    def changed_ports(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The discrete inputs that have to pass through event mode."""
        self._event_inputs.store_clocked(values)
        return self._event_inputs.changed_values(values)

    @property
    def written(self) -> dict[str, Any]:
        """The values of discrete inputs that were written last; equal ones are not written again."""
        return {
            name: value for name, value in self._event_inputs.written.items() if not isinstance(value, bytes)
        }

    @written.setter
    def written(self, values: Mapping[str, Any]) -> None:
        self._event_inputs.written = dict(values)

    def has_ticked(self, name: str) -> bool:
        """Whether a clock has ticked at this instant."""
        return name in self._clocks.ticked

    def refresh_relations(self) -> None:
        """Let the FMU update the signs of its indicators after a restored state."""
        assert self.model is not None
        self._guard(self._instance.enter_event_mode)
        self._guard(self.model.leave_event_mode, self.system.solver.time)

    def store_values(self, time: float) -> None:
        """Store the present values, if they are recorded."""
        self._store_values(time)
        if self._watched and self._calls is not None:
            self._calls.store_point()

    def start_step(self) -> None:
        """A communication step begins; an error where the instance has failed."""
        self._check_mode(modes.RUNNING)
        self._clocks.start_step()

    def failed(self, error: Exception, function: str = "") -> cosim.CosimError:
        """The error to raise for a failed call."""
        return self._failure(error, function)

    def stop_request(self) -> str:
        """The reason why the FMU has asked for the end of the run; "" if it has not."""
        return self._why_it_stops() if self.model is not None and self.model.stop_requested else ""

    def _create(self, instance: FmuInstance, interface: FmuInterface, logging: bool) -> None:
        self._events = interface.version == "3.0"
        super()._create(instance, interface, logging)
