"""Instances of FMUs for FMI 3.0 that are looked at."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

from cosim_fmu.validate.failed_call_error import FailedCallError
from cosim_fmu.validate.foreign_instance import DOUBLE, POINTER, REFERENCE, SIZE, WARNING, ForeignInstance
from cosim_fmu.validate.model_exchange import MOST_EVENT_ITERATIONS, ModelExchange

BOOL = ctypes.c_bool
LOG = ctypes.CFUNCTYPE(None, POINTER, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


class ForeignSlave3(ForeignInstance):
    """Co-Simulation, FMI 3.0; with event mode where it has one, early returns are not allowed."""

    version: ClassVar[int] = 3
    c_types: ClassVar[dict[str, Any]] = {
        "Float64": DOUBLE,
        "Float32": ctypes.c_float,
        **{f"Int{bits}": getattr(ctypes, f"c_int{bits}") for bits in (8, 16, 32, 64)},
        **{f"UInt{bits}": getattr(ctypes, f"c_uint{bits}") for bits in (8, 16, 32, 64)},
        "Boolean": BOOL,
    }
    state_functions: ClassVar[dict[str, str]] = {
        "get": "GetFMUState",
        "set": "SetFMUState",
        "free": "FreeFMUState",
        "size": "SerializedFMUStateSize",
        "serialize": "SerializeFMUState",
        "deserialize": "DeserializeFMUState",
    }

    def instantiate(self, name: bytes) -> int | None:
        """Call fmi3InstantiateCoSimulation."""
        events = BOOL(self.fmu.job["event_mode"])
        return self._made("fmi3InstantiateCoSimulation", name, (events, BOOL(False), None, SIZE(0)), (None,))

    def _made(
        self, function: str, name: bytes, before: tuple[Any, ...], after: tuple[Any, ...]
    ) -> int | None:
        self._callback = LOG(lambda environment, *rest: self._log(environment, b"", *rest))
        instantiate = getattr(self.fmu.library, function)
        instantiate.restype = POINTER
        texts = (self.fmu.job["guid"].encode(), self.fmu.job["resources"].encode())
        made: int | None = instantiate(
            name, *texts, BOOL(False), BOOL(True), *before, None, self._callback, *after
        )
        return made

    def initialize(self) -> None:
        """Enter and leave initialization mode."""
        tolerance = self.fmu.job["tolerance"]
        known = BOOL(tolerance is not None), DOUBLE(tolerance or 0.0)
        self.need("EnterInitializationMode", *known, DOUBLE(self.fmu.start), BOOL(False), DOUBLE(0.0))
        self.need("ExitInitializationMode")

    def enter_run(self) -> None:
        """From event mode, in which it begins if it has one, to step mode."""
        if self.fmu.job["event_mode"]:
            self._leave_event_mode()

    def do_step(self, time: float, size: float) -> int:
        """Status of fmi3DoStep."""
        event, terminate, early, last = BOOL(), BOOL(), BOOL(), DOUBLE()
        flags = (ctypes.byref(flag) for flag in (event, terminate, early, last))
        status = self.call("DoStep", DOUBLE(time), DOUBLE(size), BOOL(True), *flags)
        if status <= WARNING and event.value and not terminate.value and self.fmu.job["event_mode"]:
            self.need("EnterEventMode")
            self._leave_event_mode()
        return status

    def _leave_event_mode(self) -> None:
        for _ in range(MOST_EVENT_ITERATIONS):
            again, terminate, _ = self.update()
            if terminate:
                return
            if not again:
                self.need("EnterStepMode")
                return
        raise FailedCallError(f"discrete states still change after {MOST_EVENT_ITERATIONS} updates")

    def update(self) -> tuple[bool, bool, float]:
        """One update of the discrete states."""
        again, terminate, nominals, values, defined = (BOOL() for _ in range(5))
        following = DOUBLE()
        flags = (ctypes.byref(flag) for flag in (again, terminate, nominals, values, defined, following))
        self.need("UpdateDiscreteStates", *flags)
        return again.value, terminate.value, following.value if defined.value else float("inf")

    def exchange(self, function: str, references: list[int], data: Any) -> int:
        """Call a function that gets or sets variables."""
        count = len(references)
        return self.call(function, (REFERENCE * count)(*references), SIZE(count), data, SIZE(len(data)))


class ForeignModel3(ModelExchange, ForeignSlave3):
    """Model Exchange, FMI 3.0."""

    rates_function: ClassVar[str] = "GetContinuousStateDerivatives"
    update = ForeignSlave3.update

    def instantiate(self, name: bytes) -> int | None:
        """Call fmi3InstantiateModelExchange."""
        return self._made("fmi3InstantiateModelExchange", name, (), ())

    def completed_step(self) -> bool:
        """Tell that an integrator step has ended; whether it wants an event."""
        event, stop = BOOL(), BOOL()
        self.need("CompletedIntegratorStep", BOOL(True), ctypes.byref(event), ctypes.byref(stop))
        return event.value
