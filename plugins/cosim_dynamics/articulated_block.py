"""Acceleration stage for deep trees: the same equations of motion, solved body by body without M.

From the tips toward Ground each degree of freedom is eliminated from the equations of what it carries; from
Ground to the tips the accelerations follow. The effort grows like the number of bodies.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.articulated_inertia import articulated_inertia_at
from cosim_dynamics.body_motion import bias_force
from cosim_dynamics.cached_vectors import put_real, put_spatial, real_at, spatial_at
from cosim_dynamics.mechanism import dofs_of, mechanism_at
from cosim_dynamics.pivots import check_pivot
from cosim_dynamics.spatial_vectors import dot6, plus6, scaled6


def articulated_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Solve M u_dot = T - V by recursion and write u_dot, and what it adds to the bodies' accelerations.

    Raises
    ------
    ValueError
        When M is singular.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7 (here in Ground's axes, about one point
    for a tree, where nothing has to be moved from body to body, and one degree of freedom at a time).
    """
    mechanism = mechanism_at(ints, first)
    # A link is set up just before it, or the first that it carries, is eliminated. Eliminations wait for each
    # other; a processor sets up links meanwhile.
    set_up = len(mechanism.links)  # from that link on
    for i in range(len(mechanism.links) - 1, -1, -1):
        link = mechanism.links[i]
        first_needed = link.parent_number if link.has_parent != 0 else i
        for j in range(set_up - 1, first_needed - 1, -1):
            set_up_link(c, p, mechanism.links[j])
        set_up = min(set_up, first_needed)
        eliminate_joint(c, mechanism, link)
    accelerate_tree(c, mechanism)


def set_up_link(c: Any, p: Any, link: Any) -> None:
    """Write the inertia of a body and the force that its motion takes, before others add to them."""
    body, force = bias_force(c, p, link)
    articulated_inertia_at(c, link.body.carried_inertia).set_rigid(body)
    put_spatial(c, link.body.force, force)


def eliminate_joint(c: Any, mechanism: Any, link: Any) -> None:
    """Add to the parent what the link resists in the directions in which its joint does not yield."""
    inertia = articulated_inertia_at(c, link.body.carried_inertia)
    U = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    missing = 0.0
    dofs = dofs_of(mechanism, link)
    for i in range(len(dofs) - 1, -1, -1):
        dof = dofs[i]
        S = spatial_at(c, dof.S)
        U = inertia.resistance(S)
        D = dot6(S, U)
        missing = real_at(c, dof.tau) - dot6(S, spatial_at(c, link.body.force))
        if dof.own_row >= 0:
            D += real_at(c, dof.own_row)
            missing -= real_at(c, dof.own_constant)
        check_pivot(D, inertia.bound(S))
        one_over = 1.0 / D
        V = scaled6(one_over, U)
        put_spatial(c, dof.gain, V)
        put_real(c, dof.response, one_over * missing)
        put_real(c, dof.D, D)
        if i > 0:
            inertia.release(U, V)
            put_spatial(c, link.body.force, plus6(spatial_at(c, link.body.force), scaled6(missing, V)))
    if link.has_parent != 0:
        articulated_inertia_at(c, link.parent.carried_inertia).add_released(inertia, U, V)
        force = plus6(spatial_at(c, link.body.force), scaled6(missing, V))
        put_spatial(c, link.parent.force, plus6(spatial_at(c, link.parent.force), force))


def accelerate_tree(c: Any, mechanism: Any) -> None:
    """Compute u_dot and its part of the bodies' accelerations, from Ground to the tips."""
    change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for link in mechanism.links:
        if link.has_parent == 0:
            change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        elif link.is_behind_parent == 0:  # whose change is at hand
            change = spatial_at(c, link.parent.change)
        for dof in dofs_of(mechanism, link):
            u_dot = real_at(c, dof.response) - dot6(spatial_at(c, dof.gain), change)
            put_real(c, dof.free_u_dot, u_dot)
            change = plus6(change, scaled6(u_dot, spatial_at(c, dof.S)))
        put_spatial(c, link.body.change, change)
