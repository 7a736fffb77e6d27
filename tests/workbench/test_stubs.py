"""Stubs of installed packages: type checkers find misspelt names, and editors complete the others."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cosim
from cosim.cli import main
from cosim_workbench.stubs import stub_files

RIGHT = """\
import cosim
import numpy as np
from cosim_fmu import CoSimulation
from cosim_mechanics import LinearBushing, Multibody
from cosim_workbench.studies import Study

m = Multibody("p", gravity=(0, 0, -9.81))
b = m.body("bob", mass="2 kg", inertia=(1, 1, 1), center_of_mass=[0, 0, "5 mm"])
h = m.joint("pin", b, q=[0.3])
r = m.add("mechanics.linear_bushing", "r", body1="ground", body2=b, stiffness=np.zeros(6), damping=[0] * 6)
s = m.add(LinearBushing, "s", stiffness=[0, 0, 0, "2 N/mm", 0, 0], damping=[0] * 6)
m.measure("measures.delay", "felt", source="bob.x", delay="5 ms")
m.constraint("rod", "rod", body1=b, body2="ground", length=1.0)
other_body = m.body("other", mass=1.0, inertia=(1, 1, 1))
other_body.mass, other_body.inertia = "3 kg", [1, 1, "2 kg.m2"]
m.export_fmu("p.fmu", outputs=["bob.x"], native=True, integrator="radau5", accuracy=1e-6)
cosim.Model("p", dynamics="dynamics.dense", author="me")
result = m.simulate(until="1 s", integrator="radau5", accuracy=1e-6, output_interval=0.1)
other = cosim.simulate(m.build(), until=1.0, fixed_step=1e-3, integrator="integrators.runge_kutta_4")
system = m.build()
state = system.default_state()
loop = CoSimulation({"a": system, "b": "x.fmu"}, ["a.x -> b.y"], step="1 ms", algorithm="jacobi")
run = loop.simulate(1.0)
ensemble = cosim.Ensemble(system, until=1.0, reduce=["max(bob.x)"], threads=2)
many = ensemble.run({"bob.mass": [1.0, 2.0]})
study = Study(m, {"bob.mass": "1 kg..2 kg"}, ["max(bob.x)"], until=1.0, sample="lhs:4", run_in="threads")
simulator = cosim.Simulator(system, state, accuracy=1e-6)
cosim.Simulator(system, integrator="radau5", maximum_step="1 ms", relative_tolerance={"q": 1e-6})
simulator.advance_to(1.0)
m.connect("felt", "r.force", factor=2.0)
print(run["a.x"][-1], many["max(bob.x)"].mean(), result.events[0].time)
print(b.mass + 1.0, h.q[0], r.stiffness.sum(), s.damping, result.time, other["bob.x"])
"""
MISTAKES = """\
m.body("b", mass=1.0, inertia=(1, 1, 1), com=1.0)
m.body("b", mas=1.0, inertia=(1, 1, 1))
m.body("b", inertia=(1, 1, 1))
m.body(mass=1.0, inertia=(1, 1, 1))
m.bodyy("b", mass=1.0, inertia=(1, 1, 1))
b.masss
b.mass.sum()
m.joint("pinn", b)
m.joint("pin", child=b, qq=[0.3])
m.joint("pin")
h.qq
m.add("mechanics.linear_bushin", "r2", stiffness=[0] * 6, damping=[0] * 6)
m.add("mechanics.linear_bushing", "r2", stifness=[0] * 6, damping=[0] * 6)
m.add("mechanics.linear_bushing", stiffness=[0] * 6, damping=[0] * 6)
m.add(LinearBushing, "r3", stifness=[0] * 6, damping=[0] * 6)
m.add(LinearBushing(stifness=[0] * 6, damping=[0] * 6), "r4")
LinearBushing(stiffness=[0] * 6)
r.stifness
m.measure("measures.delay", "felt", sorce="bob.x", delay="5 ms")
m.measure("measures.dely", "felt", source="bob.x", delay="5 ms")
m.measure("measures.delay", "felt", source="bob.x", delay=[1.0])
m.constraint("rod", "rod", body1=b, body2="ground", lenght=1.0)
m.simulate(untl=1.0)
Multibody("p", gravty=(0, 0, 0))
cosim.Model("p", dynamic="dynamics.dense")
m.export_fmu("p.fmu", outptus=["bob.x"])
b.mas = "1 kg"
r.stiffness = {}
m.simulate(until=1.0, acuracy=1e-6)
m.simulate(until=1.0, integrator="radau6")
m.simulat(until=1.0)
cosim.simulate(m.build(), until=1.0, fixedstep=1e-3)
cosim.simulate(m, until=1.0)
result.tme
cosim.Modell("m")
CoSimulation({"a": system}, [], stp="1 ms")
CoSimulation({"a": system}, [], algorithm=3)
CoSimulation(["x.fmu"], [])
loop.simulate(1.0, step=0.1)
loop.run(1.0)
loop.simulte(1.0)
run.eventss
run["a.x"].maxx()
cosim.Ensemble(m, until=1.0)
cosim.Ensemble(system, untl=1.0)
cosim.Ensemble(system, until=1.0, reduc=["max(bob.x)"])
cosim.Ensemble(system, until=1.0, threads="2")
ensemble.rn({})
ensemble.run([1, 2])
many.colums
Study(m, {"bob.mass": "1 kg..2 kg"}, sampel="lhs:4")
Study(m, {"bob.mass": "1 kg..2 kg"}, acuracy=1e-6)
Study(m)
study.rn()
result.to_cvs("x.csv")
result.plott("bob.x")
result["bob.x"].foo
result.time.foo
simulator.advance(1.0)
simulator.advance_to("1", "2")
cosim.Simulator(m)
cosim.Simulator(system, acuracy=1e-6)
cosim.Simulator(system, fixed_step=[1e-3])
m.simulate(until=1.0, accuracy=[1e-6])
m.body("b", mass=[1.0], inertia=(1, 1, 1))
state.realise(cosim.Stage.POSITION)
state.realize("POSITIO")
state.tme
cosim.Stage.POSITON
cosim.read_results("x.csv")
cosim.read_result("x.csv").nmes
cosim.parameter(unt="m")
cosim.every(0.1)
cosim.kit.periodic_tme(1, 1, 0.0, 0.3)
system.partss
m.connect("felt")
m.set_start("bob.mass")
cosim.input(dtype="bool")
"""


def test_each_stub_is_python_and_the_packages_are_complete() -> None:
    files = stub_files()
    for path, text in files.items():
        ast.parse(text, str(path))
        for folder in list(path.parents)[:-1]:
            assert folder / "__init__.pyi" in files
    classes = [entry.cls for entry in cosim.registry().entries("component") if not entry.cls.takes_more]
    assert len(classes) > 80
    for cls in classes:
        text = files[Path(*cls.__module__.split(".")).with_suffix(".pyi")]
        assert re.search(rf"^class {cls.__name__}\(", text, re.MULTILINE)
    body = files[Path("cosim_mechanics/rigid_body.pyi")]
    assert "    def mass(self) -> float: ...\n" in body and "__init__(self, *, mass: float | str" in body
    assert "Literal['and', 'or'" in files[Path("cosim_signals/logic.pyi")]


def test_the_command_writes_stubs_and_removes_former_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    former_stub, users_stub = tmp_path / "typings" / "gone.pyi", tmp_path / "typings" / "mine.pyi"
    former_stub.parent.mkdir()
    former_stub.write_text(stub_files()[Path("cosim/__init__.pyi")], "utf-8")
    users_stub.write_text("x: int\n", "utf-8")
    assert main(["new", "--stubs", "-C", str(tmp_path)]) == 0
    assert "next       pyright" in capsys.readouterr().out
    assert (tmp_path / "typings" / "cosim_mechanics" / "pin.pyi").exists()
    assert users_stub.exists() and not former_stub.exists()


@pytest.mark.parametrize("module", ["cosim", "cosim.kit"])
def test_names_are_visible_to_editors_that_evaluate_conditions(module: str) -> None:
    """To jedi nothing exists below `if TYPE_CHECKING:` where that is the constant False."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    (flag,) = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TYPE_CHECKING"
    ]
    assert not isinstance(flag, ast.Constant)


@pytest.mark.thorough
def test_a_type_checker_finds_all_mistakes(tmp_path: Path) -> None:
    assert main(["new", "--stubs", "-C", str(tmp_path)]) == 0
    (tmp_path / "right.py").write_text(RIGHT, "utf-8")
    (tmp_path / "wrong.py").write_text(RIGHT + MISTAKES, "utf-8")
    command = ["-m", "mypy", "--no-error-summary", "--hide-error-context", "right.py", "wrong.py"]
    environment = {**os.environ, "MYPYPATH": str(tmp_path / "typings")}
    checked = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    errors = re.findall(r"^(\w+)\.py:(\d+): error", checked.stdout, re.MULTILINE)
    first_line = RIGHT.count("\n") + 1
    assert "typings" not in checked.stdout, checked.stdout
    assert {int(line) for file, line in errors if file == "right"} == set(), checked.stdout
    expected = set(range(first_line, first_line + MISTAKES.count("\n")))
    assert {int(line) for file, line in errors if file == "wrong"} == expected, checked.stdout
