"""What this package registers."""

from __future__ import annotations

import cosim


@cosim.hookimpl
def cosim_register_components(register: cosim.Register) -> None:
    from cosim_mechanics.energy import Energy
    from cosim_mechanics.gravity import Gravity
    from cosim_mechanics.ground import Ground
    from cosim_mechanics.rigid_body import RigidBody

    register("mechanics.ground", Ground)
    register("mechanics.rigid_body", RigidBody)
    register("mechanics.gravity", Gravity)
    register("mechanics.energy", Energy)


@cosim.hookimpl
def cosim_register_joints(register: cosim.Register) -> None:
    from cosim_mechanics.free import Free
    from cosim_mechanics.pin import Pin
    from cosim_mechanics.slider import Slider
    from cosim_mechanics.weld import Weld

    register("mechanics.free", Free)
    register("mechanics.pin", Pin)
    register("mechanics.slider", Slider)
    register("mechanics.weld", Weld)


@cosim.hookimpl
def cosim_register_force_elements(register: cosim.Register) -> None:
    from cosim_mechanics.linear_bushing import LinearBushing

    register("mechanics.linear_bushing", LinearBushing)


@cosim.hookimpl
def cosim_register_measures(register: cosim.Register) -> None:
    from cosim_mechanics.position import Position
    from cosim_mechanics.velocity import Velocity

    register("mechanics.position", Position)
    register("mechanics.velocity", Velocity)
