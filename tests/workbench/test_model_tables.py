"""Tables of a model file come from plugins, ours and those of third parties alike."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

import cosim
from cosim import kit
from cosim_workbench import ModelFile, ModelFileError


class Lamp(cosim.Component):
    """Shines."""

    power = cosim.parameter(unit="W", minimum=0.0, description="electric power")
    light = cosim.output(unit="W")

    @cosim.kernel
    def shine(power, light):
        light[0] = power


class Lamps(cosim.ModelTable):
    """Lamps, ``[lamps.name]``."""

    table = "lamps"
    prefix = "acme"
    settings: ClassVar[dict[str, Any]] = {"sockets": 1}

    def begin(self, model: cosim.Model, settings: Any) -> None:
        if settings["sockets"] < 1:
            raise cosim.ModelError.of("sockets", f"is {settings['sockets']}, needs at least 1")
        for i in range(settings["sockets"]):
            model.add(Lamp, f"socket{i}", power=0.0)

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Any) -> None:
        self.add_part(model, name, entry, report)


class SameTable(Lamps):
    """Claims the table of `Lamps`."""


@pytest.fixture
def registry() -> Any:
    """Makes a context with our plugins and one of a third party that has these tables."""

    def entry(id: str, cls: type) -> kit.RegisteredClass:
        return kit.RegisteredClass(id, cls, "acme", "acme-lamps", "1.0")

    def registry_with(*tables: type) -> Any:
        loaded = [record for record in kit.Registry.discover().plugins if record.status == "loaded"]
        entries = [entry("acme.lamp", Lamp)]
        entries += [entry(f"acme.table{i}", table) for i, table in enumerate(tables)]
        acme = kit.PluginRecord("acme", "acme-lamps", "1.0", "acme_lamps", "loaded", None, tuple(entries))
        return kit.use_registry(kit.Registry([*loaded, acme]))

    return registry_with


def write(folder: Path, text: str) -> Path:
    """A model file with this text."""
    path = folder / "m.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_table_of_a_third_party(tmp_path: Path, registry: Any) -> None:
    path = write(tmp_path, '[model]\nsockets = 2\n[lamps.desk]\ntype = "lamp"\npower = "0.06 kW"\n')
    with registry(Lamps):
        model = ModelFile.read(path)
    assert list(model.parts) == ["socket0", "socket1", "desk"]
    assert model.parts["desk"].values.public()["power"] == 60.0
    assert model.name == "m"


def test_a_setting_without_entries_begins_its_table(tmp_path: Path, registry: Any) -> None:
    with registry(Lamps):
        assert list(ModelFile.read(write(tmp_path, "[model]\nsockets = 1\n")).parts) == ["socket0"]
        assert list(ModelFile.read(write(tmp_path, "")).parts) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nsockets = 0\n", "m.toml:2: model: sockets: is 0, needs at least 1"),
        ("[lamps.desk]\npower = 3\n", "m.toml:1: lamps.desk: type is missing, needs the id of a component"),
        ("[lamps.desk]\ntype = 3\n", "m.toml:2: lamps.desk: type is 3, needs the id"),
        ('[lamps.desk]\ntype = "lamp"\nname = "x"\npower = 1', "m.toml:3: lamps.desk: no parameter 'name'"),
        (
            '[lamps.desk]\ntype = "lamp"\n\npower = -1',
            "m.toml:4: lamps.desk: power is -1 W, needs at least 0",
        ),
        ('[lamps.desk]\ntype = "lamp"\n', "m.toml:1: lamps.desk: power is missing"),
        ('[lamps."a b"]\ntype = "lamp"\npower = 1\n', "m.toml:1: lamps.a b: 'a b' is not a name"),
        ('[lamps."a\\n"]\ntype = "lamp"\npower = 1\n', r"m.toml:1: lamps.a\n: 'a\n' is not a name: letters"),
        ("[lamps]\ndesk = 3\n", "m.toml:2: lamps: desk = 3 is not a table: write [lamps.desk]"),
        ("lamps = 3\n", "m.toml:1: lamps: is not a table: write [lamps.name]"),
        ("[connections]\n", "m.toml:1: connections: is not a list of tables: write [[connections]]"),
        ("starts = 3\n", "m.toml:1: starts: is not a table: write [starts]"),
        ("[lamp.desk]\n", "m.toml:1: lamp: no table 'lamp'. Nearest: lamps."),
        (
            "[master]\n",
            "m.toml:1: master: no table of a model: this is a scenario, run it with `cosim cosimulate`",
        ),
        ('[starts]\na.b = 1\n"a.b" = 2', "m.toml:3: starts: 'a.b' has a start value already"),
        ("model = 3\n", "m.toml:1: model: model is not a table"),
        ('[model]\nname = ""\n', "m.toml:2: model: name is '', needs a text"),
    ],
)
def test_a_fault_has_its_line(tmp_path: Path, registry: Any, text: str, message: str) -> None:
    with registry(Lamps), pytest.raises(ModelFileError) as raised:
        ModelFile.read(write(tmp_path, text))
    fault, summary = str(raised.value).split("\n")
    assert fault.startswith(f"{tmp_path}/{message}")
    assert summary == "1 problem, nothing was run."


def test_two_plugins_that_claim_one_table_are_both_named(tmp_path: Path, registry: Any) -> None:
    with registry(Lamps, SameTable), pytest.raises(cosim.ModelError) as raised:
        ModelFile(write(tmp_path, ""))
    assert str(raised.value).count("plugin 'acme'") == 2
    assert "[lamps]" in str(raised.value)


def test_lines_of_one_problem_are_indented() -> None:
    error = ModelFileError([cosim.Problem("m.toml:3: lamps.desk", "first\nsecond")])
    assert str(error) == "m.toml:3: lamps.desk: first\n          second\n1 problem, nothing was run."


def test_a_table_declares_its_name_and_form() -> None:
    def read(self, model, name, entry, report): ...

    for faults in ({}, {"table": "Lamps"}, {"table": "model"}, {"table": "lamps", "form": "columns"}):
        with pytest.raises(TypeError, match="model table Wrong: (table|form) is"):
            type("Wrong", (cosim.ModelTable,), {"read": read, **faults})


def test_a_sink_that_only_writes_says_so(tmp_path: Path) -> None:
    class OnlyWrites(cosim.ResultSink):
        """Writes nothing at all."""

        def write(self, result: cosim.Result, path: Path) -> Path:
            return path

    with pytest.raises(cosim.CosimError, match=r"r\.x: OnlyWrites only writes files"):
        OnlyWrites().read(Path("r.x"))
    with pytest.raises(cosim.CosimError, match="give a path"):
        OnlyWrites().show(cosim.Result([], {}))
