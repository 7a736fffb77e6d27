"""Systems whose handlers only log that they ran, for the numbered cases of the Simulator's behavior."""

import cosim
from cosim import EventCause, EventStatus

KINDS = {"u": "unrestricted", "d": "discrete", "p": "publish"}


def logging_handler(log, answers, key):
    """A handler that logs its key and the time and returns the status in `answers`, if there is one."""

    def answer(state):
        log.append((key, state.time))
        return answers.get(key)

    if key.rstrip("01")[-1] == "p":
        return lambda self, state: answer(state)
    return lambda self, state, next_state: answer(state)


def table_class(log, answers, prefix="", *, init=True, scheduled=True, per_step="p", period=0.5, offset=0.0):
    """A component with two handlers of each kind: `i` initialization, `s` scheduled, `t` every step.

    Keys in the log are e.g. ``su1``: scheduled, unrestricted, the second one.
    """
    handlers = []
    if init:
        handlers += [
            ("i", kind, lambda does: cosim.on(EventCause.INITIALIZATION, does=does)) for kind in "udp"
        ]
    handlers += [("t", kind, lambda does: cosim.on(EventCause.TIME_ADVANCED, does=does)) for kind in per_step]
    if scheduled:
        handlers += [
            ("s", kind, lambda does: cosim.every(period, offset=offset, does=does)) for kind in "udp"
        ]
    body = {"__doc__": "Logs its events."}
    for trigger, kind, declare in handlers:
        for index in "01":
            key = f"{prefix}{trigger}{kind}{index}"
            body[key] = declare(KINDS[kind])(logging_handler(log, answers, key))
    return type("Table", (cosim.Component,), body)


class Recorder:
    """A simulator of one or more tables, their log and the statuses that handlers return."""

    def __init__(self, *prefixes, time=0.0, monitored=True, **options):
        self.log, self.answers = [], {}
        model = cosim.Model("table")
        for i, prefix in enumerate(prefixes or ("",)):
            model.add(table_class(self.log, self.answers, prefix, **options), f"table{i}")
        system = model.build()
        state = system.default_state()
        state.set_time(time)
        self.simulator = cosim.Simulator(system, state, fixed_step=0.5)
        if monitored:
            self.simulator.set_monitor(logging_handler(self.log, self.answers, "monitor_p0").__get__(self))

    def answer_nothing(self):
        """Let every handler return that it did nothing."""
        for part in self.simulator.system.parts.values():
            self.answers.update(dict.fromkeys(part.handlers, EventStatus.did_nothing()))

    def take_log(self):
        """The names and the times that were logged since the last call."""
        names, times = [key for key, _ in self.log], [time for _, time in self.log]
        self.log.clear()
        return [name.removesuffix("_p0") for name in names], times

    @property
    def counts(self):
        """The number of effective unrestricted updates, discrete updates and publishes, and of steps."""
        s = self.simulator.statistics
        return s.unrestricted_updates, s.discrete_updates, s.publishes, s.steps


def names(text):
    """The keys that a text stands for: ``"iu id0"`` for ``["iu0", "iu1", "id0"]``; `monitor` is one key."""
    keys = []
    for word in text.split():
        keys += [word] if word[-1].isdigit() or word == "monitor" else [f"{word}0", f"{word}1"]
    return keys
