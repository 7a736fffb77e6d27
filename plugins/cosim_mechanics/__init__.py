"""Rigid bodies, joints, force elements and measures of mechanics, and the spatial algebra under them."""

from cosim_mechanics.actuator import Actuator as Actuator
from cosim_mechanics.applied_force import AppliedForce as AppliedForce
from cosim_mechanics.ball import Ball as Ball
from cosim_mechanics.bushing import Bushing as Bushing
from cosim_mechanics.coordinate_spring import CoordinateSpring as CoordinateSpring
from cosim_mechanics.cylinder import Cylinder as Cylinder
from cosim_mechanics.energy import Energy as Energy
from cosim_mechanics.free import Free as Free
from cosim_mechanics.gimbal import Gimbal as Gimbal
from cosim_mechanics.gravity import Gravity as Gravity
from cosim_mechanics.ground import Ground as Ground
from cosim_mechanics.linear_bushing import LinearBushing as LinearBushing
from cosim_mechanics.multibody import Multibody as Multibody
from cosim_mechanics.pin import Pin as Pin
from cosim_mechanics.planar import Planar as Planar
from cosim_mechanics.position import Position as Position
from cosim_mechanics.rigid_body import RigidBody as RigidBody
from cosim_mechanics.screw import Screw as Screw
from cosim_mechanics.slider import Slider as Slider
from cosim_mechanics.translation import Translation as Translation
from cosim_mechanics.two_point_spring import TwoPointSpring as TwoPointSpring
from cosim_mechanics.universal import Universal as Universal
from cosim_mechanics.velocity import Velocity as Velocity
from cosim_mechanics.weld import Weld as Weld
