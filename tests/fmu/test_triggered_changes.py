"""``[[changes]] when = …``: values are set each time that a condition becomes true."""

import math
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmu import CoSimulation
from cosim_fmu.scenario.scenario import Scenario
from cosim_fmu.scenario.scenario_conditions import parse_condition
from cosim_fmu.scenario_subject import RunAgain

TANK = '''\
from cosim.kit import ParticipantDescription, ParticipantVariable


class Tank:
    """A level that rises with the inflow; `full` and `mode` follow from it."""

    def describe(self):
        variables = [
            ParticipantVariable("inflow", "input", unit="m3/s", start=1.0),
            ParticipantVariable("heater", "input", "boolean", start=False),
            ParticipantVariable("area", "parameter", unit="m2"),
            ParticipantVariable("level", "output", unit="m", start=0.0),
            ParticipantVariable("full", "output", "boolean"),
            ParticipantVariable("mode", "output", "string"),
        ]
        return ParticipantDescription(
            "tank", {v.name: v for v in variables}, {n: frozenset() for n in ("level", "full", "mode")},
            can_restore=True, can_serialize=True, settable=frozenset({"inflow", "heater", "area"}),
            tunable=frozenset({"area"}),
        )

    def initialize(self, start, stop, values, tolerance=None):
        self.area = values.get("area", 1.0)
        self.inflow, self.heater, self.level = values.get("inflow", 1.0), values.get("heater", False), 0.0

    def set(self, names, values):
        for name, value in zip(names, values):
            setattr(self, name, value)

    def step(self, time, size):
        self.level += float(self.inflow) / self.area * size
        return time + size

    def get(self, names):
        mode = "full" if self.level > 4.0 else "filling"
        known = {"level": self.level, "full": self.level > 4.0, "mode": mode, "inflow": self.inflow}
        return [{**known, "heater": self.heater}[name] for name in names]

    def save(self):
        return self.inflow, self.heater, self.level

    def restore(self, token):
        self.inflow, self.heater, self.level = token

    def serialize(self, token):
        return ",".join(map(str, map(float, token))).encode()

    def deserialize(self, data):
        inflow, heater, level = map(float, data.split(b","))
        return inflow, bool(heater), level

    def close(self):
        pass
'''
PARTICIPANTS = '[participants.tank]\ntype = "tank:Tank"\n'
MASTER = "[master]\nstep = 0.5\nuntil = 8.0\n"


def tank_with(folder: Path, changes: str, **options: object) -> CoSimulation:
    (folder / "tank.py").write_text(TANK, "utf-8")
    (folder / "tank.toml").write_text(PARTICIPANTS + changes + MASTER, "utf-8")
    return CoSimulation.from_file(folder / "tank.toml", **options)


def change(when: str, values: str) -> str:
    """The table of a change; `values` are pairs of its ``set``."""
    return f"[[changes]]\nwhen = {when!r}\nset = {{ {values} }}\n"


def descriptions() -> dict[str, ParticipantDescription]:
    variables = [
        ParticipantVariable("T", "output", unit="K"),
        ParticipantVariable("gear", "output", "integer"),
        ParticipantVariable("open", "output", "boolean"),
    ]
    by_name = {v.name: v for v in variables}
    return {"a": ParticipantDescription("x", by_name, enumerations={"gear": (("low", 1), ("high", 2))})}


@pytest.mark.parametrize(("algorithm", "delay"), [("gauss_seidel", 0), ("jacobi", 1)])
def test_a_condition_sets_a_value(tmp_path: Path, algorithm: str, delay: int) -> None:
    """The level rises by 1 m/s to 3 m; then the inflow ends, with `jacobi` a step later."""
    loop = tank_with(tmp_path, change("tank.level >= 3 m", '"tank.inflow" = 0.0'), algorithm=algorithm)
    result = loop.simulate()
    end = 3.0 + 0.5 * delay
    np.testing.assert_array_equal(result["tank.level"], np.minimum(result.time, end))
    event = next(e for e in result.events if e.handler == "changes.changes[0]")
    assert (event.time, event.name) == (end, "tank.level >= 3 m")
    assert event.before == {"changes.tank.inflow": 1.0}
    assert event.after == {"changes.tank.inflow": 0.0}


def test_a_value_is_set_once_each_time_that_the_condition_becomes_true(tmp_path: Path) -> None:
    """Up to 2 m, down to 1 m, and up again; a change in between holds until the next crossing."""
    changes = change("tank.level >= 2", '"tank.inflow" = -1.0') + change(
        "tank.level <= 1", '"tank.inflow" = 1.0'
    )
    changes += '[[changes]]\nat = 2.5\nset = { "tank.inflow" = -0.5 }\n'
    result = tank_with(tmp_path, changes).simulate()
    # the second condition is true at the start already
    assert [e.time for e in result.events] == [0.0, 2.0, 3.5, 4.5, 5.5, 6.5, 7.5]
    levels = dict(zip(result.time.tolist(), result["tank.level"].tolist(), strict=True))
    assert [levels[t] for t in (2.0, 2.5, 3.5, 4.5, 5.5)] == [2.0, 1.5, 1.0, 2.0, 1.0]


def test_a_condition_that_is_true_at_the_start_sets_its_value(tmp_path: Path) -> None:
    loop = tank_with(tmp_path, change("tank.level <= 0 m", '"tank.inflow" = 2.0'))
    result = loop.simulate(1.0)
    assert result["tank.level"].tolist() == [0.0, 1.0, 2.0]
    assert loop.simulate(1.0)["tank.level"].tolist() == [0.0, 1.0, 2.0]  # in a second run, too


def test_a_changed_parameter_needs_a_known_start_value(tmp_path: Path) -> None:
    """Only the participant knows the value; until the change the master must set one."""
    when = change("tank.level >= 2", '"tank.area" = 0.5')
    with pytest.raises(cosim.ModelError, match="tank.area.*change is unknown"):
        tank_with(tmp_path, when).simulate()
    result = tank_with(tmp_path, when, starts={"tank.area": 2.0}).simulate(6.0)
    assert result["tank.level"].tolist() == [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("time", "levels"),
    [
        ("at = 2.0", [0.0, 2.0, 4.0, 6.0, 8.0, 9.0, 10.0]),
        ('when = "tank.level >= 4"', [0.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
    ],
)
def test_start_values_apply_until_the_change(tmp_path: Path, time: str, levels: list[float]) -> None:
    """Start values of `starts`, of `set_start` and of the runs of a study."""
    changes = f'[[changes]]\n{time}\nset = {{ "tank.area" = 4.0, "tank.inflow" = 8.0 }}\n'
    loop = tank_with(tmp_path, changes, starts={"tank.area": 0.5, "tank.inflow": 0.5})
    assert loop.simulate(1.0)["tank.level"].tolist() == [0.0, 0.5, 1.0]
    loop.set_start("tank.inflow", 0.25)
    assert loop.simulate(1.0)["tank.level"].tolist() == [0.0, 0.25, 0.5]
    result = RunAgain(loop).run({"tank.inflow": 2.0}, 3.0, ["tank.level"])
    assert result["tank.level"].tolist() == levels
    assert loop.simulate(1.0)["tank.level"].tolist() == [0.0, 0.25, 0.5]


def test_conditions_on_booleans_and_texts_set_booleans_and_numbers(tmp_path: Path) -> None:
    changes = change("tank.full", '"tank.heater" = true') + change("tank.mode == 'full'", '"tank.inflow" = 0')
    result = tank_with(tmp_path, changes).simulate()
    assert result["tank.level"][-1] == 4.5
    assert result["tank.heater"].tolist() == [time > 4.5 for time in result.time.tolist()]


def test_a_run_resumed_from_a_checkpoint_has_the_same_changes(tmp_path: Path) -> None:
    changes = change("tank.level >= 2", '"tank.inflow" = -1.0') + change(
        "tank.level <= 1", '"tank.inflow" = 1.0'
    )
    expected = tank_with(tmp_path, changes).simulate()
    for until in (1.5, 2.0, 2.5, 5.0):
        tank_with(tmp_path, changes).simulate(until, checkpoint=tmp_path / "saved")
        loop = tank_with(tmp_path, changes)
        loop.restore(tmp_path / "saved")
        result = loop.simulate()
        assert result["tank.level"].tobytes() == expected["tank.level"].tobytes()
        assert result.events == expected.events


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('when = "tank.levl > 3"\nset = { "tank.inflow" = 0 }', "no variable of tank 'levl'. Nearest: level"),
        ('when = "tnk.level > 3"\nset = { "tank.inflow" = 0 }', "no participant 'tnk'"),
        ('when = "tank.level > 3 s"\nset = { "tank.inflow" = 0 }', "s cannot be converted to m|not the same"),
        ('when = "tank.level"\nset = { "tank.inflow" = 0 }', "is not a condition"),
        ('when = "tank.mode > \'a\'"\nset = { "tank.inflow" = 0 }', "compared by == and != only"),
        ('when = "tank.mode == full"\nset = { "tank.inflow" = 0 }', "put the value in quotes"),
        ('when = "tank.full == 3"\nset = { "tank.inflow" = 0 }', "compare it with true or false"),
        ('when = "tank.level > tank.inflow"\nset = { "tank.inflow" = 0 }', "types and units have to agree"),
        ('when = "tank.level > 3"\nat = 2.0\nset = { "tank.inflow" = 0 }', "it has both 'when' and 'at'"),
        ('when = "tank.level > 3"', "needs at = "),
        ('when = "tank.level > __import__(\'os\')"\nset = { "tank.inflow" = 0 }', "tank.toml"),
        ('when = "tank.level > 3"\nset = { "tank.level" = 0 }', "only inputs and parameters"),
    ],
)
def test_wrong_conditions_and_changes_are_refused(tmp_path: Path, entry: str, message: str) -> None:
    (tmp_path / "tank.py").write_text(TANK, "utf-8")
    (tmp_path / "tank.toml").write_text(f"{PARTICIPANTS}[[changes]]\n{entry}\n{MASTER}", "utf-8")
    with pytest.raises(cosim.ModelError, match=message):
        Scenario.read(tmp_path / "tank.toml").couple(CoSimulation)


@pytest.mark.parametrize(
    ("text", "values", "holds"),
    [
        ("a.T > 300", (300.0, 1, False), False),
        ("a.T >= 300 K", (300.0, 1, False), True),
        ("a.T < 26.85 degC", (math.nextafter(300.0, 0.0), 1, False), True),
        ("a.gear == high", (0.0, 2, False), True),
        ("a.gear != 2", (0.0, 2, False), False),
        ("not a.open", (0.0, 1, False), True),
        ("a.open == true", (0.0, 1, False), False),
        ("a.T > 1 and a.open or a.gear == low", (0.0, 1, False), True),
        ("a.T > 1 and a.open or a.gear == low", (2.0, 2, True), True),
        ("a.T > 1 and a.open or a.gear == low", (2.0, 2, False), False),
        ("a.T > 300", (math.nan, 1, False), False),
    ],
)
def test_whether_a_condition_holds(text: str, values: tuple[float, int, bool], holds: bool) -> None:
    condition = parse_condition(text, descriptions())
    values_by_name = dict(zip(("a.T", "a.gear", "a.open"), values, strict=True))
    assert condition.holds(values_by_name) is holds
