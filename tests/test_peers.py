"""The environments of other libraries that benchmarks compare with: their names and pinned versions."""

import importlib.util
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
REQUIREMENTS = sorted((BENCHMARKS / "requirements").glob("*.txt"))


def load_peers():
    spec = importlib.util.spec_from_file_location("peers", BENCHMARKS / "peers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_unknown_peer_is_refused_with_the_names_that_exist(tmp_path, monkeypatch):
    monkeypatch.setenv("COSIM_PEERS", str(tmp_path))
    peers = load_peers()
    with pytest.raises(peers.PeerError, match="peer 'mujocko'.*mujoco"):
        peers.run_peer("mujocko", "dynamics/peer_mujoco.py")


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda p: p.stem)
def test_every_requirement_is_pinned(path):
    lines = path.read_text().split()
    assert lines
    assert [line for line in lines if "==" not in line] == []
