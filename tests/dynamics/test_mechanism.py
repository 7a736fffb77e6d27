"""The table of records that the blocks of a solver share."""

from __future__ import annotations

import numpy as np
import pytest
from mechanism_tables import mechanism_of, row_starts

import cosim
from cosim.kit import width_of
from cosim_dynamics.mechanism import (
    ANY_MOTION,
    FIXED_AXES,
    NOWHERE,
    PIVOT,
    DofSlots,
    LinkSlots,
    MechanismSlots,
    dofs_of,
    terms_of,
)
from cosim_mechanics import Multibody

SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
CACHE_LINE = 8


@pytest.fixture
def branched():
    """Return a free trunk with a weld that carries a slider, and a pin; a gear couples slider and pin."""
    model = Multibody("branched")
    for name in ("trunk", "plate", "carriage", "arm"):
        model.body(name, **SOLID)
    model.joint("free", child="trunk")
    model.joint("weld", child="plate", parent="trunk")
    slider = model.joint("slider", child="carriage", parent="plate")
    pin = model.joint("pin", child="arm", parent="trunk")
    model.constraint("gear", "gear", coordinate1=pin, coordinate2=slider, ratio=2.0)
    model.constraint("ball_constraint", "hook", body1="plate", body2="ground")
    return model.build()


def test_a_link_and_a_degree_of_freedom_take_whole_cache_lines():
    assert (width_of(LinkSlots) % CACHE_LINE, width_of(DofSlots) % CACHE_LINE) == (0, 0)


def test_all_blocks_of_a_solver_share_one_table(branched):
    begins = row_starts(branched)
    assert {"dynamics: poses", "dynamics: velocities", "dynamics: constraints"} < set(begins)
    assert len(set(begins.values())) == 1
    corrections = {int(first) for _, first, _ in branched.table[len(branched.blocks) :]}
    assert set(begins.values()) < corrections  # and so do the corrections after a step
    header = mechanism_of(branched).header
    assert (header.links, header.dofs, header.equations) == (4, 8, 4)
    assert header.links_at == width_of(MechanismSlots)


def test_links_know_their_parents(branched):
    links = mechanism_of(branched).links
    assert [link.dofs for link in links] == [6, 0, 1, 1]
    assert [link.has_parent for link in links] == [0, 1, 1, 1]
    assert [link.is_behind_parent for link in links] == [0, 1, 1, 0]
    assert [link.carries for link in links] == [1, 1, 0, 0]
    assert [link.is_last_child for link in links] == [1, 0, 1, 1]
    for link, parent in ((1, 0), (2, 1), (3, 0)):
        assert bytes(links[link].parent) == bytes(links[parent].body)
        X_GB = branched.variables[f"{('trunk', 'plate')[parent]}.X_GB"].slot
        assert X_GB.offset == links[link].parent.X_GB
    assert links[0].parent.X_GB == NOWHERE
    assert [link.motion for link in links] == [FIXED_AXES, ANY_MOTION, FIXED_AXES, PIVOT]


def test_degrees_of_freedom_know_the_way_to_ground(branched):
    mechanism = mechanism_of(branched)
    dofs = mechanism.dofs
    assert [dof.number for dof in dofs] == list(range(8))
    assert [dof.parent for dof in dofs] == [-1, 0, 1, 2, 3, 4, 5, 5]
    assert [dof.run for dof in dofs] == [0] * 7 + [7]
    assert [dof.axis for dof in dofs] == [0, 1, 2, 3, 4, 5, 3, 2]
    assert [[dof.number for dof in dofs_of(mechanism, link)] for link in mechanism.links] == [
        [0, 1, 2, 3, 4, 5],
        [],
        [6],
        [7],
    ]
    state = branched.default_state().realize(cosim.Stage.POSITION)
    assert state.arrays["c"][dofs[6].S :][:6].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]


def test_terms_of_equations_know_their_degrees_of_freedom(branched):
    mechanism = mechanism_of(branched)
    gear, *hook = mechanism.equations
    assert [(term.size, term.dof) for term in terms_of(mechanism, gear)] == [(1, 7), (1, 6)]
    for equation in hook:  # the welded plate moves with the trunk; Ground does not move
        assert [(term.size, term.dof) for term in terms_of(mechanism, equation)] == [(6, 5), (6, NOWHERE)]
        assert [term.mass == NOWHERE for term in terms_of(mechanism, equation)] == [False, True]


@pytest.mark.parametrize("solver", ["composite_rigid_body", "articulated_body"])
def test_slots_that_a_solver_does_not_need_lie_nowhere(solver):
    model = Multibody("pendulum")
    model.settings["dynamics"] = f"dynamics.{solver}"
    model.body("rod", **SOLID)
    model.joint("pin", child="rod")
    mechanism = mechanism_of(model.build())
    is_by_body = solver == "articulated_body"
    assert mechanism.header.is_by_body == is_by_body
    dof = mechanism.dofs[0]
    assert (dof.gain == NOWHERE, dof.row == NOWHERE) == (not is_by_body, is_by_body)
    assert (dof.own_row, mechanism.header.correction, mechanism.header.equations) == (NOWHERE, NOWHERE, 0)
    assert len(mechanism.groups) == 0
    assert dof.free_u_dot != NOWHERE


def test_a_mechanism_without_degrees_of_freedom():
    model = Multibody("pedestal")
    model.body("block", **SOLID)
    model.joint("weld", child="block", frame_on_parent=(1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 0.25, 0))
    system = model.build()
    mechanism = mechanism_of(system)
    assert (mechanism.header.links, mechanism.header.dofs, len(mechanism.dofs)) == (1, 0, 0)
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    assert np.array_equal(state["block.X_GB"][9:], [0.5, 0.25, 0.0])
    assert not np.any(state["block.A_GB"])


def test_a_misspelt_slot_is_refused():
    with pytest.raises(AttributeError, match="'LinkSlots'.*attribute 'center'"):
        LinkSlots(dofs=1).center = 3


def test_a_reversed_joint_has_no_fixed_axes():
    model = Multibody("reversed")
    model.body("rod", **SOLID)
    model.joint("pin", parent="rod", child="ground")
    mechanism = mechanism_of(model.build())
    assert (mechanism.links[0].motion, mechanism.dofs[0].axis) == (ANY_MOTION, NOWHERE)
