"""Machine code that comes with the package: found by what it is made from, checked, with the same bits."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import addressed_calls
import numpy as np
import pytest
import shipping
from how_many import many

import cosim
from cosim import kit
from cosim.step.run import advance
from cosim_compiler import kernel_cache, native, shipped, shipped_texts
from cosim_compiler.calls import called_by_name, indirect_call, name_of, status_call
from cosim_compiler.fingerprint import digest_of_module
from cosim_compiler.parts import in_process
from cosim_compiler.with_numba import fresh

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(native.is_own(), reason="what is shipped was made by numba")
COMPILES = pytest.mark.skipif(
    kit.is_plain() or sys.platform != "linux" or shutil.which("cc") is None,
    reason="needs numba, a C compiler and Linux",
)
CAME = pytest.mark.skipif(not shipped.PATH.exists() or kit.is_plain(), reason="nothing came with the package")


def halved(x):
    return 0.5 * x


def summed(values, factor):
    total = 0.0
    for i in range(values.shape[0]):
        total += halved(values[i]) * factor
    return total


def stored(values, at, x):
    values[at] = np.sin(x)


def doubled(values, at):
    values[at] *= 2.0
    return values[at]


def all_doubled(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += doubled(values, i)
    return total


def three_times(count):
    return 3 * count


FUNCTIONS = {(summed, "Ff>f"): {"here", "text"}, (stored, "Fif>v"): {"here"}, (three_times, "i>i"): {"c"}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shipped") / "kernels.so"
    assert shipping.make_library(dict(FUNCTIONS), path, path.with_name("texts.z"), processes=1) == (3, 1)
    return path


@pytest.fixture
def library(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the library, in the place of the one that came with the package."""
    path, texts = tmp_path / "kernels.so", tmp_path / "texts.z"
    shutil.copy(made, path)
    shutil.copy(made.with_name("texts.z"), texts)
    monkeypatch.setattr(shipped, "PATH", path)
    monkeypatch.setattr(shipped_texts, "PATH", texts)
    for cached in (shipped._library, shipped_texts._texts):
        cached.cache_clear()
    yield path
    for cached in (shipped._library, shipped_texts._texts):
        cached.cache_clear()


@COMPILES
def test_shipped_functions_are_called(library: Path) -> None:
    values = np.array([1.0, 2.5, -0.25])
    compiled = native.compile_function(summed, "Ff>f")
    assert isinstance(compiled, shipped.Shipped)
    assert compiled(values, 3.0) == summed(values, 3.0)
    assert native.compile_function(stored, "Fif>v")(values, 1, 0.7) is None
    assert values[1] == np.sin(0.7)
    assert native.compile_function(three_times, "i>i")(14) == 42


@COMPILES
def test_c_calls_a_shipped_function(library: Path) -> None:
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    assert prototype(native.c_address(three_times, "i>i"))(14) == 42


@COMPILES
def test_a_changed_helper_is_not_found(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped.address(summed, "Ff>f")
    monkeypatch.setitem(globals(), "halved", lambda x: 0.25 * x)
    assert not shipped.address(summed, "Ff>f")
    assert native.compile_function(summed, "Ff>f")(np.array([4.0]), 1.0) == 1.0


@COMPILES
def test_no_flipped_bit_is_loaded(library: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = library.read_bytes()
    draw = random.Random(1)
    for _ in range(many(34)):
        bit = draw.randrange(8 * len(content))
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        library.write_bytes(changed)
        shipped._library.cache_clear()
        assert not shipped.address(summed, "Ff>f"), f"bit {bit}"
    assert "damaged" in caplog.text
    library.write_bytes(content[:-1])
    shipped._library.cache_clear()
    assert not shipped.address(summed, "Ff>f")


@COMPILES
def test_what_was_made_once_is_kept(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second wheel of the same sources compiles nothing and has the same bytes."""
    paths = tmp_path / "kernels.so", tmp_path / "texts.z"
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    for _ in range(2):
        assert shipping.make_library(dict(FUNCTIONS), *paths, processes=1) == (3, 1)
        assert paths[0].read_bytes() == made.read_bytes()
        assert paths[1].read_bytes() == made.with_name("texts.z").read_bytes()
        for name in ("text_of", "draft_of"):
            monkeypatch.setattr(fresh, name, lambda *given: pytest.fail("compiled again"))


@COMPILES
def test_a_process_takes_what_shares_helpers_with_what_it_has_made() -> None:
    groups = [
        shipping._Group({0: 50}, {halved: 10}),
        shipping._Group({1: 40}, {stored: 10}),
        shipping._Group({2: 30}, {stored: 10}),
        shipping._Group({3: 20}, {halved: 10}),
        shipping._Group({4: 10}, {three_times: 10}),
    ]
    me, other = os.getpid(), os.getpid() + 1
    takers = multiprocessing.Array("l", [0, other, 0, 0, 0])
    work = shipping._Work([], Path(), groups, takers)
    assert [[*work.take().sizes] for _ in range(4)] == [[0], [3], [4], [2]]
    assert [*takers] == [me, other, me, me, me]


def test_what_is_asked_for_is_collected() -> None:
    with shipping.collected() as wanted:
        native.compile_function(summed, "Ff>f")
        native.c_address(three_times, "i>i")
        with contextlib.suppress(cosim.ContractError):  # in plain Python, which the collection does not mind
            native.lower(stored, "Fif>v", "stored")
    assert wanted == {(summed, "Ff>f"): {"here"}, (three_times, "i>i"): {"c"}, (stored, "Fif>v"): {"text"}}


@COMPILES
def test_a_text_that_came_is_the_one_that_is_made_here(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    came = shipped_texts.text(summed, "Ff>f")
    assert came == fresh.text_of(summed, "Ff>f", fresh.lift_by_name)
    assert shipped_texts.text(stored, "Fif>v") is None
    monkeypatch.setattr(native, "_text_made_here", lambda function, signature: pytest.fail("lowered again"))
    assert "define" in native.lower(summed, "Ff>f", "sum_of_all")


@COMPILES
def test_a_text_does_not_tell_what_was_compiled_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """numba counts the functions of a process, and LLVM names what it inlines by them."""
    texts = []
    for _ in range(2):
        monkeypatch.setattr(fresh, "_by_name", {})  # helpers, too, are compiled again
        texts.append(fresh.text_of(all_doubled, "F>f", fresh.lift_by_name))
    assert "noalias !" in texts[0]
    assert texts[0] == texts[1]


@COMPILES
def test_damaged_texts_are_not_used(library: Path) -> None:
    content = shipped_texts.PATH.read_bytes()
    for bit in random.Random(1).sample(range(8 * len(content)), many(34)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        shipped_texts.PATH.write_bytes(damaged)
        shipped_texts._texts.cache_clear()
        assert shipped_texts.text(summed, "Ff>f") is None, f"bit {bit}"


call_law = indirect_call("fF>f")
call_quietly = status_call("fFTi>v")


def law(x, y):
    y[0] = np.sin(x)
    return 2.0 * y[0]


def refused(x, y, table, count):
    if count < 0:
        raise ValueError
    y[0] += x * table[count, 1]


@called_by_name("sum_of_both", "ifF>f")
def both(address, x, y):
    return call_law(address, (x, y)) + call_law(address, (-0.5 * x, y))


def through(address, other, x, y, table):
    total = both(address, x, y)
    bad = call_quietly(other, x, y, table, -1)
    return total + 10 * bad + call_quietly(other, x, y, table, 1)


@COMPILES
def test_a_library_calls_by_address_what_lowered_code_calls_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = "iifFT>f"
    path = tmp_path / "kernels.so"
    wanted: shipping.Forms = {(through, signature): {"here", "text"}, (both, "ifF>f"): {"here"}}
    assert shipping.make_library(wanted, path, tmp_path / "texts.z", processes=1) == (2, 1)
    text = native.lower(through, signature, "through")
    assert all(f"@{name}(" in text for name in ("sum_of_both", name_of("fFTi>v")))
    addresses = native.function_address(law, "fF>f"), native.function_address(refused, "fFTi>v")
    table, outcomes = np.arange(6).reshape(2, 3), []
    for place in (tmp_path / "nowhere.so", path):
        monkeypatch.setattr(shipped, "PATH", place)
        shipped._library.cache_clear()
        y = np.zeros(1)
        compiled = native.compile_function(through, signature)
        outcomes.append((compiled(*addresses, 0.7, y, table), y.tobytes()))
        assert isinstance(compiled, shipped.Shipped) == place.exists()
    shipped._library.cache_clear()
    assert outcomes[0] == outcomes[1] and outcomes[0][0] > 10


def test_what_is_kept_counts_all_that_writes_it() -> None:
    used = [value for module in (shipping, addressed_calls) for value in vars(module).values()]
    names = {getattr(value, "__module__", None) or getattr(value, "__name__", "") for value in used}
    lowering = {name for name in names if name.startswith("cosim_fmu.")}
    assert {"cosim_fmu.lowering.machine_code", "cosim_fmu.lowering.numbered_calls"} <= lowering
    for name in lowering:
        assert digest_of_module(sys.modules[name]) in shipping._compilers()


def test_a_part_is_compiled_once_as_text_and_for_processes() -> None:
    around = in_process(advance)
    (job,) = shipping._different({around: {"here"}, (advance, "Af>i"): {"text"}})
    assert (job.function, job.signature) == around and job.lowered == (advance, "Af>i")
    assert job.forms == {"here", "text"}
    (alone,) = shipping._different({around: {"here"}})
    assert alone.lowered == around


def test_a_function_is_bound_to_the_parts_that_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the library it calls them as they were: a changed part is another caller."""
    before = shipped.symbol(*in_process(advance))
    monkeypatch.setattr(shipped, "_symbol_of_part", lambda part: "another")
    assert shipped.symbol(*in_process(advance)) != before


RUN = """
import os
import sys
import cosim
from cosim_mechanics import Multibody

os.sched_getaffinity = lambda process: {0}  # two processes would compile helpers twice
model = Multibody("swing")
model.body("arm", mass=2.0, inertia=(0.1, 0.2, 0.3), center_of_mass=(0, -0.5, 0))
model.joint("pin", child="arm", q=0.7)
model.measure("measures.delay", "felt", source="arm_joint.q[0]", delay=0.05)
model.measure("measures.sample_and_hold", "sampled", source="felt", period=0.1)
simulator = cosim.Simulator(model.build(), accuracy=1e-7)
simulator.advance_to(1.0)
print(simulator.state.to_bytes().hex(), "numba" in sys.modules)
"""


def outcome(**environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@CAME
def test_what_came_gives_the_same_bytes_without_numba() -> None:
    came = outcome(COSIM_NO_SHIPPED="0")
    assert came[1] == "False"
    assert outcome(COSIM_NO_SHIPPED="1")[0] == came[0]
    assert outcome(NUMBA_DISABLE_JIT="1")[0] == came[0]


@CAME
def test_the_release_asks_for_what_components_of_ours_need(caplog: pytest.LogCaptureFixture) -> None:
    """Every function that the corpus of a release asks for came with the package."""
    places = os.pathsep.join([str(ROOT / "release"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", MISSING],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


MISSING = """
import corpus
import shipping
from cosim_compiler import shipped, shipped_texts

with shipping.collected() as wanted:
    corpus.ask_for_all()
find = {"here": shipped.address, "c": shipped.address, "text": shipped_texts.text}
all_forms = [(f, signature, form) for (f, signature), forms in wanted.items() for form in forms]
print([f"{f.__qualname__}: {form}" for f, signature, form in all_forms if not find[form](f, signature)])
"""


SHIP = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import ship
folder, made = Path(sys.argv[2]), []
ship.PATHS = folder / "new" / "library.so", folder / "new" / "texts.z"
root = folder / "sources"
(root / "cosim").mkdir(parents=True)
(root / "cosim" / "a.py").write_text("x = 1")
as_it_is = ship.digest_of_all
ship.digest_of_all = lambda: as_it_is(root)

def make():
    made.append(len(made))
    ship.PATHS[0].parent.mkdir(exist_ok=True)
    ship.PATHS[0].write_bytes(b"7\\nlibrary %d" % len(made))
    ship.PATHS[1].write_bytes(b"texts %d" % len(made))

ship.make = make
for source in ("x = 1", "x = 2", "x = 1", "x = 2"):
    (root / "cosim" / "a.py").write_text(source)
    for path in ship.PATHS:
        path.unlink(missing_ok=True)
    ship.main()
    print(len(made), [path.read_bytes() for path in ship.PATHS], file=sys.stderr)
"""


def test_a_library_of_the_same_sources_is_found_again(tmp_path: Path) -> None:
    environment = {**os.environ, "COSIM_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", SHIP, str(ROOT / "release"), str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = (str([b"7\nlibrary %d" % n, b"texts %d" % n]) for n in (1, 2))
    assert done.stderr.splitlines() == [f"1 {first}", f"2 {second}", f"2 {first}", f"2 {second}"]
