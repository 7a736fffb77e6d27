"""A randomly damaged document of an SSP is refused, or written and read as the same co-simulation."""

import copy
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree
from ssp_files import bindings, component, connectors, pack, ssd, system, wire

import cosim
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
VALUES = (
    *("", "x", "-1", "nan", "a.y", "b", "../x.fmu", "#", "0", "1e999", "1 2", "http://a/b", "ü"),
    *("output", "input"),
)
"""Values that an attribute may get."""


def damage(root: etree._Element, rng: random.Random) -> None:
    """Remove, copy or move an element, or change an attribute."""
    elements = [e for e in root.iter() if isinstance(e.tag, str)]
    element, parent = rng.choice(elements), rng.choice(elements)
    kind = rng.randrange(6)
    if kind == 0 and element.getparent() is not None:
        element.getparent().remove(element)
    elif kind == 1 and element.attrib:
        element.attrib.pop(rng.choice(sorted(element.attrib)))
    elif kind == 2 and element.attrib:
        element.set(rng.choice(sorted(element.attrib)), rng.choice(VALUES))
    elif kind == 3 and element.getparent() is not None:
        element.getparent().append(copy.deepcopy(element))
    elif kind == 4:
        parent.append(copy.deepcopy(element))
    else:
        names = ["unit", "startIndices", "source", "prefix", "name", "type", "version"]
        element.set(rng.choice(names), rng.choice(VALUES))


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.thorough] * (n >= 15)) for n in range(60)]
)
def test_damaged_documents_are_written_and_read_again_or_refused(
    seed: int, tmp_path: Path, make_fmu: MakeFmu
) -> None:
    rng = random.Random(seed)
    inner_system = system(
        component("b"),
        wire("in", "b.u") + wire("b.y", "out"),
        connectors(**{"in": "input m", "out": "output"}),
        "s",
    )
    wires = wire("a.y", "s.in", '<ssc:LinearTransformation factor="2"/>') + wire("s.out", "c.u")
    parts = (
        component("a", inner=connectors(y="output mm") + bindings(("bias", 3.0)))
        + inner_system
        + component("c")
    )
    units = (
        '<ssd:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>'
        '<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit></ssd:Units>'
    )
    root = etree.fromstring(ssd(system(parts, wires, bindings(("c.gain", 4.0))), units).encode())
    for _ in range(rng.randint(1, 4)):
        damage(root, rng)
    files = {"SystemStructure.ssd": etree.tostring(root), "resources/gain.fmu": make_fmu("gain")}
    try:
        loop = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", files))
    except cosim.CosimError:
        return
    copy = CoSimulation.from_ssp(loop.to_ssp(tmp_path / "2.ssp"))
    assert copy.start_values == loop.start_values
    assert sorted(map(str, copy.links)) == sorted(map(str, loop.links))
