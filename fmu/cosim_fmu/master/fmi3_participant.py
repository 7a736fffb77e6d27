"""An FMU for FMI 3.0 Co-Simulation as a participant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_fmu.master import fmu_log
from cosim_fmu.master.fmi3_access import Fmi3Access
from cosim_fmu.master.fmu_interface import FmuInterface
from cosim_fmu.master.fmu_participant import FmuParticipant
from cosim_fmu.master.native_calls import NativeCalls
from cosim_fmu.master.stop_requested import StopRequested
from cosim_fmu.master.unpacked_fmu import unpack_fmu

MOST_EVENT_ITERATIONS = 100


class Fmi3Participant(FmuParticipant):
    """A Co-Simulation FMU (FMI 3.0), bound with fmpy.

    As `FmuParticipant`. An FMU with an event mode is stepped with it: when it asks for it at the end of a
    step, its discrete states are updated there, until nothing changes. It may return early. Elements of
    arrays are variables of their own, ``matrix[1,2]``, counted from 1. Clocks, intermediate updates and
    structural parameters other than their start values are not there.
    """

    _names: Mapping[str, str] = {
        "get_state": "fmi3GetFMUState",
        "set_state": "fmi3SetFMUState",
        "serialize": "fmi3SerializeFMUState",
        "deserialize": "fmi3DeserializeFMUState",
    }

    _methods: Mapping[str, str] = {
        "get": "getFMUState",
        "set": "setFMUState",
        "serialize": "serializeFMUState",
        "deserialize": "deserializeFMUState",
        "free": "freeFMUState",
    }

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Unpack, load, instantiate and enter initialization mode at `start` (s)."""
        interface = self._begin(values)
        try:
            self._instantiate(interface)
            if values:
                self.set(list(values), list(values.values()))
            self._call(
                "fmi3EnterInitializationMode",
                lambda: self._slave.enterInitializationMode(tolerance, start, stop),
            )
            self._mode = "initializing"
        except BaseException:
            self.close()
            raise

    def exit_initialization(self) -> None:
        """End initialization mode, and the event mode that follows where there is one."""
        if self._mode == "initializing":
            self._call("fmi3ExitInitializationMode", self._slave.exitInitializationMode)
            self._mode = "stepping"
            if self._read_interface().event_mode:
                self._update_discrete_states()

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables; discrete ones in event mode, where the FMU has one."""
        interface = self._read_interface()
        if self._mode == "stepping" and interface.event_mode:
            discrete = interface.description.extra["discrete"]
            if any(name in discrete for name in names):
                self._call("fmi3EnterEventMode", self._slave.enterEventMode)
                try:
                    super().set(names, values)
                finally:
                    if self._mode == "stepping":  # else the call has failed, and no other may follow
                        self._update_discrete_states()
                return
        super().set(names, values)

    def step(self, time: float, size: float) -> float:
        """Call fmi3DoStep; an early return gives the time that was reached.

        Raises
        ------
        StopRequested
            When the FMU wants the simulation to end.
        """
        self.exit_initialization()
        if self._mode != "stepping":
            raise self._error(f"cannot step: the instance is {self._mode}")
        self._log.begin()
        try:
            event, terminate, early, reached = self._slave.doStep(time, self._size(size), True)
        except Exception as error:
            raise self._failure(error) from error
        return self._after(event, terminate, early, reached, time, size)

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """As in FMI 2.0; arrays are left to Python."""
        elements = self._read_interface().elements
        if any(elements[name].size > 1 or elements[name].type != "Float64" for name in (*inputs, *reads)):
            return None
        self._flags = flags
        return self._addresses(("fmi3SetFloat64", "fmi3DoStep", "fmi3GetFloat64"), inputs, reads)

    def after_native_step(self, status: int, time: float, size: float) -> float:
        """What `step` would have done about a status that is not OK, or about what the FMU asked for."""
        if status > 1:
            raise self._native_failure("fmi3DoStep", status)
        event, terminate, early = (bool(flag.tobytes()[0]) for flag in self._flags[:3])
        reached = float(self._flags[3])
        return self._after(event, terminate, early, reached, time, size)

    def after_native_access(self, verb: str, status: int) -> None:
        """Raise what `set` or `get` would have raised."""
        raise self._native_failure(f"fmi3{verb}Float64", status)

    def _after(
        self, event: bool, terminate: bool, early: bool, reached: float, time: float, size: float
    ) -> float:
        if terminate:
            where = reached if time <= reached <= time + size else time + size
            raise StopRequested(where, self._log.text(1) or "the FMU asked to stop")
        if event and self._read_interface().event_mode:
            self._call("fmi3EnterEventMode", self._slave.enterEventMode)
            self._update_discrete_states()
        return float(reached) if early else time + size

    def _update_discrete_states(self) -> None:
        """From event mode to step mode: update until nothing changes."""
        for _ in range(MOST_EVENT_ITERATIONS):
            again, terminate, *_ = self._call("fmi3UpdateDiscreteStates", self._slave.updateDiscreteStates)
            if terminate:
                raise StopRequested(float("nan"), self._log.text(1) or "the FMU asked to stop")
            if not again:
                self._call("fmi3EnterStepMode", self._slave.enterStepMode)
                return
        self._mode = "failed"
        raise self._error(
            f"its discrete states still change after {MOST_EVENT_ITERATIONS} updates at one instant",
            "fmi3UpdateDiscreteStates",
        )

    def _instantiate(self, interface: FmuInterface) -> None:
        self._unpacked = unpack_fmu(self.path)
        folder = self._unpacked.folder
        slave = self._load(folder, interface)
        self._slave, self._mode = slave, "instantiated"
        log = self._log

        def write(environment: Any, status: int, category: bytes | None, message: bytes | None) -> None:
            log.add(status, (message or b"").decode("utf-8", "replace"))

        try:
            self._create(slave, write)
        except Exception as error:
            if isinstance(error, cosim.FmuError):
                raise
            raise self._error("the FMU refused to be instantiated", "fmi3Instantiate") from error
        categories = fmu_log.serious_categories(interface.log_categories)
        if categories:
            with suppress(Exception):
                slave.setDebugLogging(True, categories)

    def _create(self, slave: Any, log: Any) -> None:
        slave.instantiate(
            loggingOn=True,
            eventModeUsed=self._read_interface().event_mode,
            earlyReturnAllowed=True,
            logMessage=log,
        )

    def _free_instance(self, slave: Any) -> None:
        slave.fmi3FreeInstance(slave.component)

    def _make_access(self, names: tuple[str, ...]) -> Any:
        return Fmi3Access(self._slave, names, self._read_interface().elements)
