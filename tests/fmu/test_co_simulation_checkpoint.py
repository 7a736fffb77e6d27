"""A whole co-simulation saved, and resumed to the same bytes."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_tools import export, oscillator
from how_many import FACTOR
from native_tools import export_native, needs_compiler
from test_master_coupling import Block

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation, SystemParticipant, TimedInputs
from cosim_master.algorithms import exchange_layout
from cosim_master.run.saved_trees import VERSION, from_bytes, to_bytes

MakeFmu = Callable[..., Path]
LINKS = [
    "left.force -> right.f",
    "right.x -> left.x_other",
    "right.v -> left.v_other",
    "drive.u -> left.f",
]
SPRINGS = {"left.kc": 2.0, "left.cc": 0.1, "left.k": 3.0}
PUSH = {"u": [[0.0, 0.0], [0.3, 1.0], [0.62, -1.0]]}


class Mass(cosim.Component):
    """A mass on a spring that is hit when it comes back."""

    x = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    f = cosim.input(unit="N")
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x, v, f, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = f - 40.0 * x

    @cosim.witness(direction="falling")
    def middle(x):
        return x

    @cosim.on(middle, does="unrestricted")
    def hit(v, hits, v_next, hits_next):
        v_next[0] = 1.01 * v
        hits_next[0] = hits + 1


def loop_of(fmu: Path, algorithm: str, **options: Any) -> CoSimulation:
    """Two FMUs, a system of ours with events, and values over time."""
    model = cosim.Model("third")
    model.add(Mass, "m")
    parts = {"left": fmu, "right": fmu, "third": SystemParticipant(model), "drive": TimedInputs(PUSH)}
    links = [*LINKS, "right.force -> third.m.f"]
    return CoSimulation(parts, links, algorithm, 0.01, options=options, starts=SPRINGS)


def saved_at(loop: CoSimulation, when: float, until: float) -> tuple[bytes, Any]:
    """What is saved there by a run that goes on, and its result."""
    kept: list[bytes] = []

    def observe(now: float, values: Any) -> None:
        if not kept and now >= when:
            kept.append(loop.save())

    result = loop.simulate(until, observe=observe)
    return kept[0], result


def same(one: Any, other: Any) -> None:
    """Every byte."""
    assert one.time.tobytes() == other.time.tobytes()
    assert one.names == other.names
    for name in one.names:
        assert one[name].tobytes() == other[name].tobytes(), name
    assert [(e.time, e.handler, e.cause) for e in one.events] == [
        (e.time, e.handler, e.cause) for e in other.events
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("jacobi", {}),
        ("gauss_seidel", {"extrapolation": 2}),
        ("waveform_iteration", {}),
        ("interface_newton", {"hold": "end"}),
        ("adaptive", {"tolerance": 1e-3}),
    ],
)
def test_resumed_to_the_same_bytes(make_fmu: MakeFmu, algorithm: str, options: dict[str, Any]) -> None:
    fmu = make_fmu("mass")
    plain = loop_of(fmu, algorithm, **options).simulate(0.4)
    data, watched = saved_at(loop_of(fmu, algorithm, **options), 0.3, 0.4)
    same(plain, watched)  # saving changes nothing
    assert plain.events
    loop = loop_of(fmu, algorithm, **options)
    assert loop.restore(data) == pytest.approx(0.3)
    resumed = loop.simulate(0.4)
    same(plain, resumed)
    assert resumed.coupling.figures() == plain.coupling.figures()
    assert resumed.statistics["steps"] == plain.statistics["steps"] == 40
    same(plain, loop.simulate(0.4))  # the next run begins at the start again


def test_from_the_compiled_loop(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")

    def loop() -> CoSimulation:
        return CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], "jacobi", 1e-3, starts=SPRINGS)

    plain = loop().simulate(1.0)
    data, watched = saved_at(loop(), 0.5, 1.0)
    same(plain, watched)
    resumed = loop()
    resumed.restore(data)
    same(plain, resumed.simulate(1.0))
    assert plain.statistics["loop"] == resumed.result.statistics["loop"]  # type: ignore[union-attr]


def test_slow_participants_in_the_middle_of_their_step(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")

    def loop() -> CoSimulation:
        return CoSimulation(
            {"left": fmu, "right": fmu}, LINKS[:3], "gauss_seidel", 0.01, starts=SPRINGS, steps={"left": 0.07}
        )

    plain = loop().simulate(1.0)
    data, _ = saved_at(loop(), 0.52, 1.0)
    resumed = loop()
    resumed.restore(data)
    same(plain, resumed.simulate(1.0))


def test_a_longer_run_goes_on_from_the_end(tmp_path: Path) -> None:
    """The checkpoint is written once more when a run ends, also when it is stopped."""
    model = cosim.Model("third")
    model.add(Mass, "m")
    model.add("measures.signal", "place", source="m.x")
    drive = {"u": [[0.0, 0.0], [0.3, 1.0]]}

    def loop() -> CoSimulation:
        parts = {"third": SystemParticipant(model), "drive": TimedInputs(drive)}
        return CoSimulation(parts, ["drive.u -> third.m.f"], "jacobi", 0.01)

    path = tmp_path / "loop.saved"
    whole = loop().simulate(1.0)
    loop().simulate(0.5, checkpoint=cosim.Checkpoint(path, every=3600.0))
    begun: list[float] = []
    again = loop()
    again.restore(path.read_bytes())
    resumed = again.simulate(1.0, observe=lambda time, values: begun.append(time))
    assert begun[0] == pytest.approx(0.51)
    assert resumed["third.place"].tobytes() == whole["third.place"].tobytes()
    loop().simulate(
        1.0, observe=lambda time, values: time < 0.3, checkpoint=cosim.Checkpoint(path, every=3600.0)
    )
    begun.clear()
    again = loop()
    again.restore(path.read_bytes())
    resumed = again.simulate(1.0, observe=lambda time, values: begun.append(time))
    assert begun[0] == pytest.approx(0.31)
    assert resumed["third.place"].tobytes() == whole["third.place"].tobytes()


@pytest.mark.few(1)
@pytest.mark.parametrize("write", ["python", pytest.param("native", marks=needs_compiler)])
def test_a_longer_run_of_our_fmus_goes_on_beyond_the_stop_time_of_the_first(
    write: str, tmp_path: Path
) -> None:
    """A stop time is what the host has told an instance, not part of the state that another one restores."""
    made = export_native if write == "native" else export
    fmu = made(oscillator(), tmp_path / "oscillator.fmu")

    def loop() -> CoSimulation:
        return CoSimulation({"one": fmu}, [], "jacobi", 0.01)

    path = tmp_path / "loop.saved"
    whole = loop().simulate(0.2)
    loop().simulate(0.1, checkpoint=cosim.Checkpoint(path, every=3600.0))
    again = loop()
    again.restore(path.read_bytes())
    resumed = again.simulate(0.2)
    assert resumed.time[-1] == 0.2
    assert resumed["one.osc.position"].tobytes() == whole["one.osc.position"].tobytes()


def test_who_cannot_be_saved_is_named_before_the_run(tmp_path: Path) -> None:
    parts = {"a": Block({"y": lambda t: t}), "b": Block({"y": lambda t, u: u}, ["u"])}
    loop = CoSimulation(parts, [("a.y", "b.u")], "jacobi", 0.1)
    with pytest.raises(cosim.ModelError) as caught:
        loop.simulate(1.0, checkpoint=cosim.Checkpoint(tmp_path / "c"))
    assert [fault.where for fault in caught.value.problems] == ["participants.a", "participants.b"]
    assert not parts["a"].calls or "step" not in {call for call, _ in parts["a"].calls}
    with pytest.raises(cosim.CosimError, match="no run"):
        loop.save()


class OneWay(SystemParticipant):
    """Gives its state away, and does not know it again."""

    error: Exception

    def deserialize(self, data: bytes) -> Any:
        raise self.error


@pytest.mark.parametrize("error", [cosim.CosimError("unknown pointer"), IndexError("unknown pointer")])
def test_a_participant_that_rejects_its_saved_state_is_named_before_the_run(
    tmp_path: Path, error: Exception
) -> None:
    """FMUs were seen that declare it, and fail: said before a long run, not when it is resumed."""
    model = cosim.Model("third")
    model.add(Mass, "m")
    third = OneWay(model)
    third.error = error
    loop = CoSimulation({"third": third, "other": SystemParticipant(model)}, [], "jacobi", 0.01)
    with pytest.raises(
        cosim.ModelError, match=r"participants\.third.*rejects its own saved state.*unknown pointer"
    ) as raised:
        loop.simulate(0.1, checkpoint=tmp_path / "loop.saved")
    assert "other" not in str(raised.value)
    assert not (tmp_path / "loop.saved").exists()


def test_an_algorithm_that_hides_its_memory_is_named(make_fmu: MakeFmu) -> None:
    class Hiding(cosim.MasterAlgorithm):
        """All step from the same values, and something is kept that no file can hold."""

        def __init__(self) -> None:
            self.secret = iter([1, 2])

        def step(self, exchange: Any, time: float, size: float) -> None:
            for name in exchange.order:
                exchange.set_inputs(name)
            exchange.advance_all(time, size)
            for name in exchange.order:
                exchange.read_outputs(name)

    fmu = make_fmu("mass")
    loop = CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], Hiding(), 0.1)
    with pytest.raises(cosim.CosimError, match="Hiding.*secret"):
        saved_at(loop, 0.2, 0.5)


def test_another_co_simulation_is_refused(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    parts = {"left": fmu, "right": fmu}
    data, _ = saved_at(CoSimulation(parts, LINKS[:3], "jacobi", 0.1, starts=SPRINGS), 0.5, 1.0)
    others = [
        (CoSimulation(parts, LINKS[:3], "jacobi", 0.2, starts=SPRINGS), "communication steps"),
        (CoSimulation(parts, LINKS[:3], "gauss_seidel", 0.1, starts=SPRINGS), "algorithms"),
        (CoSimulation(parts, LINKS[:2], "jacobi", 0.1, starts=SPRINGS), "connections"),
        (CoSimulation(parts, LINKS[:3], "jacobi", 0.1), "start values"),
    ]
    for other, what in others:
        other.restore(data)
        with pytest.raises(cosim.ModelError, match=what):
            other.simulate(1.0)
    short = CoSimulation(parts, LINKS[:3], "jacobi", 0.1, starts=SPRINGS)
    short.restore(data)
    with pytest.raises(cosim.ModelError, match="no communication point"):
        short.simulate(0.3)


def test_damaged_bytes_are_an_error_and_nothing_else(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    loop = CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], "jacobi", 0.1, starts=SPRINGS)
    data, _ = saved_at(loop, 0.5, 1.0)
    chance = random.Random(1)
    for _ in range(200):
        broken = bytearray(data)
        if chance.random() < 0.5:
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        else:
            del broken[chance.randrange(len(broken)) :]
        with pytest.raises(cosim.CosimError):
            loop.restore(bytes(broken))
    with pytest.raises(cosim.CosimError, match="version 7"):
        loop.restore(data.replace(VERSION.to_bytes(4, "little"), (7).to_bytes(4, "little"), 1))


def places(tree: Any, path: tuple[Any, ...] = (), depth: int = 0) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a tree; of lists the first entry."""
    if path and path[0] != "identity":
        yield path
    if depth < 3 and isinstance(tree, (dict, list, tuple)):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree[:1])
        for key, value in items:
            yield from places(value, (*path, key), depth + 1)


def replaced(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A tree with another value at a place; `DELETED` takes it away."""
    if not path:
        return value
    pairs = dict(tree if isinstance(tree, dict) else enumerate(tree))
    pairs[path[0]] = replaced(pairs[path[0]], path[1:], value)
    if pairs[path[0]] is DELETED:
        del pairs[path[0]]
    return pairs if isinstance(tree, dict) else type(tree)(pairs.values())


DELETED = object()


@pytest.mark.thorough
def test_forged_content_under_a_right_checksum_is_a_sentence(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    loop = CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], "jacobi", 0.1, starts=SPRINGS)
    tree = from_bytes(saved_at(loop, 0.5, 1.0)[0])
    refused = 0
    forged = (None, "x", -1, [], {"x": 1}, np.zeros((3, 3)), DELETED)
    for i, path in enumerate(places(tree)):
        for value in forged if FACTOR > 1 else (forged[i % 6], DELETED):  # in a short run by turns
            data = to_bytes(replaced(tree, path, value))
            try:
                loop.restore(data)
                loop.simulate(1.0)
            except cosim.CosimError as error:
                refused += 1
                assert not re.search(r"\w+(Error|Exception)\b|object is not|has no attribute", str(error)), (
                    path
                )
    assert refused > (200 if FACTOR > 1 else 50)
    loop.restore(to_bytes(tree))
    assert loop.simulate(1.0).time[-1] == 1.0


def test_what_algorithms_remember_in_another_layout_is_refused(
    make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays are put back as they are: they would be read by the indices of this layout."""
    fmu = make_fmu("mass")
    loop = CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], "adaptive", 0.1, starts=SPRINGS)
    data, _ = saved_at(loop, 0.5, 1.0)
    with monkeypatch.context() as other:
        other.setattr(exchange_layout, "PAST", exchange_layout.PAST + 1)
        loop.restore(data)
        with pytest.raises(cosim.ModelError, match="algorithms remember differ"):
            loop.simulate(1.0)
    loop.restore(data)
    assert loop.simulate(1.0).time[-1] == 1.0


def test_trees_come_back_as_they_were() -> None:
    tree = {
        "numbers": [1, -(2**70), 0.1, float("inf"), True, None],
        "$odd key": (1, ("two", b"\x00\xff")),
        3: np.arange(6.0).reshape(2, 3),
        "empty": np.zeros((0, 4), dtype=np.int32),
    }
    back = from_bytes(to_bytes(tree))
    assert list(back) == list(tree)
    assert back["numbers"] == tree["numbers"]
    assert back["$odd key"] == tree["$odd key"]
    assert back[3].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert back["empty"].shape == (0, 4)
    with pytest.raises(TypeError, match="object"):
        to_bytes({"what": object()})


SCENARIO = """
connections = ["left.force -> right.f", "right.x -> left.x_other", "right.v -> left.v_other"]
[participants.left]
fmu = "mass.fmu"
process = true
[participants.left.parameters]
kc = 2.0
cc = 0.1
[participants.right]
fmu = "mass.fmu"
[master]
algorithm = "waveform_iteration"
step = "0.5 ms"
until = 1.0
"""


def scenario(make_fmu: MakeFmu, folder: Path) -> Path:
    """A scenario with a participant in a process of its own."""
    (folder / "mass.fmu").write_bytes(make_fmu("mass").read_bytes())
    path = folder / "loop.toml"
    path.write_text(SCENARIO)
    return path


def test_command_line(make_fmu: MakeFmu, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(make_fmu, tmp_path)
    path.write_text(
        SCENARIO.replace("0.5 ms", "20 ms").replace("process = true", "").replace("= 1.0", "= 0.2")
    )
    outputs = [tmp_path / "whole.csv", tmp_path / "resumed.csv"]
    saved = tmp_path / "saved"
    given = ["cosimulate", str(path), "-q", "-o"]
    assert main([*given, str(outputs[0]), "--checkpoint", str(saved), "--checkpoint-every", "1 ms"]) == 0
    assert main([*given, str(outputs[1]), "--resume", str(saved)]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert main([*given, str(outputs[1]), "--resume", str(path)]) != 0
    assert main([*given, str(outputs[1]), "--resume", str(tmp_path / "nothing")]) != 0
    assert main([*given, str(outputs[1]), "--checkpoint", str(tmp_path)]) != 0
    assert main([*given, str(outputs[1]), "--checkpoint", str(saved), "--checkpoint-every", "0 s"]) != 0
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "checkpoint of a co-simulation" in said


def left_over(folder: Path) -> list[str]:
    """Processes that still have to do with a run in this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if f"KILLED_IN={folder}".encode() in words and state != "Z":
                found.append(entry.name)
    return found


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_killed_at_random_moments(make_fmu: MakeFmu, tmp_path: Path) -> None:
    """Fifty times: what goes on from the last checkpoint ends with the same bytes; nothing is left."""
    path = scenario(make_fmu, tmp_path)
    whole, output, saved = tmp_path / "whole.csv", tmp_path / "r.csv", tmp_path / "saved"
    environment = {**os.environ, "KILLED_IN": str(tmp_path)}
    command = [sys.executable, "-m", "cosim", "cosimulate", str(path), "-q", "-o"]
    begun = time.perf_counter()
    subprocess.run([*command, str(whole)], check=True, env=environment)
    span = time.perf_counter() - begun
    chance, kills = random.Random(25), 0
    more: list[str] = []
    while kills < 50:
        run = subprocess.Popen(
            [*command, str(output), "--checkpoint", str(saved), "--checkpoint-every", "20 ms", *more],
            env=environment,
        )
        try:
            code = run.wait(chance.uniform(0.2, 1.2) * span)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            kills += 1
        else:
            assert code == 0
            assert output.read_bytes() == whole.read_bytes()
            saved.unlink()
            output.unlink()
        more = ["--resume", str(saved)] if saved.exists() else []
    subprocess.run([*command, str(output), *more], check=True, env=environment)
    assert output.read_bytes() == whole.read_bytes()
    for _ in range(100):
        if not left_over(tmp_path):
            break
        time.sleep(0.1)
    assert left_over(tmp_path) == []
