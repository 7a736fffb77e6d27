"""The pendulum of five links in the angles of its links against the vertical, written out by hand.

M(θ) θ'' = -C(θ) θ'² - G(θ) with M_ij = a_ij cos(θ_i - θ_j), C_ij = a_ij sin(θ_i - θ_j) and
G_i = b_i g sin θ_i: the equations of a chain in a plane, about its joints.
"""

import numpy as np

LINKS, LENGTH, CENTER, MASS, INERTIA, GRAVITY = 5, 0.5, 0.25, 1.0, 0.02, 9.81
AFTER = LINKS - 1 - np.arange(LINKS)  # links behind each one
A = np.array(
    [
        [LENGTH * (MASS * CENTER + MASS * LENGTH * AFTER[max(i, j)]) for j in range(LINKS)]
        for i in range(LINKS)
    ]
)
A[np.diag_indices(LINKS)] = INERTIA + MASS * CENTER**2 + MASS * LENGTH**2 * AFTER
B = GRAVITY * (MASS * CENTER + MASS * LENGTH * AFTER)
