"""Files of a scenario for tests: a room and its thermostat in Python, the weather in a table."""

from __future__ import annotations

from pathlib import Path

CONTROLLER = '''\
import cosim


class Thermostat(cosim.Component):
    """Heats in proportion to the missing degrees."""

    temperature = cosim.input(unit="degC")
    heat = cosim.output(unit="W")
    wanted = cosim.parameter(unit="degC", default=20.0)
    gain = cosim.parameter(unit="W/K", default=300.0, minimum=0.0)

    @cosim.kernel
    def law(temperature, wanted, gain, heat):
        heat[0] = max(0.0, gain * (wanted - temperature))
'''
ROOM = '''\
from cosim.kit import ParticipantDescription, ParticipantVariable


class Room:
    """A heat capacity that loses heat to the outside."""

    def __init__(self, capacity=4e5):
        self.capacity = capacity

    def describe(self):
        variables = [
            ParticipantVariable("power", "input", unit="W", start=0.0),
            ParticipantVariable("outside", "input", unit="degC", start=5.0),
            ParticipantVariable("temperature", "output", unit="degC", start=18.0),
        ]
        return ParticipantDescription(
            "room", {v.name: v for v in variables}, {"temperature": frozenset()}, can_restore=True,
            can_serialize=True, settable=frozenset(["power", "outside", "temperature"]),
        )

    def initialize(self, start, stop, values, tolerance=None):
        self.values = {"power": 0.0, "outside": 5.0, "temperature": 18.0, **values}

    def set(self, names, values):
        self.values.update(zip(names, map(float, values)))

    def step(self, time, size):
        loss = 150.0 * (self.values["temperature"] - self.values["outside"])
        self.values["temperature"] += size * (self.values["power"] - loss) / self.capacity
        return time + size

    def get(self, names):
        return [self.values[name] for name in names]

    def save(self):
        return dict(self.values)

    def restore(self, token):
        self.values = dict(token)

    def serialize(self, token):
        return repr(token).encode()

    def deserialize(self, data):
        import ast

        return ast.literal_eval(data.decode())

    def close(self):
        pass
'''
WEATHER = "time,outside [degC]\n0,5\n3600,-5\n7200,0\n"
LOOP = """\
connections = [
    "room.temperature -> controller.temperature",
    "controller.heat -> room.power",
    "weather.outside -> room.outside",
]
[participants.room]
type = "room:Room"
[participants.controller]
type = "controller:Thermostat"
parameters = { gain = "200 W/K" }
[participants.weather]
series = "weather.csv"
[master]
step = "10 s"
until = "20 min"
"""


def write_loop(folder: Path, text: str = LOOP) -> Path:
    """Write a scenario and the files that it refers to; return the path of the scenario."""
    files = {"controller.py": CONTROLLER, "room.py": ROOM, "weather.csv": WEATHER, "loop.toml": text}
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    return folder / "loop.toml"
