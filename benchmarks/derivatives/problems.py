"""The problems that all tools solve, their exact derivatives, and how a tool is timed."""

import time

import numpy as np

UNTIL_BALL, GRAVITY = 2.0, 9.81
E, HEIGHT = 0.8, 1.0
POINTS, INTERVAL = 1000, 0.01
UNTIL = (POINTS - 1) * INTERVAL
STIFFNESS, DAMPING, START = 40.0, 0.3, 0.3
FORCES = np.sin(0.05 * np.arange(POINTS))


def ball_end(e, h0):
    """The height at 2 s of a ball that falls from rest and has bounced three times; also complex."""
    fall = np.sqrt(2.0 * h0 / GRAVITY)
    speed = e * GRAVITY * fall
    at = fall
    for _ in range(2):
        at = at + 2.0 * speed / GRAVITY
        speed = e * speed
    left = UNTIL_BALL - at
    return speed * left - 0.5 * GRAVITY * left * left


def ball_slopes():
    """Its derivatives by e and by the first height."""
    step = 1e-30j
    return [float((ball_end(*moved) / 1e-30).imag) for moved in ((E + step, HEIGHT), (E, HEIGHT + step))]


def oscillator_slopes():
    """Derivatives of y(9.99 s) by stiffness, damping and the 1,000 numbers of the force.

    y'' = -k y - c y' + f(t), where f is a line between two numbers: matrix exponentials are exact.
    """
    from scipy.linalg import expm

    def interval(k, c):
        line = np.array([[0, 1, 0, 0], [-k, -c, 1, 0], [0, 0, 0, 1 / INTERVAL], [0, 0, 0, 0]])
        moved = expm(INTERVAL * line)
        return moved[:2, :2], moved[:2, 2] - moved[:2, 3], moved[:2, 3]

    def end(k, c):
        phi, first, second = interval(k, c)
        z = np.array([START, 0.0])
        for i in range(POINTS - 1):
            z = phi @ z + first * FORCES[i] + second * FORCES[i + 1]
        return z[0]

    step = 1e-30j
    slopes = [(end(STIFFNESS + step, DAMPING) / 1e-30).imag, (end(STIFFNESS, DAMPING + step) / 1e-30).imag]
    phi, first, second = interval(STIFFNESS, DAMPING)
    row, by_force = np.array([1.0, 0.0]), np.zeros(POINTS)
    for i in range(POINTS - 2, -1, -1):
        by_force[i] += row @ first
        by_force[i + 1] += row @ second
        row = row @ phi
    return np.array([*slopes, *by_force])


def measured(solve, passes=20):
    """What `solve` returns, the time of its first call and the least CPU time of those that follow, s."""
    began = time.process_time()
    found = solve()
    first, least = time.process_time() - began, np.inf
    for _ in range(passes):
        began = time.process_time()
        found = solve()
        least = min(least, time.process_time() - began)
    return {"found": np.ravel(found).tolist(), "first": first, "seconds": least}
