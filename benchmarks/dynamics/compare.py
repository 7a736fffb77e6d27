"""One forward-dynamics evaluation, here and in five other libraries, on the same trees in one run.

    python benchmarks/dynamics/compare.py [--passes 5] [--table table.md] [--plot cost.svg]

A walk through the schedule from stage Time to Acceleration counts as our evaluation: what the step of an
integrator calls in compiled code, with joints, gravity and accelerations of all bodies. The others are called
as their own simulation loops call them. Every library computes every tree in every pass; the best time
counts, and the accelerations have to agree.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import llvmlite
import numpy as np
from peers import try_peer
from trees import GRAVITY, Tree, chain, humanoid

import cosim
import cosim_mechanics
from cosim import kit
from cosim_mechanics import Multibody

TREES = [*(chain(n) for n in (1, 2, 5, 10, 30, 100)), humanoid()]
OURS = "cosim"
PEERS = {
    "MuJoCo": ("mujoco", "dynamics/peer_mujoco.py"),
    "Pinocchio": ("pinocchio", "dynamics/peer_pinocchio.py"),
    "Pinocchio (C++)": ("pinocchio", "dynamics/peer_pinocchio.cpp"),
    "Exudyn": ("exudyn", "dynamics/peer_exudyn.py"),
    "Drake": ("drake", "dynamics/peer_drake.py"),
    "Simbody": ("simbody", "dynamics/peer_simbody.cpp"),
}
#: F's and M's axes in a body's frame, by rows, for a hinge about x, y or z.
TURNED = {
    (1.0, 0.0, 0.0): (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0),
    (0.0, 1.0, 0.0): (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0),
    (0.0, 0.0, 1.0): (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
}
AGREE = 1e-6  # some of the others have moved a few steps of 1 ns when they are asked


def model_of(tree: Tree, solver: str | None = None) -> Multibody:
    """The tree as a model of ours."""
    model = Multibody("tree", gravity=GRAVITY)
    if solver:
        model.settings["dynamics"] = solver
    for i, body in enumerate(tree["bodies"]):
        model.body(f"b{i}", mass=body["mass"], center_of_mass=body["center"], inertia=body["inertia"])
        R = TURNED[body["axis"]]
        start = {"q": tree["q"], "u": tree["u"]} if body["joint"] == "pin" else {}
        model.joint(
            body["joint"],
            name=f"j{i}",
            child=f"b{i}",
            parent="ground" if body["parent"] < 0 else f"b{body['parent']}",
            frame_on_parent=(*R, *body["position"]),
            frame_on_child=(*R, 0.0, 0.0, 0.0),
            **start,
        )
    return model


def build(tree: Tree, solver: str | None = None) -> cosim.System:
    """The tree as a system of ours."""
    return model_of(tree, solver).build()


def measure(system: cosim.System) -> float:
    """Best time of one walk from Time to Acceleration in compiled code, s."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    walk = kit.compile_function(kit.repeat_walk, kit.REPEAT_SIGNATURE)
    first, last = system.derivative_range
    count = max(100, 40_000 // (1 + system.nu))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        if walk(system.table, system.ints, first, last, 0.0, *system.arrays(state), count):
            raise SystemExit("an evaluation failed")
        times.append((time.perf_counter() - start) / count)
    return min(times)


def accelerations(system: cosim.System) -> list[float]:
    """The accelerations of the pins, in order."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    udot = np.array(state.y_dot[system.nq : system.nq + system.nu])
    pins = [n for n, part in system.parts.items() if isinstance(part, cosim_mechanics.Joint) and part.nu == 1]
    offsets = [system.variables[f"{name}.u"].slot.offset - system.nq for name in pins]
    return [float(udot[i]) for i in offsets]


def write_inputs(folder: Path) -> tuple[Path, Path]:
    """The trees for Python (JSON) and for C++ (numbers in lines)."""
    rounds = 3
    as_json, as_text = folder / "trees.json", folder / "trees.txt"
    as_json.write_text(json.dumps([{**tree, "rounds": rounds, "gravity": GRAVITY} for tree in TREES]))
    lines: list[list[Any]] = [[rounds, *GRAVITY]]
    for tree in TREES:
        lines.append([tree["name"].replace(" ", "_"), len(tree["bodies"]), tree["q"], tree["u"]])
        for b in tree["bodies"]:
            is_pin = int(b["joint"] == "pin")
            numbers = [*b["axis"], *b["position"], b["mass"], *b["center"], *b["inertia"]]
            lines.append([b["parent"], is_pin, *numbers])
    as_text.write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
    return as_json, as_text


def machine() -> str:
    """The machine of the measurement."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = [line.partition(":")[2].strip() for line in info.splitlines() if line.startswith("model")]
    cpu = " ".join(reversed(models[:2])) or platform.machine()
    return f"{cpu}; Python {platform.python_version()}; llvmlite {llvmlite.__version__}"


class Comparison:
    """The best times of all programs on all trees, s, by program and tree.

    Parameters
    ----------
    peers : list of str
        Keys of `PEERS`; one that cannot run is left out.
    """

    def __init__(self, peers: list[str]) -> None:
        self.peers = list(peers)
        self.systems = {tree["name"]: build(tree) for tree in TREES}
        self.best: dict[str, dict[str, float]] = {name: {} for name in [OURS, *peers]}
        self.versions = {OURS: cosim.__version__}

    @property
    def programs(self) -> list[str]:
        """Ours, and the peers that can run."""
        return [OURS, *self.peers]

    def measure(self, as_json: Path, as_text: Path) -> None:
        """Measure each tree once in each program; the files are those of `write_inputs`."""
        for name, system in self.systems.items():
            self._store(OURS, name, measure(system))
        for peer in list(self.peers):
            key, script = PEERS[peer]
            answer = try_peer(key, script, [str(as_text if script.endswith("cpp") else as_json)])
            if answer is None:
                self.peers.remove(peer)
                continue
            self.versions[peer] = answer["version"]
            for name, row in answer["trees"].items():
                self._check_accelerations(peer, name, row["udot"])
                self._store(peer, name, row["seconds"])

    def table(self) -> str:
        """The table in Markdown: microseconds, and in brackets how many times ours."""
        lines = ["| tree | " + " | ".join(f"{name} {self.versions[name]}" for name in self.programs) + " |"]
        lines.append("|---|" + "---|" * len(self.programs))
        for name in self.systems:
            own, *others = (1e6 * self.best[program][name] for program in self.programs)
            cells = [f"{own:.2f}", *(f"{other:.2f} ({other / own:.1f}×)" for other in others)]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def _store(self, program: str, tree: str, seconds: float) -> None:
        self.best[program][tree] = min(seconds, self.best[program].get(tree, np.inf))

    def _check_accelerations(self, peer: str, tree: str, udot: list[float]) -> None:
        """End the program if a peer computes other accelerations than ours."""
        ours = np.array(accelerations(self.systems[tree]))
        error = abs(np.array(udot) - ours).max()
        if not error <= AGREE * abs(ours).max():
            raise SystemExit(f"{peer} computes other accelerations of {tree}: {error}")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write the table and the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=3, help="the best of so many passes counts")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}; or none")
    parser.add_argument("--table", type=Path, help="write the table as Markdown")
    parser.add_argument("--plot", type=Path, help="write the plot (.svg or .png)")
    options = parser.parse_args(arguments)
    peers = [name for name in options.peers.split(",") if name not in ("", "none")]
    for name in peers:
        if name not in PEERS:
            parser.error(str(cosim.LookUpError("peer", name, PEERS)))
    comparison = Comparison(peers)
    with tempfile.TemporaryDirectory() as folder:
        inputs = write_inputs(Path(folder))
        for _ in range(options.passes):
            comparison.measure(*inputs)
    text = f"{machine()}. Microseconds; in brackets how many times ours.\n\n{comparison.table()}\n"
    print(text)
    if options.table:
        options.table.write_text(text)
    if options.plot:
        draw({name: comparison.best[name] for name in comparison.programs}, options.plot)
    return 0


def draw(best: dict[str, dict[str, float]], path: Path) -> None:
    """Draw the best times of chains, s, over their number of links."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "cost"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for name, times in best.items():
        links = [(int(k.split()[1]), 1e6 * s) for k, s in times.items() if k.startswith("chain")]
        axes.loglog(*zip(*links, strict=True), marker="o", lw=3 if name == OURS else 1.2, label=name)
    axes.set(xlabel="links of the chain", ylabel="one evaluation of the accelerations, µs")
    axes.grid(True, which="both", alpha=0.25)
    axes.legend()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    sys.exit(main())
