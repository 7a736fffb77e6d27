"""The sources of FMUs, linked into a host in C, on 32-bit processors, under valgrind and sanitizers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from c_programs import SOURCES, c_compiler
from compiled_sources import export_sources, unpack_sources
from export_tools import limited
from native_tools import needs_compiler
from numpy.typing import NDArray

import cosim
from cosim.cli import main

pytestmark = [
    needs_compiler,
    pytest.mark.thorough,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the hosts are Linux's"),
]
EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = 40
STEP_SIZE = 0.01
FIXED_STEP = 1e-3
METHOD = "integrators.runge_kutta_4"
PUSHED = """\
[model]
name = "pushed"
[bodies.block]
mass = "2 kg"
inertia = [1, 1, 1]
joint = "slider"
[components.motor]
type = "mechanics.joint_motor"
coordinate = "block_joint"
stiffness = 40
damping = 1
[measures.late]
type = "measures.delay"
source = "block_joint.position"
delay = 0.02
"""
TWO_SYSTEMS = f"""\
connections = ["left.block_joint.q[0] -> right.motor.target", "right.late -> left.motor.target"]
[participants.left]
model = "pushed.toml"
options = {{ integrator = "{METHOD}", fixed_step = {FIXED_STEP} }}
[participants.right]
model = "pushed.toml"
options = {{ integrator = "{METHOD}", fixed_step = {FIXED_STEP} }}
[parameters]
"left.block_joint.q[0]" = 0.1
[master]
step = {STEP_SIZE}
until = 1
algorithm = "interface_newton"
[output]
signals = ["*.block_joint.*", "*.late"]
"""


def of_model(make: Callable[[], cosim.Model]) -> Callable[[Path], Path]:
    """A function that writes the FMU of the sources of a model into a folder."""
    settings = {"integrator": METHOD, "fixed_step": FIXED_STEP, "kind": "cs"}
    return lambda folder: export_sources(make(), folder / "sources.fmu", **settings)


def of_scenario(folder: Path) -> Path:
    """The sources of two systems and the exchange between them."""
    (folder / "pushed.toml").write_text(PUSHED, "utf-8")
    (folder / "two.toml").write_text(TWO_SYSTEMS, "utf-8")
    command = ["export", str(folder / "two.toml"), "-o", str(folder / "sources.fmu"), "-q", "--sources"]
    assert main([*command, "--no-experiment"]) == 0
    return folder / "sources.fmu"


MODELS: dict[str, Callable[[Path], Path]] = {
    "limited": of_model(limited),
    "four bars": of_model(lambda: cosim.Model.from_file(EXAMPLES / "four_bar/four_bar.toml")),
    "engine mount": of_model(lambda: cosim.Model.from_file(EXAMPLES / "engine_mount/engine_mount.toml")),
    "two systems": of_scenario,
}
TOLERANCE = 1e-12
"""Relative to the largest value of a signal: C libraries differ in the last bit."""
ZIG = [sys.executable, "-m", "ziglang", "cc"]


class Sources:
    """The sources of an FMU, and a host that is built with them."""

    def __init__(self, fmu: Path) -> None:
        self.folder, self.files = unpack_sources(fmu)
        token = re.search(r'\.token = "([^"]+)"', (self.folder / "model.c").read_text("utf-8"))
        assert token is not None
        tree = ElementTree.parse(self.folder.parent / "modelDescription.xml")
        reals = [v for v in tree.iter("ScalarVariable") if v.find("Real") is not None]
        outputs = [
            v.get("valueReference")
            for v in reals
            if v.get("causality") != "parameter" and v.get("initial") == "calculated"
        ]
        tunable = [v.get("valueReference") for v in reals if v.get("variability") == "tunable"]
        has_derivatives = tree.find("CoSimulation[@providesDirectionalDerivative='true']") is not None
        # what the host sets; an x says that it must not ask for derivatives
        parameter = f"{'' if has_derivatives else 'x'}{tunable[0]}"
        self.outputs = [str(reference) for reference in outputs[:60]]
        self.arguments = [token[1], str(STEPS), str(STEP_SIZE), parameter, *self.outputs]

    def run(self, compiler: list[str], *tool: str) -> NDArray[np.float64]:
        """The outputs after each step of a host; `tool` is a command that runs it, such as valgrind."""
        program = self.folder / "linked_host"
        source = SOURCES / "linked_host.c"
        build = [*compiler, "-std=c99", f"-I{self.folder}", "-o", str(program)]
        build += [str(source), *map(str, self.files), "-lm"]
        built = subprocess.run(
            build, cwd=self.folder, capture_output=True, text=True, check=False, timeout=900
        )
        assert built.returncode == 0, built.stderr[-3000:]
        done = subprocess.run(
            [*tool, str(program), *self.arguments], capture_output=True, text=True, check=False, timeout=900
        )
        assert done.returncode == 0, done.stderr[-3000:]
        rows = np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])
        assert rows.shape == (STEPS, len(self.outputs))
        return rows


def builds(compiler: list[str], folder: Path) -> bool:
    """Whether a compiler builds a program that uses libm."""
    (folder / "empty.c").write_text("#include <math.h>\nint main(void) { return (int)floor(0.5); }\n")
    command = [*compiler, "-o", str(folder / "empty"), str(folder / "empty.c"), "-lm"]
    return subprocess.run(command, capture_output=True, check=False, timeout=900).returncode == 0


def assert_close(rows: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    scale = np.maximum(np.abs(expected).max(axis=0), 1e-12)
    assert (np.abs(rows - expected) / scale).max() <= TOLERANCE


@pytest.fixture(scope="module", params=list(MODELS))
def sources(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return Sources(MODELS[request.param](tmp_path_factory.mktemp("sources")))


@pytest.fixture(scope="module")
def expected(sources: Sources) -> NDArray[np.float64]:
    """The outputs of the host on this machine."""
    return sources.run([c_compiler(), "-O1"])


def test_32_bits_of_x86(sources: Sources, expected: NDArray[np.float64], tmp_path: Path) -> None:
    if not builds([c_compiler(), "-m32"], tmp_path):
        pytest.skip("this compiler makes no programs of 32 bits: Debian's gcc-multilib")
    assert_close(sources.run([c_compiler(), "-m32", "-O2"]), expected)


def test_32_bits_of_arm(sources: Sources) -> None:
    """With the same C library on 32 and 64 bits the bits are the same."""
    pytest.importorskip("ziglang")
    qemu = shutil.which("qemu-arm") or shutil.which("qemu-arm-static")
    if qemu is None:
        pytest.skip("no qemu-arm here: Debian's qemu-user")
    flags = ["-O2", "-static"]
    on_64_bits = sources.run([*ZIG, "-target", "x86_64-linux-musl", *flags])
    assert np.array_equal(sources.run([*ZIG, "-target", "arm-linux-musleabihf", *flags], qemu), on_64_bits)


def test_sanitizers_find_nothing(sources: Sources, expected: NDArray[np.float64], tmp_path: Path) -> None:
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    if not builds([c_compiler(), *flags], tmp_path):
        pytest.skip("this compiler has no sanitizers")
    assert np.array_equal(sources.run([c_compiler(), *flags]), expected)


def test_valgrind_finds_nothing(sources: Sources, expected: NDArray[np.float64]) -> None:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("no valgrind here")
    tool = [valgrind, "--quiet", "--error-exitcode=9", "--leak-check=full"]
    assert np.array_equal(sources.run([c_compiler(), "-O1", "-g"], *tool), expected)


def test_sanitizers_find_a_read_beyond_an_array(sources: Sources, tmp_path: Path) -> None:
    """The check of the check: a wrong read that is inserted into the sources ends the host."""
    flags = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    if not builds([c_compiler(), *flags], tmp_path):
        pytest.skip("this compiler has no sanitizers")
    folder = tmp_path / "wrong"
    shutil.copytree(sources.folder, folder)
    arrays = folder / "arrays.c"
    text = arrays.read_text("utf-8")
    changed = text.replace("memcpy(", 'memmove(malloc(1), "ab", 2), memcpy(', 1)
    assert changed != text
    arrays.write_text(changed)
    wrong_sources = object.__new__(Sources)
    wrong_sources.folder = folder
    wrong_sources.outputs, wrong_sources.arguments = sources.outputs, sources.arguments
    wrong_sources.files = [folder / file.name for file in sources.files]
    with pytest.raises(AssertionError, match="heap-buffer-overflow"):
        wrong_sources.run([c_compiler(), *flags])
