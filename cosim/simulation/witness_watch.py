"""What has to be remembered of witnesses from one step to the next, and what is wrong with some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cosim.contracts.dense_output import DenseOutput
from cosim.errors import SimulationError
from cosim.simulation.agenda import DOUBT, EXPECTED, FIRED, GUARD, LEVEL, RATE, REPEATS, VALUE, Agenda, Entry
from cosim.simulation.event_log import EventRecord, Finding
from cosim.simulation.hold import Hold, hold_of, is_switched_over, pack_holds, unpack_holds
from cosim.simulation.isolation import Isolation
from cosim.simulation.sliding_field import PUSHED, SWITCHED
from cosim.simulation.sliding_system import SlidingSystem
from cosim.simulation.witness import BOTH, FALLING, RISING, Located
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 10.0  # windows: events of one witness closer than that repeat each other
MOST_REPEATS = 10  # that many in a row are chattering, or pile up at an instant
LEAVING = -1.0  # in place of the number of repetitions: its handlers run because it is let go
POLICIES = ("hold", "report", "stop")


class WitnessWatch:
    """Keeps the memory of all witnesses, which lies in the State.

    A triggered event ends its step just past the zero. When its handler turns the witness round there, the
    value at which that happened counts as zero until the witness has come out on the other side: so a ball
    whose flight is too short to leave the floor hits it again, and nothing is taken for a crossing that is
    none.

    Parameters
    ----------
    system : System
    agenda : Agenda
    policy : str
        What to do about a witness whose events do not end: "stop", "report" or "hold".
    report : callable
        Gets each `Finding`.
    """

    def __init__(
        self, system: System, agenda: Agenda, policy: str, report: Callable[[Finding], None]
    ) -> None:
        self.system, self.agenda, self.policy, self.report = system, agenda, policy, report
        self.isolation = Isolation(system, agenda.witnesses)
        self._triggered = [entry for entry in agenda.entries if entry.handler.witness is not None]
        self._held_bytes = b""
        self._sliding: SlidingSystem | None = None

    def start(self, state: State) -> None:
        """At the beginning of a run: what stands on the wrong side already is reported."""
        self.note(state)
        pairs = zip(self.agenda.witnesses, self.isolation.values(state), strict=True)
        for i, (witness, value) in enumerate(pairs):
            wrong = (witness.direction == FALLING and value < 0.0) or (
                witness.direction == RISING and value > 0.0
            )
            if wrong and not witness.is_condition:
                word, back = ("fall", "risen") if witness.direction == FALLING else ("rise", "fallen")
                text = f"is {value:.6g} at the start: it cannot {word} through zero before it has {back}"
                self._tell(state, "wrong side", i, text)

    def note(self, state: State) -> None:
        """At the end of a step: what is written to the State from here on is a jump from these values."""
        memory, sliding = self.agenda.memory(state), self.sliding(state)
        memory[:, VALUE] = self.isolation.values(state)
        if sliding is not None:
            held = [hold.witness for hold in sliding.holds]
            memory[held, RATE] = self.isolation.rates(state)[held]

    def jumps(self, state: State) -> Located | None:
        """The witnesses that crossed because somebody wrote to the State since the last step."""
        before, after = self.agenda.memory(state)[:, VALUE].copy(), self.isolation.values(state)
        self.agenda.memory(state)[:, EXPECTED] = np.inf
        self._drop_moved(state, after)
        pairs = enumerate(zip(self.agenda.witnesses, before, after, strict=True))
        crossed = [i for i, (w, a, b) in pairs if w.triggers(a, b)]
        return Located((state.time, state.time), before, after, crossed) if crossed else None

    # holding

    def sliding(self, state: State) -> SlidingSystem | None:
        """The system with the field of the witnesses that are held; None when none is."""
        numbers = self.agenda.holds(state)
        if numbers.tobytes() != self._held_bytes:
            self._held_bytes, holds = numbers.tobytes(), unpack_holds(numbers)
            self._sliding = SlidingSystem(self.system, self.agenda.witnesses, holds) if holds else None
            self.isolation.leave_out([hold.witness for hold in holds])
        return self._sliding

    def release(self, state: State) -> None:
        """Let go of witnesses that nothing presses any more.

        One that leaves on the side for which its variables are not switched fires once more: now, or just
        behind its zero where that is still ahead, so that handlers that look at the side see the right one.
        """
        sliding = self.sliding(state)
        if sliding is None:
            return
        sliding.realize(state)
        values, memory = self.isolation.values(state), self.agenda.memory(state)
        kept, leaving = [], []
        for hold, strength in zip(sliding.holds, sliding.multipliers, strict=True):
            if strength > 0.0 and (hold.kind == PUSHED or strength < 1.0):
                kept.append(hold)
                continue
            i = hold.witness
            guard = hold.side if hold.kind == PUSHED and values[i] * hold.side <= 0.0 else 0.0
            memory[i, LEVEL : REPEATS + 1] = values[i], guard, -np.inf, 0.0
            if strength >= 1.0:
                rate = float(self.isolation.rates(state)[i])
                one_way = RISING if rate > 0.0 else FALLING
                if values[i] * rate < 0.0 and self.agenda.witnesses[i].direction in (BOTH, one_way):
                    memory[i, LEVEL] = 0.0
                else:
                    memory[i, REPEATS] = LEAVING
                    leaving.append(i)
            self._tell(state, "released", i, "is let go")
        if len(kept) < len(sliding.holds):
            self.agenda.set_holds(state, pack_holds(kept))
            self._set_pending(state, leaving)
            # the derivatives that are left in the cache are those with the holds
            state.invalidate(Stage.TIME, "a witness that was let go")

    def drop(self, state: State, before: dict[str, NDArray[np.float64]]) -> None:
        """Let go of witnesses where handlers have changed what holds them; `before`: the arrays before."""
        sliding = self.sliding(state)
        if sliding is None:
            return
        kept = [h for h in sliding.holds if not is_switched_over(h, state._arrays)]
        if not np.array_equal(before["y"], state._arrays["y"]):
            still = self._unmoved(state, before)
            kept = [h for h in kept if still[h.witness]]
        self._let_go(state, [h for h in sliding.holds if h not in kept], "a handler has changed what held it")

    def _drop_moved(self, state: State, values: NDArray[np.float64]) -> None:
        """Let go of held witnesses that somebody has moved, or set in motion, since the last step."""
        sliding = self.sliding(state)
        if sliding is None:
            return
        memory, rates = self.agenda.memory(state), self.isolation.rates(state)
        moved = values != memory[:, VALUE]
        kicked = rates != memory[:, RATE]
        gone = [h for h in sliding.holds if moved[h.witness] or (h.kind == PUSHED and kicked[h.witness])]
        self._let_go(state, gone, "somebody has moved it")

    def _let_go(self, state: State, holds: list[Hold], why: str) -> None:
        values, memory = self.isolation.values(state), self.agenda.memory(state)
        for hold in holds:
            i = hold.witness
            guard = hold.side if values[i] * hold.side <= 0.0 else 0.0
            memory[i, LEVEL : REPEATS + 1] = values[i] * abs(guard), guard, -np.inf, 0.0
            self._tell(state, "released", i, f"is let go: {why}")
        held = unpack_holds(self.agenda.holds(state))
        self.agenda.set_holds(state, pack_holds([hold for hold in held if hold not in holds]))

    def _unmoved(self, state: State, before: dict[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """The witnesses whose value and rate are what they were before handlers changed the State."""
        twin, isolation = state.copy(), self.isolation
        for name, array in before.items():
            twin._arrays[name][:] = array
        for ring in self.system.rings:  # what histories hold has grown since
            part = slice(ring.offset, ring.offset + ring.size)
            twin._arrays["k"][part] = state._arrays["k"][part]
        twin.invalidate(Stage.INSTANCE, "the State before handlers")
        self.system.realize(twin, Stage.ACCELERATION)
        values, rates = isolation.values(twin), isolation.rates(twin)
        still: NDArray[np.bool_] = values == isolation.values(state)
        return still & (rates == isolation.rates(state))

    # steps

    def begin(self, state: State) -> NDArray[np.float64]:
        """At the start of a step: the witnesses, and the levels that they are compared with."""
        values, memory = self.isolation.values(state), self.agenda.memory(state)
        guarded = memory[:, GUARD] != 0.0
        if guarded.any():
            # out on the other side: zero is zero again
            memory[guarded & (values * memory[:, GUARD] > 0.0), LEVEL : GUARD + 1] = 0.0
        self.isolation.level[:] = memory[:, LEVEL : GUARD + 1]
        return values

    def next_expected(self, state: State) -> float:
        """When the next crossing is expected, s; infinite when none is."""
        expected = self.agenda.memory(state)[:, EXPECTED]
        return float(expected.min(initial=np.inf, where=expected > state.time))

    def foresee(
        self, state: State, dense: DenseOutput, span: tuple[float, float], horizon: float, aim: float
    ) -> None:
        """Note when the witnesses may cross next, by the step that was looked at; see `Isolation.foresee`."""
        expected = self.agenda.memory(state)[:, EXPECTED : DOUBT + 1]
        expected[:] = self.isolation.foresee(state, dense, span, horizon, aim, expected)

    def fire(self, state: State, located: Located, near_by: float) -> None:
        """Witnesses have crossed: handlers that wait for them are pending, repetitions are counted.

        Parameters
        ----------
        near_by : float
            s; events of one witness that are no further apart repeat each other.
        """
        memory = self.agenda.memory(state)
        memory[:, RATE] = self.isolation.rates(state)
        crossed = located.crossed
        memory[crossed, EXPECTED] = np.inf
        near = state.time - memory[crossed, FIRED] <= near_by
        memory[crossed, REPEATS] = np.where(near, memory[crossed, REPEATS] + 1.0, 0.0)
        memory[crossed, FIRED] = state.time
        self._set_pending(state, crossed)

    def _set_pending(self, state: State, crossed: list[int]) -> None:
        for entry in self._triggered:
            if entry.flag in crossed:
                state.agenda[entry.index] = 1

    def pending(self, state: State) -> list[Entry]:
        """The updates that wait because a witness has triggered them."""
        return [e for e in self._triggered if state.agenda[e.index] and e.handler.does != "publish"]

    def turned(
        self, state: State, before: NDArray[np.float64], witnesses: set[int], records: list[EventRecord]
    ) -> None:
        """Handlers of these witnesses have run; `before` is the continuous state before they did."""
        memory, values = self.agenda.memory(state), self.isolation.values(state)
        rates = self.isolation.rates(state)
        moved = not np.array_equal(before, state._arrays["y"])
        same = (values == memory[:, VALUE]) & (rates == memory[:, RATE])
        memory[~same if witnesses else slice(None), EXPECTED] = np.inf
        for i in sorted(witnesses):
            witness, rate = self.agenda.witnesses[i], memory[i, RATE]
            if memory[i, REPEATS] == LEAVING:
                memory[i, LEVEL : REPEATS + 1] = values[i], 0.0, -np.inf, 0.0
                continue
            side = 1.0 if rate < 0.0 else -1.0  # where it came from
            turned = rate * rates[i] <= 0.0 and rate != 0.0
            if moved and memory[i, GUARD] != 0.0:
                # it has not come out since it was turned last: rates this small may have any sign
                side, turned = memory[i, GUARD], True
            turned = turned and values[i] * side <= 0.0
            near = abs(values[i]) <= 2.0 * abs(memory[i, VALUE])
            one_way = moved or witness.direction != BOTH
            guard = side if turned and near and one_way and not witness.is_condition else 0.0
            memory[i, LEVEL], memory[i, GUARD] = (values[i], guard) if guard else (0.0, 0.0)
            if memory[i, REPEATS] == MOST_REPEATS:
                # where rounding decided about the last event, its push may point the wrong way
                sign = 1.0 if (rates[i] - rate) * side >= 0.0 else -1.0
                self._endless(state, i, side, sign, [r for r in records if r.witness == witness.path])

    def _endless(self, state: State, i: int, side: float, sign: float, records: list[EventRecord]) -> None:
        """One witness fires again and again: tell it, and hold it where that is wanted."""
        hold = hold_of(self.system, i, side, sign, records)
        times = f"{MOST_REPEATS + 1} events in a row"
        if hold is None or hold.kind == SWITCHED:
            self._tell(state, "chattering", i, f"chatters: {times}, each undoing the one before")
        else:
            self._tell(state, "zeno", i, f"fires ever faster: {times}, which pile up at this instant (Zeno)")
        if self.policy != "hold":
            return
        held = unpack_holds(self.agenda.holds(state))
        path = self.agenda.witnesses[i].path
        if hold is None:
            raise SimulationError(
                state.time, f"{path} chatters, and its handlers change nothing to hold it by"
            )
        self.agenda.set_holds(state, pack_holds([*held, hold]))
        memory = self.agenda.memory(state)
        memory[i, LEVEL : REPEATS + 1] = 0.0, 0.0, -np.inf, 0.0
        memory[:, EXPECTED] = np.inf
        self._tell(state, "held", i, "is held at zero")

    def _tell(self, state: State, kind: str, i: int, message: str) -> None:
        finding = Finding(state.time, kind, self.agenda.witnesses[i].path, message)
        self.report(finding)
        if self.policy == "stop":
            raise SimulationError(state.time, f"{finding.witness} {finding.message}")
