"""Nodes on a bus exchange binary frames, whose arrival ticks clocks."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from frames3_fmu import make_frames3

import cosim
from cosim_fmu import CoSimulation

Compiled = Callable[..., Path]
LINKS = [
    link
    for port, node in (("one", "a"), ("two", "b"))
    for link in (
        f"{node}.tx -> bus.{port}.rx",
        f"{node}.tx_clock -> bus.{port}.rx_clock",
        f"bus.{port}.tx -> {node}.rx",
        f"bus.{port}.tx_clock -> {node}.rx_clock",
    )
]

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")


def two_nodes(
    folder: Path,
    compiled: Compiled,
    algorithm: str = "jacobi",
    starts: dict[str, float] | None = None,
) -> CoSimulation:
    """Nodes a and b on a bus; each sends a frame in each period, of 0.3 s unless `starts` differ."""
    fmus = make_frames3(folder, compiled)
    parts = {"a": fmus["node"], "bus": fmus["bus"], "b": fmus["node"]}
    starts = {"a.id": 1, "b.id": 2, **(starts or {})}
    return CoSimulation(parts, LINKS, algorithm, 0.1, starts=starts)


def test_the_bus_carries_one_frame_after_the_other(tmp_path: Path, compiled: Compiled) -> None:
    """Both nodes send at 0.3 s; the first frame arrives 1 ms later, the second 1 ms after that."""
    result = two_nodes(tmp_path, compiled).simulate(1.0)
    assert result["bus.carried"][-1] == 6
    for name, delay in (("b", 0.001), ("a", 0.002)):
        assert (result[f"{name}.received"][-1], result[f"{name}.sum"][-1]) == (3, 1 + 2 + 3)
        arrivals = sorted(set(result[f"{name}.last"].tolist()) - {0.0})
        assert arrivals == pytest.approx([0.3 + delay, 0.6 + delay, 0.9 + delay], abs=1e-12)


def test_binary_values_are_recorded(tmp_path: Path, compiled: Compiled) -> None:
    result = two_nodes(tmp_path, compiled, starts={"b.period": 10.0}).simulate(1.0)
    assert list(dict.fromkeys(result["a.tx"].tolist())) == ["", "0101", "0102", "0103"]
    assert list(dict.fromkeys(result["bus.two.tx"].tolist())) == ["", "0101", "0102", "0103"]
    assert set(result["bus.one.tx"].tolist()) == {"", "ff01"}
    path = result.to_csv(tmp_path / "frames.csv")
    assert cosim.read_result(path)["a.tx"].tolist() == result["a.tx"].tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize("period", [0.25, 0.1, 0.05])
def test_no_frame_is_lost(tmp_path: Path, compiled: Compiled, period: float) -> None:
    """Also if two frames are sent in one step, or while the bus carries another."""
    result = two_nodes(tmp_path, compiled, starts={"a.period": period, "b.period": period}).simulate(2.0)
    sent = int(1.9 / period + 1e-9)  # later ones may still be on their way
    for name in ("a", "b"):
        assert sent <= result[f"{name}.received"][-1] <= round(2.0 / period + 1e-9)
        count = int(result[f"{name}.received"][-1])
        assert result[f"{name}.sum"][-1] == count * (count + 1) // 2  # numbered 1, 2, 3, …: each arrived once


def test_algorithms_with_an_order_of_participants_are_warned_of(tmp_path: Path, compiled: Compiled) -> None:
    loop = two_nodes(tmp_path, compiled, "gauss_seidel")
    result = loop.simulate(1.0)
    assert any('algorithm = "jacobi"' in text for text in result.warnings)
    assert result["bus.carried"][-1] > 0
    assert not any("jacobi" in text for text in two_nodes(tmp_path, compiled).warnings)
