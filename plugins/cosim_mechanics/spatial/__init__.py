"""Spatial algebra: plain functions on tuples and views, for kernel functions and for anyone else.

Conventions, for every function here:

- a *vector* is three reals; a *pose* ``X_AB`` of frame B in frame A is twelve, the rotation matrix ``R_AB``
  row by row, then ``p_AB`` from A's origin to B's, expressed in A, m; a *spatial vector* is six, angular
  part first;
- a vector from B to A is expressed as its name says: ``w_FM`` in F (the measured-in frame), ``w_FM_G`` in
  Ground;
- arguments may be tuples, lists or views of arrays; results are tuples. Nothing is allocated and nothing
  but the first argument of ``add_*`` and ``put*`` is written, so the functions can be compiled into a
  kernel that calls them.

`pose` and `pose_parameter` are the exception: they read what people type and belong outside of kernel
functions.
"""

from cosim_mechanics.spatial._angles import SINGULAR_COSINE as SINGULAR_COSINE
from cosim_mechanics.spatial._angles import angle_axes_123 as angle_axes_123
from cosim_mechanics.spatial._angles import angle_axes_rate_123 as angle_axes_rate_123
from cosim_mechanics.spatial._angles import angle_rates_123 as angle_rates_123
from cosim_mechanics.spatial._angles import angles_123 as angles_123
from cosim_mechanics.spatial._angles import angular_velocity_123 as angular_velocity_123
from cosim_mechanics.spatial._angles import moment_123 as moment_123
from cosim_mechanics.spatial._angles import pose_from_angles as pose_from_angles
from cosim_mechanics.spatial._poses import IDENTITY as IDENTITY
from cosim_mechanics.spatial._poses import NO_POSE as NO_POSE
from cosim_mechanics.spatial._poses import compose as compose
from cosim_mechanics.spatial._poses import compose_inverse as compose_inverse
from cosim_mechanics.spatial._poses import compose_shift as compose_shift
from cosim_mechanics.spatial._poses import inverse as inverse
from cosim_mechanics.spatial._poses import is_pose as is_pose
from cosim_mechanics.spatial._poses import is_turned as is_turned
from cosim_mechanics.spatial._poses import position as position
from cosim_mechanics.spatial._poses import rotate as rotate
from cosim_mechanics.spatial._poses import rotate_inverse as rotate_inverse
from cosim_mechanics.spatial._poses import rotation_of as rotation_of
from cosim_mechanics.spatial._poses import station as station
from cosim_mechanics.spatial._quaternions import pose_from_quaternion as pose_from_quaternion
from cosim_mechanics.spatial._quaternions import quaternion_rates as quaternion_rates
from cosim_mechanics.spatial._spatial_vectors import add_force_at as add_force_at
from cosim_mechanics.spatial._spatial_vectors import add_spatial_force as add_spatial_force
from cosim_mechanics.spatial._spatial_vectors import add_torque as add_torque
from cosim_mechanics.spatial._spatial_vectors import angular as angular
from cosim_mechanics.spatial._spatial_vectors import linear as linear
from cosim_mechanics.spatial._spatial_vectors import moved as moved
from cosim_mechanics.spatial._spatial_vectors import point_velocity as point_velocity
from cosim_mechanics.spatial._typed_poses import ABOUT_AND_ALONG as ABOUT_AND_ALONG
from cosim_mechanics.spatial._typed_poses import POSE_UNITS as POSE_UNITS
from cosim_mechanics.spatial._typed_poses import point_parameter as point_parameter
from cosim_mechanics.spatial._typed_poses import pose as pose
from cosim_mechanics.spatial._typed_poses import pose_parameter as pose_parameter
from cosim_mechanics.spatial._types import Reals as Reals
from cosim_mechanics.spatial._types import Slot as Slot
from cosim_mechanics.spatial._vectors import cross as cross
from cosim_mechanics.spatial._vectors import dot as dot
from cosim_mechanics.spatial._vectors import inertia_times as inertia_times
from cosim_mechanics.spatial._vectors import minus as minus
from cosim_mechanics.spatial._vectors import norm as norm
from cosim_mechanics.spatial._vectors import perpendicular as perpendicular
from cosim_mechanics.spatial._vectors import plus as plus
from cosim_mechanics.spatial._vectors import scaled as scaled
from cosim_mechanics.spatial._writers import clear as clear
from cosim_mechanics.spatial._writers import put3 as put3
from cosim_mechanics.spatial._writers import put6 as put6
from cosim_mechanics.spatial._writers import put12 as put12

__all__ = [
    "ABOUT_AND_ALONG",
    "IDENTITY",
    "NO_POSE",
    "POSE_UNITS",
    "SINGULAR_COSINE",
    "Reals",
    "Slot",
    "add_force_at",
    "add_spatial_force",
    "add_torque",
    "angle_axes_123",
    "angle_axes_rate_123",
    "angle_rates_123",
    "angles_123",
    "angular",
    "angular_velocity_123",
    "clear",
    "compose",
    "compose_inverse",
    "compose_shift",
    "cross",
    "dot",
    "inertia_times",
    "inverse",
    "is_pose",
    "is_turned",
    "linear",
    "minus",
    "moment_123",
    "moved",
    "norm",
    "perpendicular",
    "plus",
    "point_parameter",
    "point_velocity",
    "pose",
    "pose_from_angles",
    "pose_from_quaternion",
    "pose_parameter",
    "position",
    "put3",
    "put6",
    "put12",
    "quaternion_rates",
    "rotate",
    "rotate_inverse",
    "rotation_of",
    "scaled",
    "station",
]
