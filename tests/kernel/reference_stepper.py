"""A slow Step() that follows its description, for systems whose event times are known in advance."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

from stress_parts import (
    SIGNALS,
    Cascade,
    EveryStep,
    FallingProbe,
    Mover,
    Probe,
    RisingProbe,
    Ticker,
    Waiter,
)

INIT, TRIGGERED, SCHEDULED, ADVANCED, SIGNALED, TERMINATION = range(1, 7)
UPDATE_CAUSES = (TRIGGERED, SCHEDULED, ADVANCED)


@dataclass
class ReferenceHandler:
    """One handler.

    Attributes
    ----------
    part, key : str
        The path of the handler is ``part.key``.
    kind : str
        ``u``, ``d`` or ``p``: unrestricted update, discrete update, publish.
    cause : int
    times : list of float
        When it runs, s; empty if that depends on steps or signals.
    signal : str
        The signal that it handles.
    raises : tuple of str
        The signals that it raises.
    pending : bool
        Whether its signal was raised.
    """

    part: str
    key: str
    kind: str
    cause: int
    times: list = field(default_factory=list)
    signal: str = ""
    raises: tuple = ()
    pending: bool = False


def crossings(part):
    """Times at which the product of a probe crosses zero in its direction."""
    roots = sorted(part.values.numbers["roots"].tolist())
    times = []
    for root in sorted(set(roots)):
        if roots.count(root) % 2 == 0:
            continue  # touches zero
        is_rising = sum(1 for r in roots if r > root) % 2 == 0
        if isinstance(part, FallingProbe):
            triggers = not is_rising
        else:
            triggers = is_rising if isinstance(part, RisingProbe) else True
        if triggers:
            times.append(root)
    return times


def exact_fraction(number):
    """A period or an offset as a fraction: a simple one if its double is this number, else the decimal."""
    simple = Fraction(number).limit_denominator(1000)
    return simple if float(simple) == number else Fraction(repr(number))


def handlers_of(name, part, end):
    """All handlers of a part, in order of declaration, with the times at which they come."""
    if isinstance(part, Ticker):
        numbers = (float(part.values.numbers[n][0]) for n in ("period", "offset"))
        period, offset = map(exact_fraction, numbers)
        count = math.ceil((end - offset) / period) + 2
        times = [float(offset + i * period) for i in range(count)]
        return [ReferenceHandler(name, f"tick_{k}", k, SCHEDULED, times) for k in "udp"]
    if isinstance(part, Waiter):
        return [ReferenceHandler(name, "wake_d", "d", SCHEDULED, list(part.times))]
    if isinstance(part, Probe):
        times = [t for t in crossings(part) if t > 0.0]
        return [ReferenceHandler(name, f"look_{k}", k, TRIGGERED, times) for k in "udp"]
    if isinstance(part, Cascade):
        keys = [(i, k) for i in range(SIGNALS) for k in "udp"]
        return [ReferenceHandler(name, f"on{i}_{k}", k, SIGNALED, signal=f"{name}.s{i}") for i, k in keys]
    if isinstance(part, EveryStep):
        causes = {"init": INIT, "step": ADVANCED, "stop": TERMINATION}
        return [
            ReferenceHandler(name, f"{key}_{k}", k, cause) for key, cause in causes.items() for k in "udp"
        ]
    if isinstance(part, Mover):
        x, speed = (float(part.values.numbers[n][0]) for n in ("x", "speed"))
        first = (1.0 - x) / speed if speed > 0.0 else (-1.0 - x) / speed
        hits = [first + 2.0 * i / abs(speed) for i in range(int(end * abs(speed)) + 2)]
        ups = hits[0::2] if speed > 0.0 else hits[1::2]
        downs = hits[1::2] if speed > 0.0 else hits[0::2]
        return [
            ReferenceHandler(name, "high_d", "d", TRIGGERED, ups),
            ReferenceHandler(name, "low_d", "d", TRIGGERED, downs),
        ]
    raise TypeError(part)


class ReferenceStepper:
    """Runs parts as the documents describe it; the log of the Simulator must be equal to its log."""

    def __init__(self, parts, end):
        self.handlers = [h for name, part in parts.items() for h in handlers_of(name, part, end)]
        for h in self.handlers:
            h.raises = tuple(parts[h.part].raises.get(h.key, ()))
        self.time, self.log, self.signals, self.fired = 0.0, [], set(), set()
        self.traces = dict.fromkeys(parts, 0)
        self.done = set()
        self.new_step = False

    def due(self, cause, kind):
        """The handlers of a cause and kind that are due now, with their numbers, in order."""
        due_handlers = []
        for i, h in enumerate(self.handlers):
            if (h.cause, h.kind) != (cause, kind):
                continue
            at_this_time = any(t == self.time for t in h.times) and (i, self.time) not in self.done
            if cause == SIGNALED:
                is_due = h.pending
            elif cause in (INIT, TERMINATION):
                is_due = True
            elif cause == ADVANCED:
                is_due = kind == "p" or self.new_step
            else:
                is_due = at_this_time
            if is_due:
                due_handlers.append((i, h))
        return due_handlers

    def run(self, cause, kind):
        """Run the handlers that are due; all read the traces as they were at the start."""
        read, raised = dict(self.traces), set()
        for i, h in self.due(cause, kind):
            self.log.append((f"{h.part}.{h.key}", self.time))
            h.pending = False
            self.done.add((i, self.time))
            if kind != "p" and not h.key.startswith(("wake", "high", "low")):
                self.traces[h.part] = (3 * read[h.part] + len(h.key) + ord(h.key[-1])) % 1_000_003
                raised |= set(h.raises)
        self.signals |= raised

    def updates(self, causes):
        """Unrestricted updates, then discrete ones; each in the order of their causes."""
        for kind in "ud":
            for cause in causes:
                self.run(cause, kind)

    def handle_signals(self):
        """Handle signals in rounds, until none is set."""
        while self.signals:
            for h in self.handlers:
                h.pending |= h.signal in self.signals
            self.signals = set()
            self.updates((SIGNALED,))

    def publishes(self, causes):
        """Publishes in the order of their causes."""
        for cause in causes:
            self.run(cause, "p")

    def initialize(self):
        """The 0th step."""
        self.updates((INIT,))
        self.handle_signals()
        self.publishes((INIT, SCHEDULED, ADVANCED, SIGNALED))
        self.new_step = True

    def advance_to(self, boundary):
        """Take steps until the boundary."""
        while True:
            self.updates(UPDATE_CAUSES)
            self.new_step = False
            self.handle_signals()
            later = [t for h in self.handlers for t in h.times if t > self.time]
            before, self.time = self.time, min([*later, boundary])
            self.new_step = self.time > before
            self.publishes((*UPDATE_CAUSES, SIGNALED))
            if self.time >= boundary:
                return

    def finish(self):
        """End the run; signals that are raised here stay set."""
        self.updates((TERMINATION,))
        self.publishes((TERMINATION,))
