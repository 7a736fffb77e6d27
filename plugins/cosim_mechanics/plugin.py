"""What this package registers."""

from __future__ import annotations

import cosim

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    from cosim_mechanics.ball import Ball
    from cosim_mechanics.bushing import Bushing
    from cosim_mechanics.constraints.ball_constraint import BallConstraint
    from cosim_mechanics.constraints.constant_acceleration import ConstantAcceleration
    from cosim_mechanics.constraints.constant_angle import ConstantAngle
    from cosim_mechanics.constraints.constant_speed import ConstantSpeed
    from cosim_mechanics.constraints.coordinate_coupler import CoordinateCoupler
    from cosim_mechanics.constraints.gear import Gear
    from cosim_mechanics.constraints.lock import Lock
    from cosim_mechanics.constraints.point_in_plane import PointInPlane
    from cosim_mechanics.constraints.point_on_line import PointOnLine
    from cosim_mechanics.constraints.prescribed_acceleration import PrescribedAcceleration
    from cosim_mechanics.constraints.prescribed_motion import PrescribedMotion
    from cosim_mechanics.constraints.prescribed_speed import PrescribedSpeed
    from cosim_mechanics.constraints.rod import Rod
    from cosim_mechanics.constraints.rolling_ball import RollingBall
    from cosim_mechanics.constraints.rolling_disc import RollingDisc
    from cosim_mechanics.constraints.speed_coupler import SpeedCoupler
    from cosim_mechanics.constraints.weld_constraint import WeldConstraint
    from cosim_mechanics.cylinder import Cylinder
    from cosim_mechanics.energy import Energy
    from cosim_mechanics.forces.actuator import Actuator
    from cosim_mechanics.forces.applied_force import AppliedForce
    from cosim_mechanics.forces.applied_wrench import AppliedWrench
    from cosim_mechanics.forces.constant_force import ConstantForce
    from cosim_mechanics.forces.constant_torque import ConstantTorque
    from cosim_mechanics.forces.coordinate_damper import CoordinateDamper
    from cosim_mechanics.forces.coordinate_spring import CoordinateSpring
    from cosim_mechanics.forces.coordinate_stop import CoordinateStop
    from cosim_mechanics.forces.coupled_bushing import CoupledBushing
    from cosim_mechanics.forces.global_damper import GlobalDamper
    from cosim_mechanics.forces.gravity import Gravity
    from cosim_mechanics.forces.linear_bushing import LinearBushing
    from cosim_mechanics.forces.sphere_contact import SphereContact
    from cosim_mechanics.forces.tabular_spring import TabularSpring
    from cosim_mechanics.forces.two_point_actuator import TwoPointActuator
    from cosim_mechanics.forces.two_point_damper import TwoPointDamper
    from cosim_mechanics.forces.two_point_force import TwoPointForce
    from cosim_mechanics.forces.two_point_spring import TwoPointSpring
    from cosim_mechanics.free import Free
    from cosim_mechanics.gimbal import Gimbal
    from cosim_mechanics.ground import Ground
    from cosim_mechanics.model_tables import BodiesTable, ConstraintsTable, ElementsTable, JointsTable
    from cosim_mechanics.pin import Pin
    from cosim_mechanics.planar import Planar
    from cosim_mechanics.position import Position
    from cosim_mechanics.rigid_body import RigidBody
    from cosim_mechanics.screw import Screw
    from cosim_mechanics.slider import Slider
    from cosim_mechanics.translation import Translation
    from cosim_mechanics.universal import Universal
    from cosim_mechanics.velocity import Velocity
    from cosim_mechanics.weld import Weld

    register("mechanics.ground", Ground)
    register("mechanics.rigid_body", RigidBody)
    register("mechanics.energy", Energy)
    register("mechanics.ball", Ball)
    register("mechanics.bushing", Bushing)
    register("mechanics.cylinder", Cylinder)
    register("mechanics.free", Free)
    register("mechanics.gimbal", Gimbal)
    register("mechanics.pin", Pin)
    register("mechanics.planar", Planar)
    register("mechanics.screw", Screw)
    register("mechanics.slider", Slider)
    register("mechanics.translation", Translation)
    register("mechanics.universal", Universal)
    register("mechanics.weld", Weld)
    register("mechanics.actuator", Actuator)
    register("mechanics.applied_force", AppliedForce)
    register("mechanics.applied_wrench", AppliedWrench)
    register("mechanics.constant_force", ConstantForce)
    register("mechanics.constant_torque", ConstantTorque)
    register("mechanics.coordinate_damper", CoordinateDamper)
    register("mechanics.coordinate_spring", CoordinateSpring)
    register("mechanics.coordinate_stop", CoordinateStop)
    register("mechanics.coupled_bushing", CoupledBushing)
    register("mechanics.global_damper", GlobalDamper)
    register("mechanics.gravity", Gravity)
    register("mechanics.linear_bushing", LinearBushing)
    register("mechanics.sphere_contact", SphereContact)
    register("mechanics.tabular_spring", TabularSpring)
    register("mechanics.two_point_damper", TwoPointDamper)
    register("mechanics.two_point_force", TwoPointForce)
    register("mechanics.two_point_actuator", TwoPointActuator)
    register("mechanics.two_point_spring", TwoPointSpring)
    register("mechanics.ball_constraint", BallConstraint)
    register("mechanics.constant_acceleration", ConstantAcceleration)
    register("mechanics.constant_angle", ConstantAngle)
    register("mechanics.constant_speed", ConstantSpeed)
    register("mechanics.coordinate_coupler", CoordinateCoupler)
    register("mechanics.gear", Gear)
    register("mechanics.lock", Lock)
    register("mechanics.point_in_plane", PointInPlane)
    register("mechanics.point_on_line", PointOnLine)
    register("mechanics.prescribed_acceleration", PrescribedAcceleration)
    register("mechanics.prescribed_motion", PrescribedMotion)
    register("mechanics.prescribed_speed", PrescribedSpeed)
    register("mechanics.rod", Rod)
    register("mechanics.rolling_ball", RollingBall)
    register("mechanics.rolling_disc", RollingDisc)
    register("mechanics.speed_coupler", SpeedCoupler)
    register("mechanics.weld_constraint", WeldConstraint)
    register("mechanics.position", Position)
    register("mechanics.velocity", Velocity)
    register("mechanics.bodies", BodiesTable)
    register("mechanics.joints", JointsTable)
    register("mechanics.constraints", ConstraintsTable)
    register("mechanics.elements", ElementsTable)
