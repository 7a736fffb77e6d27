"""Rigid bodies, joints, force elements and measures of mechanics, their contracts, and spatial algebra."""

from typing import TYPE_CHECKING

import cosim.kit

if TYPE_CHECKING:
    from cosim_mechanics.ball import Ball as Ball
    from cosim_mechanics.bushing import Bushing as Bushing
    from cosim_mechanics.constraints.ball_constraint import BallConstraint as BallConstraint
    from cosim_mechanics.constraints.constant_acceleration import ConstantAcceleration as ConstantAcceleration
    from cosim_mechanics.constraints.constant_angle import ConstantAngle as ConstantAngle
    from cosim_mechanics.constraints.constant_speed import ConstantSpeed as ConstantSpeed
    from cosim_mechanics.constraints.coordinate_coupler import CoordinateCoupler as CoordinateCoupler
    from cosim_mechanics.constraints.gear import Gear as Gear
    from cosim_mechanics.constraints.lock import Lock as Lock
    from cosim_mechanics.constraints.point_in_plane import PointInPlane as PointInPlane
    from cosim_mechanics.constraints.point_on_line import PointOnLine as PointOnLine
    from cosim_mechanics.constraints.prescribed_acceleration import (
        PrescribedAcceleration as PrescribedAcceleration,
    )
    from cosim_mechanics.constraints.prescribed_motion import PrescribedMotion as PrescribedMotion
    from cosim_mechanics.constraints.prescribed_speed import PrescribedSpeed as PrescribedSpeed
    from cosim_mechanics.constraints.rod import Rod as Rod
    from cosim_mechanics.constraints.rolling_ball import RollingBall as RollingBall
    from cosim_mechanics.constraints.rolling_disc import RollingDisc as RollingDisc
    from cosim_mechanics.constraints.speed_coupler import SpeedCoupler as SpeedCoupler
    from cosim_mechanics.constraints.weld_constraint import WeldConstraint as WeldConstraint
    from cosim_mechanics.contracts import Constraint as Constraint
    from cosim_mechanics.contracts import Contact as Contact
    from cosim_mechanics.contracts import DynamicsSolver as DynamicsSolver
    from cosim_mechanics.contracts import Force as Force
    from cosim_mechanics.contracts import ForceContribution as ForceContribution
    from cosim_mechanics.contracts import ForceElement as ForceElement
    from cosim_mechanics.contracts import Joint as Joint
    from cosim_mechanics.contracts import Law as Law
    from cosim_mechanics.contracts import Surfaces as Surfaces
    from cosim_mechanics.contracts import bodies as bodies
    from cosim_mechanics.contracts import body as body
    from cosim_mechanics.contracts import coordinate as coordinate
    from cosim_mechanics.contracts import dissipated_energy as dissipated_energy
    from cosim_mechanics.contracts import supplied_energy as supplied_energy
    from cosim_mechanics.cylinder import Cylinder as Cylinder
    from cosim_mechanics.energy import Energy as Energy
    from cosim_mechanics.forces.actuator import Actuator as Actuator
    from cosim_mechanics.forces.applied_force import AppliedForce as AppliedForce
    from cosim_mechanics.forces.applied_wrench import AppliedWrench as AppliedWrench
    from cosim_mechanics.forces.box_contact import BoxContact as BoxContact
    from cosim_mechanics.forces.capsule_contact import CapsuleContact as CapsuleContact
    from cosim_mechanics.forces.collisions import Collisions as Collisions
    from cosim_mechanics.forces.constant_force import ConstantForce as ConstantForce
    from cosim_mechanics.forces.constant_torque import ConstantTorque as ConstantTorque
    from cosim_mechanics.forces.convex_contact import ConvexContact as ConvexContact
    from cosim_mechanics.forces.convex_contact import capsule_on as capsule_on
    from cosim_mechanics.forces.coordinate_damper import CoordinateDamper as CoordinateDamper
    from cosim_mechanics.forces.coordinate_friction import CoordinateFriction as CoordinateFriction
    from cosim_mechanics.forces.coordinate_inertia import CoordinateInertia as CoordinateInertia
    from cosim_mechanics.forces.coordinate_spring import CoordinateSpring as CoordinateSpring
    from cosim_mechanics.forces.coordinate_stop import CoordinateStop as CoordinateStop
    from cosim_mechanics.forces.coupled_bushing import CoupledBushing as CoupledBushing
    from cosim_mechanics.forces.cylinder_contact import CylinderContact as CylinderContact
    from cosim_mechanics.forces.global_damper import GlobalDamper as GlobalDamper
    from cosim_mechanics.forces.gravity import Gravity as Gravity
    from cosim_mechanics.forces.joint_motor import JointMotor as JointMotor
    from cosim_mechanics.forces.linear_bushing import LinearBushing as LinearBushing
    from cosim_mechanics.forces.mesh_contact import MeshContact as MeshContact
    from cosim_mechanics.forces.rim_contact import RimContact as RimContact
    from cosim_mechanics.forces.smooth_sphere_contact import SmoothSphereContact as SmoothSphereContact
    from cosim_mechanics.forces.sphere_contact import SphereContact as SphereContact
    from cosim_mechanics.forces.tabular_spring import TabularSpring as TabularSpring
    from cosim_mechanics.forces.two_point import TwoPoint as TwoPoint
    from cosim_mechanics.forces.two_point_actuator import TwoPointActuator as TwoPointActuator
    from cosim_mechanics.forces.two_point_damper import TwoPointDamper as TwoPointDamper
    from cosim_mechanics.forces.two_point_force import TwoPointForce as TwoPointForce
    from cosim_mechanics.forces.two_point_spring import TwoPointSpring as TwoPointSpring
    from cosim_mechanics.free import Free as Free
    from cosim_mechanics.gimbal import Gimbal as Gimbal
    from cosim_mechanics.ground import Ground as Ground
    from cosim_mechanics.multibody import Multibody as Multibody
    from cosim_mechanics.pin import Pin as Pin
    from cosim_mechanics.planar import Planar as Planar
    from cosim_mechanics.position import Position as Position
    from cosim_mechanics.rigid_body import RigidBody as RigidBody
    from cosim_mechanics.screw import Screw as Screw
    from cosim_mechanics.shape_points import box_corners as box_corners
    from cosim_mechanics.shape_points import capsule_ends as capsule_ends
    from cosim_mechanics.shape_points import hull_triangles as hull_triangles
    from cosim_mechanics.shape_points import hull_vertices as hull_vertices
    from cosim_mechanics.shapes import Shape as Shape
    from cosim_mechanics.slider import Slider as Slider
    from cosim_mechanics.translation import Translation as Translation
    from cosim_mechanics.unchecked_body import UncheckedBody as UncheckedBody
    from cosim_mechanics.universal import Universal as Universal
    from cosim_mechanics.velocity import Velocity as Velocity
    from cosim_mechanics.weld import Weld as Weld
else:
    __getattr__, __dir__ = cosim.kit.late_names(__name__)
