"""The terms that joints with equations of their own add to the equations of motion."""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cosim
from cosim.kit import Block
from cosim_dynamics.connectivity import Report
from cosim_dynamics.joint_equations import has_own_equations, trace
from cosim_dynamics.symbol import HERE
from cosim_dynamics.traced_block import traced_block
from cosim_dynamics.tree import Tree
from cosim_mechanics import contracts

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot

KERNEL = str(Path(inspect.getfile(cosim.Model)).parents[1])
"""Its frames are not the author's."""


class OwnTerms(NamedTuple):
    """The offsets in the cache of the terms of one speed."""

    coefficients: int
    constant: int


class JointTerms:
    """Kernels for the joints that bring equations of their own, or whose coordinates drive rotors.

    Attributes
    ----------
    blocks : list of Block
    slots : dict of str to Slot
        Their results by the joint's name: nu by nu coefficients, then nu constants.
    couples : list of str
        Names of those with several speeds.

    Parameters
    ----------
    assembly : Assembly
    tree : Tree
    problem : callable
        Takes the name of a joint and what is wrong with its equations.
    """

    def __init__(self, assembly: Assembly, tree: Tree, problem: Report) -> None:
        self.blocks: list[Block] = []
        self.slots: dict[str, Slot] = {}
        self.couples: list[str] = []
        with_rotors = joints_with_rotors(assembly)
        for link in tree.links:
            joint = link.joint
            if joint.nu and (has_own_equations(joint) or joint.name in with_rotors):
                try:
                    self._add(assembly, joint, joint.name in with_rotors)
                except Exception as error:  # the author's code: whatever it raises is a fault of the model
                    problem(joint.name, with_line(error))

    def of(self, joint: contracts.Joint, speed: int) -> OwnTerms | None:
        """The terms of one speed; None for a joint without equations of its own."""
        slot = self.slots.get(joint.name)
        if slot is None:
            return None
        return OwnTerms(slot.part(joint.nu * speed).offset, slot.part(joint.nu * joint.nu + speed).offset)

    def _add(self, assembly: Assembly, joint: contracts.Joint, has_rotors: bool) -> None:
        graph, equations = trace(joint, has_rotors)
        block, self.slots[joint.name] = traced_block(
            assembly, joint, graph, equations.results, assembly.slot, "own equations"
        )
        self.blocks.append(block)
        self.couples += [joint.name] if joint.nu > 1 else []


def joints_with_rotors(assembly: Assembly) -> set[str]:
    """Names of the joints to whose coordinates force elements add inertia."""
    names: set[str] = set()
    for part in assembly.parts(contracts.Force):
        for arguments in part.arguments.values():
            for argument in arguments:
                if argument.role == "offered" and argument.slot == "added_inertia":
                    path = assembly.attached_path(part, argument.of)
                    names.add(path.partition("[")[0].partition(".")[0])
    return names


def with_line(error: Exception) -> str:
    """The text of an error, with the author's line where the error itself does not name it."""
    if isinstance(error, cosim.CosimError) and not isinstance(error, AttributeError):
        return str(error)
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith((HERE, KERNEL))
    ]
    text = (
        str(error) if isinstance(error, (TypeError, cosim.CosimError)) else f"{type(error).__name__}: {error}"
    )
    return f"{frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line}\n  {text}" if frames else text
