"""Parts of random event systems: every handler logs that it ran, changes `trace` and raises signals."""

import cosim
from cosim import EventCause

SIGNALS = 4
KINDS = {"u": "unrestricted", "d": "discrete", "p": "publish"}


def handler(key, kind):
    """A handler that logs its key; an update also changes the trace and raises the signals of its part."""

    def publish(self, state):
        self.log.append((f"{self.name}.{key}", state.time))

    def update(self, state, next_state):
        self.log.append((f"{self.name}.{key}", state.time))
        path = f"{self.name}.trace"
        next_state[path] = (3 * state[path] + len(key) + ord(key[-1])) % 1_000_003
        for signal in self.raises.get(key, ()):
            next_state[signal] = 1

    return publish if kind == "p" else update


def with_handlers(body, **triggers):
    """For each trigger a handler of each kind in the body of a class: ``tick_u``, ``tick_d``, ``tick_p``."""
    for name, declare in triggers.items():
        for kind, does in KINDS.items():
            body[f"{name}_{kind}"] = declare(does)(handler(f"{name}_{kind}", kind))


class Logging(cosim.Component):
    """A part with a log, which it shares with others, and the signals that each handler raises."""

    trace = cosim.discrete(dtype=int)

    def __init__(self, log=None, raises=None, **values):
        super().__init__(**values)
        self.log, self.raises = [] if log is None else log, raises or {}


class Ticker(Logging):
    """Three handlers with one period and offset."""

    period = cosim.parameter(unit="s")
    offset = cosim.parameter(unit="s")

    with_handlers(locals(), tick=lambda does: cosim.every("period", offset="offset", does=does))


class Waiter(Logging):
    """A handler whose timer goes through a list of times."""

    wake = cosim.timer()

    def __init__(self, times=(), **values):
        super().__init__(wake=times[0], **values)
        self.times = list(times)

    @cosim.on(wake, does="discrete")
    def wake_d(self, state, next_state):
        self.log.append((f"{self.name}.wake_d", state.time))
        later = [t for t in self.times if t > state.time]
        if later:
            next_state[f"{self.name}.wake"] = later[0]


def product(t, roots):
    return (t - roots[0]) * (t - roots[1]) * (t - roots[2])


class Probe(Logging):
    """A witness of time with three roots."""

    roots = cosim.parameter(unit="s", shape=3)

    look = cosim.witness(product)
    with_handlers(locals(), look=lambda does, look=look: cosim.on(look, does=does))


class FallingProbe(Probe):
    """A probe of falling crossings."""

    look = cosim.witness(direction="falling")(product)
    with_handlers(locals(), look=lambda does, look=look: cosim.on(look, does=does))


class RisingProbe(Probe):
    """A probe of rising crossings."""

    look = cosim.witness(direction="rising")(product)
    with_handlers(locals(), look=lambda does, look=look: cosim.on(look, does=does))


class Cascade(Logging):
    """Four signals; their handlers raise later ones."""

    s0 = cosim.signal()
    s1 = cosim.signal()
    s2 = cosim.signal()
    s3 = cosim.signal()

    with_handlers(
        locals(),
        on0=lambda does, s=s0: cosim.on(s, does=does),
        on1=lambda does, s=s1: cosim.on(s, does=does),
        on2=lambda does, s=s2: cosim.on(s, does=does),
        on3=lambda does, s=s3: cosim.on(s, does=does),
    )


class EveryStep(Logging):
    """Handlers of the start, of every step and of the end."""

    with_handlers(
        locals(),
        init=lambda does: cosim.on(EventCause.INITIALIZATION, does=does),
        step=lambda does: cosim.on(EventCause.TIME_ADVANCED, does=does),
        stop=lambda does: cosim.on(EventCause.TERMINATION, does=does),
    )


class Mover(Logging):
    """Runs back and forth between -1 and 1 at constant speed."""

    x = cosim.position()
    speed = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(speed, x_dot):
        x_dot[0] = speed

    @cosim.witness(direction="rising")
    def high(x):
        return x - 1.0

    @cosim.witness(direction="falling")
    def low(x):
        return x + 1.0

    @cosim.on(high, does="discrete")
    def high_d(self, state, next_state):
        self.log.append((f"{self.name}.high_d", state.time))
        next_state[f"{self.name}.speed"] = -state[f"{self.name}.speed"]

    @cosim.on(low, does="discrete")
    def low_d(self, state, next_state):
        self.log.append((f"{self.name}.low_d", state.time))
        next_state[f"{self.name}.speed"] = -state[f"{self.name}.speed"]
