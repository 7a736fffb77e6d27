"""Step() as its description reads, slowly: no search, no integration, the times of everything are known."""

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
class Known:
    """One handler: when it comes is known in advance, but for what depends on others."""

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
    found = []
    for root in sorted(set(roots)):
        if roots.count(root) % 2 == 0:
            continue  # touches zero
        later = sum(1 for r in roots if r > root)
        rises = later % 2 == 0
        if isinstance(part, FallingProbe):
            wanted = not rises
        else:
            wanted = rises if isinstance(part, RisingProbe) else True
        if wanted:
            found.append(root)
    return found


def exact(number):
    """A period or an offset as it is read: the double next to a fraction with a small denominator is that."""
    simple = Fraction(number).limit_denominator(1000)
    return simple if float(simple) == number else Fraction(repr(number))


def handlers_of(name, part, end):
    """All handlers of a part, in order of declaration, with the times at which they come."""
    if isinstance(part, Ticker):
        given = (float(part.values.numbers[n][0]) for n in ("period", "offset"))
        period, offset = (exact(number) for number in given)
        count = math.ceil((end - offset) / period) + 2
        times = [float(offset + i * period) for i in range(count)]
        return [Known(name, f"tick_{k}", k, SCHEDULED, times) for k in "udp"]
    if isinstance(part, Waiter):
        return [Known(name, "wake_d", "d", SCHEDULED, list(part.times))]
    if isinstance(part, Probe):
        times = [t for t in crossings(part) if t > 0.0]
        return [Known(name, f"look_{k}", k, TRIGGERED, times) for k in "udp"]
    if isinstance(part, Cascade):
        keys = [(i, k) for i in range(SIGNALS) for k in "udp"]
        return [Known(name, f"on{i}_{k}", k, SIGNALED, signal=f"{name}.s{i}") for i, k in keys]
    if isinstance(part, EveryStep):
        causes = {"init": INIT, "step": ADVANCED, "stop": TERMINATION}
        return [Known(name, f"{key}_{k}", k, cause) for key, cause in causes.items() for k in "udp"]
    if isinstance(part, Mover):
        x, speed = (float(part.values.numbers[n][0]) for n in ("x", "speed"))
        first = (1.0 - x) / speed if speed > 0.0 else (-1.0 - x) / speed
        hits = [first + 2.0 * i / abs(speed) for i in range(int(end * abs(speed)) + 2)]
        ups = hits[0::2] if speed > 0.0 else hits[1::2]
        downs = hits[1::2] if speed > 0.0 else hits[0::2]
        return [Known(name, "high_d", "d", TRIGGERED, ups), Known(name, "low_d", "d", TRIGGERED, downs)]
    raise TypeError(part)


class ReferenceStepper:
    """Runs a list of parts by the book; its log is what the simulator's has to be."""

    def __init__(self, parts, end):
        self.handlers = [h for name, part in parts.items() for h in handlers_of(name, part, end)]
        for h in self.handlers:
            h.raises = tuple(parts[h.part].raises.get(h.key, ()))
        self.time, self.log, self.signals, self.fired = 0.0, [], set(), set()
        self.traces = dict.fromkeys(parts, 0)
        self.done = set()
        self.new_step = False

    def due(self, cause, kind):
        """Handlers of a cause and kind that come at this time, in order."""
        found = []
        for i, h in enumerate(self.handlers):
            if (h.cause, h.kind) != (cause, kind):
                continue
            at_this_time = any(t == self.time for t in h.times) and (i, self.time) not in self.done
            if cause == SIGNALED:
                comes = h.pending
            elif cause in (INIT, TERMINATION):
                comes = True
            elif cause == ADVANCED:
                comes = kind == "p" or self.new_step
            else:
                comes = at_this_time
            if comes:
                found.append((i, h))
        return found

    def run(self, cause, kind):
        """Run what is due: all read the traces as they are at the start, writes come after."""
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
        """Unrestricted, then discrete ones; inside each kind by cause."""
        for kind in "ud":
            for cause in causes:
                self.run(cause, kind)

    def handle_signals(self):
        """Round after round until none is set."""
        while self.signals:
            for h in self.handlers:
                h.pending |= h.signal in self.signals
            self.signals = set()
            self.updates((SIGNALED,))

    def publishes(self, causes):
        """In order of cause."""
        for cause in causes:
            self.run(cause, "p")

    def initialize(self):
        """The 0th step."""
        self.updates((INIT,))
        self.handle_signals()
        self.publishes((INIT, SCHEDULED, ADVANCED, SIGNALED))
        self.new_step = True

    def advance_to(self, boundary):
        """Step after step."""
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
        """The end; signals that are raised here stay set."""
        self.updates((TERMINATION,))
        self.publishes((TERMINATION,))
