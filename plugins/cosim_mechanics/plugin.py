"""What this package registers."""

from __future__ import annotations

import cosim
import cosim_mechanics as mechanics

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    from cosim_mechanics.model_tables import BodiesTable, ConstraintsTable, ElementsTable, JointsTable

    register("mechanics.ground", mechanics.Ground)
    register("mechanics.rigid_body", mechanics.RigidBody)
    register("mechanics.energy", mechanics.Energy)
    register("mechanics.ball", mechanics.Ball)
    register("mechanics.bushing", mechanics.Bushing)
    register("mechanics.cylinder", mechanics.Cylinder)
    register("mechanics.free", mechanics.Free)
    register("mechanics.gimbal", mechanics.Gimbal)
    register("mechanics.pin", mechanics.Pin)
    register("mechanics.planar", mechanics.Planar)
    register("mechanics.screw", mechanics.Screw)
    register("mechanics.slider", mechanics.Slider)
    register("mechanics.translation", mechanics.Translation)
    register("mechanics.universal", mechanics.Universal)
    register("mechanics.weld", mechanics.Weld)
    register("mechanics.actuator", mechanics.Actuator)
    register("mechanics.applied_force", mechanics.AppliedForce)
    register("mechanics.applied_wrench", mechanics.AppliedWrench)
    register("mechanics.constant_force", mechanics.ConstantForce)
    register("mechanics.constant_torque", mechanics.ConstantTorque)
    register("mechanics.coordinate_damper", mechanics.CoordinateDamper)
    register("mechanics.coordinate_spring", mechanics.CoordinateSpring)
    register("mechanics.coordinate_stop", mechanics.CoordinateStop)
    register("mechanics.coupled_bushing", mechanics.CoupledBushing)
    register("mechanics.global_damper", mechanics.GlobalDamper)
    register("mechanics.gravity", mechanics.Gravity)
    register("mechanics.linear_bushing", mechanics.LinearBushing)
    register("mechanics.smooth_sphere_contact", mechanics.SmoothSphereContact)
    register("mechanics.sphere_contact", mechanics.SphereContact)
    register("mechanics.tabular_spring", mechanics.TabularSpring)
    register("mechanics.two_point_damper", mechanics.TwoPointDamper)
    register("mechanics.two_point_force", mechanics.TwoPointForce)
    register("mechanics.two_point_actuator", mechanics.TwoPointActuator)
    register("mechanics.two_point_spring", mechanics.TwoPointSpring)
    register("mechanics.ball_constraint", mechanics.BallConstraint)
    register("mechanics.constant_acceleration", mechanics.ConstantAcceleration)
    register("mechanics.constant_angle", mechanics.ConstantAngle)
    register("mechanics.constant_speed", mechanics.ConstantSpeed)
    register("mechanics.coordinate_coupler", mechanics.CoordinateCoupler)
    register("mechanics.gear", mechanics.Gear)
    register("mechanics.lock", mechanics.Lock)
    register("mechanics.point_in_plane", mechanics.PointInPlane)
    register("mechanics.point_on_line", mechanics.PointOnLine)
    register("mechanics.prescribed_acceleration", mechanics.PrescribedAcceleration)
    register("mechanics.prescribed_motion", mechanics.PrescribedMotion)
    register("mechanics.prescribed_speed", mechanics.PrescribedSpeed)
    register("mechanics.rod", mechanics.Rod)
    register("mechanics.rolling_ball", mechanics.RollingBall)
    register("mechanics.rolling_disc", mechanics.RollingDisc)
    register("mechanics.speed_coupler", mechanics.SpeedCoupler)
    register("mechanics.weld_constraint", mechanics.WeldConstraint)
    register("mechanics.position", mechanics.Position)
    register("mechanics.velocity", mechanics.Velocity)
    register("mechanics.bodies", BodiesTable)
    register("mechanics.joints", JointsTable)
    register("mechanics.constraints", ConstraintsTable)
    register("mechanics.elements", ElementsTable)
