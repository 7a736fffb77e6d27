"""The pendulum of five links in the angles of its links against the vertical, written out by hand.

M(θ) θ'' = -C(θ) θ'² - G(θ) with M_ij = a_ij cos(θ_i - θ_j), C_ij = a_ij sin(θ_i - θ_j) and
G_i = b_i sin θ_i, b_i with gravity: the equations of a chain in a plane, about its joints.

Units: m, kg, kg m² and m/s²; A in kg m², B in N m.
"""

import numpy as np

LINKS = 5
LENGTH = 0.5
CENTER = 0.25  # of mass, from the joint
MASS = 1.0
INERTIA = 0.02  # about the center of mass
GRAVITY = 9.81
AFTER = LINKS - 1 - np.arange(LINKS)  # links behind each one
A = np.array(
    [
        [LENGTH * (MASS * CENTER + MASS * LENGTH * AFTER[max(i, j)]) for j in range(LINKS)]
        for i in range(LINKS)
    ]
)
A[np.diag_indices(LINKS)] = INERTIA + MASS * CENTER**2 + MASS * LENGTH**2 * AFTER
B = GRAVITY * (MASS * CENTER + MASS * LENGTH * AFTER)
