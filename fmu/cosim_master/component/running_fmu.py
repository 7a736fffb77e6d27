"""The instance of an FMU that runs as a component of a model.

Each event mode has a number, its *epoch*, since the discrete part of an FMU's state changes only there. A
State stores the epoch that it belongs to. If the FMU can save its state, the instance can return to one of
its last epochs (`restore_epoch`); otherwise a State of an earlier epoch cannot be evaluated.
"""

from __future__ import annotations

import ctypes
import itertools
import logging
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_fmi.instances import FmuState
from cosim_fmi.model_exchange.instance_calls import OUTPUTS_LAG
from cosim_fmi.variables.variable_access import Access
from cosim_master.component import calls
from cosim_master.joint.joint_model import JointModel, JointPart
from cosim_master.joint.joint_wiring import JointWiring
from cosim_master.model_exchange.fmu_model import AfterEvent, FmuModel, find_feedthrough, moved_a_little
from cosim_master.model_exchange.model_exchange_system import scales
from cosim_master.participants.instance_participant import InstanceParticipant

log = logging.getLogger("cosim.fmu")
_epochs = itertools.count(secrets.randbits(48))
"""Numbers of event modes: no other process has the same."""


class NotKeptError(cosim.FmuError):
    """An FMU that declares that it saves its state does not do so in continuous-time mode."""


class RunningFmu(InstanceParticipant):
    """An instance in continuous-time mode, and the control block by which compiled code calls it.

    Parameters
    ----------
    path : str
    name : str
    inputs : sequence of str
        Continuous ones, in the order of the control block.
    groups : sequence of sequence of str
        Continuous outputs, in groups that are read together.
    block : ndarray of int
        See `calls`; filled by `start`.
    follows : mapping of str to sequence of str
        For each output the inputs that are written before it is read.
    kept_events : int
        The number of event modes after which the state is stored, if the FMU can save it.
    """

    _interface_wanted: ClassVar[str] = "ModelExchange"

    def __init__(
        self,
        path: Any,
        name: str,
        inputs: Sequence[str],
        groups: Sequence[Sequence[str]],
        block: NDArray[np.int64],
        follows: Mapping[str, Sequence[str]],
        kept_events: int = 0,
    ) -> None:
        super().__init__(path, name)
        self._kept_states: dict[int, FmuState] = {}
        self._kept_table = np.zeros((max(0, kept_events), 2), dtype=np.int64)  # epoch, address of the state
        self._python_epoch = 0  # the epoch of modes and clocks; compiled code may have restored another one
        self.inputs, self.groups, self.block, self.follows = tuple(inputs), groups, block, follows
        self.outputs = tuple(name for group in groups for name in group)
        self._buffers: list[Any] = []
        self._variable_calls: list[Access] = []  # inputs, then groups of outputs
        self.model: Any = None  # FmuModel
        self.system: Any = None  # JointModel

    def start(
        self, time: float, values: Mapping[str, Any], inputs: Sequence[float], tolerance: float | None
    ) -> AfterEvent:
        """Instantiate and initialize at `time`, s."""
        starts = dict(values) | dict(zip(self.inputs, inputs, strict=True))
        settable = self.describe().settable or frozenset()
        self.initialize(time, None, {n: v for n, v in starts.items() if n in settable}, tolerance)
        self._start_point = time, inputs
        self.exit_initialization()
        return self._after_start

    def _enter_stepped_mode(self) -> None:
        interface = self.read_interface()
        sizes = self._instance.sizes() or (interface.states, interface.indicators)
        if sizes != (interface.states, interface.indicators):
            declared = f"{interface.states} states and {interface.indicators} event indicators"
            raise self._error(f"its description has {declared}, the instance {sizes[0]} and {sizes[1]}")
        self._guard(self._clocks.start_schedule, self._start_point[0])
        access = Access(self._instance, self.inputs, interface.elements, "Set") if self.inputs else None
        self.model = FmuModel(
            *(self._instance, *sizes, access, self._event_inputs),
            interface.needs_completed_steps,
        )
        self._after_start: AfterEvent = self._guard(self.model.leave_event_mode, self._start_point[0])
        self._fill_control_block(sizes[1])
        self._check_dependencies()
        if sizes[0] and self.outputs:
            outputs = self._access(self.outputs)
            self.model.block.words[OUTPUTS_LAG] = int(self._guard(self.model.outputs_lag, outputs.read))
            self.model.forget()

    def _fill_control_block(self, indicators: int) -> None:
        """Write the control block."""
        instance, block, interface = self._instance, self.block, self.read_interface()
        library = instance.library
        # this gives the buffers of the model's block their final places
        self.system = JointModel([JointPart(self.name, self.model)], JointWiring((), {}, {}, {}))
        buffers = {
            calls.INPUTS_AT: (ctypes.c_double * max(1, len(self.inputs)))(*self._start_point[1]),
            calls.OUTPUTS_AT: (ctypes.c_double * max(1, len(self.outputs)))(),
        }
        elements = interface.elements
        rows = []  # the inputs that one call writes: each element of an array writes the whole array
        for name in self.inputs:
            reference = elements[name].reference
            array = [n for n in self.inputs if elements[n].size > 1 and elements[n].reference == reference]
            rows.append(array or [name])
        buffers[calls.INPUT_CALLS] = self._call_buffer("Set", rows, self.inputs, buffers[calls.INPUTS_AT])
        buffers[calls.OUTPUT_CALLS] = self._call_buffer(
            "Get", self.groups, self.outputs, buffers[calls.OUTPUTS_AT]
        )
        self._buffers += buffers.values()
        for place, buffer in buffers.items():
            block[place] = ctypes.addressof(buffer)
        block[calls.INPUTS] = len(self.inputs)
        block[calls.ANY_EPOCH_WILL_DO] = int(interface.is_restored_by_states and not indicators)
        self.model.block.report_calls()
        block[calls.INSTANCE] = self.model.block.address
        if not self.read_interface().description.can_restore or block[calls.ANY_EPOCH_WILL_DO]:
            self._kept_table = self._kept_table[:0]
        if len(self._kept_table):
            block[calls.RESTORE] = library.address(instance.state_functions["set"])
            block[calls.KEPT_AT], block[calls.KEPT] = self._kept_table.ctypes.data, len(self._kept_table)
        self.next_epoch()

    def _call_buffer(
        self, verb: str, rows: Sequence[Sequence[str]], names: Sequence[str], values: Any
    ) -> Any:
        """A buffer with the calls that write or read the variables of each row; `values` follow `names`."""
        words = []
        for row in rows:
            access = Access(self._instance, row, self.read_interface().elements, verb)
            self._variable_calls.append(access)
            words += access.words(ctypes.addressof(values) + calls.REAL * names.index(row[0]))
        return (ctypes.c_int64 * max(1, len(words)))(*words)

    def next_epoch(self) -> int:
        """Begin a new epoch after event mode; earlier States become invalid, unless they are stored."""
        self.block[calls.EPOCH] = self._python_epoch = next(_epochs)
        if len(self._kept_table) and not self.model.stop_requested:
            try:
                token = self.save()
            except cosim.FmuError as error:
                raise NotKeptError(str(self.path), f"{error}: give the part kept_events = 0") from error
            token.more = self._clocks.save()
            place = len(self._kept_states)
            if place == len(self._kept_table):  # discard the oldest
                oldest = next(iter(self._kept_states))
                place = int(np.flatnonzero(self._kept_table[:, 0] == oldest)[0])
                self._kept_states.pop(oldest).free()
            self._kept_states[self._python_epoch] = token
            self._kept_table[place] = self._python_epoch, token.saved.pointer.value
        return self.epoch

    def restore_epoch(self, epoch: int) -> bool:
        """Restore the state of the instance after an event mode. Returns whether that is possible.

        If compiled code has restored it already, only modes and clocks are restored.
        """
        if epoch == self._python_epoch and epoch == self.epoch:
            return True
        if self.block[calls.ANY_EPOCH_WILL_DO]:
            return True
        token = self._kept_states.get(epoch)
        if token is None:
            return False
        if epoch != self.epoch:
            self.restore(token)
        self._instance.mode = token.saved.mode
        self._clocks.restore(token.more)
        self.model.stop_requested = False
        self.model.forget()
        self.block[calls.EPOCH], self._python_epoch = epoch, epoch
        return True

    @property
    def epoch(self) -> int:
        """The number of the last event mode."""
        return int(self.block[calls.EPOCH])

    def handle_event(
        self, time: float, states: Sequence[float], inputs: Sequence[float], discrete: Mapping[str, float]
    ) -> AfterEvent:
        """Event mode, with discrete inputs that have changed; see `JointModel.handle_event`."""
        after: AfterEvent = self._guard(self.system.handle_event, time, states, inputs, discrete)
        self.next_epoch()
        return after

    def scales(self) -> tuple[float, ...]:
        """The nominal sizes in which the model stores the states."""
        sizes: tuple[float, ...] = self._guard(scales, self.model)
        return sizes

    def explain_failure(self) -> Exception | None:
        """The error of the last evaluation, or of a value that is not defined, as an error of this FMU."""
        if self.model is None:
            return None
        reason = self.model.block.failure(self._variable_calls)
        return None if reason is None else self._failure(reason)

    def stop_request(self) -> cosim.EventStatus | None:
        """The status that ends the run if the FMU has asked for its end."""
        if not self.model.stop_requested:
            return None
        return cosim.EventStatus.reached_termination(self._why_it_stops())

    def _check_dependencies(self) -> None:
        """Refuse an FMU with direct feedthrough that its description does not declare.

        It would be evaluated in the wrong order, with old values.
        """
        if not self.inputs or not self.outputs:
            return
        inputs, outputs = self._access(self.inputs), self._access(self.outputs)

        def answers(values: Mapping[str, float]) -> list[float]:
            inputs.write(list(values.values()))
            return [float(value) for value in outputs.read()]

        first = dict(zip(self.inputs, map(float, self._start_point[1]), strict=True))
        dependencies = find_feedthrough(answers, self.outputs, first, moved_a_little)
        answers(first)
        hidden = {
            y: [u for u in first if u in needs - {*self.follows[y]}] for y, needs in dependencies.items()
        }
        listed = ", ".join(f"{y} = {needs}" for y, needs in hidden.items() if needs).replace("'", '"')
        if listed:
            raise self._error(
                "outputs depend on inputs that the model description does not list as dependencies: "
                f"give the part feedthrough = {{ {listed} }}"
            )

    def step(self, time: float, size: float) -> float:
        """Raise an error: the integrator of the model takes the steps."""
        raise self._error("is a part of a model, whose integrator takes the steps")

    def close(self) -> None:
        """Terminate, free, unload. An error of that is only logged, since the results are complete."""
        self.block[calls.INSTANCE] = self.block[calls.KEPT] = 0
        self._kept_states.clear()
        self.model = self.system = None
        super().close()
        if error := self.close_error():
            log.warning("it did not end as it should: %s", error)
