"""The two problems that all tools solve, their exact derivatives, and how a tool is timed."""

import json
import time

import numpy as np


class Ball:
    """A ball that falls from rest and bounces: its last height by the restitution and by its first height."""

    end = 2.0
    gravity = 9.81
    restitution = 0.8
    height = 1.0

    @classmethod
    def height_at_end(cls, restitution, height):
        """The height after three bounces; also for complex arguments."""
        fall = np.sqrt(2.0 * height / cls.gravity)
        speed = restitution * cls.gravity * fall
        time_of_bounce = fall
        for _ in range(2):
            time_of_bounce = time_of_bounce + 2.0 * speed / cls.gravity
            speed = restitution * speed
        flight = cls.end - time_of_bounce
        return speed * flight - 0.5 * cls.gravity * flight * flight

    @classmethod
    def exact_slopes(cls):
        """Derivatives by restitution and height, from steps along the imaginary axis."""
        step = 1e-30j
        by_restitution = cls.height_at_end(cls.restitution + step, cls.height)
        by_height = cls.height_at_end(cls.restitution, cls.height + step)
        return np.array([by_restitution.imag, by_height.imag]) / 1e-30


class Oscillator:
    """y'' = -k y - c y' + f(t), with f a line between two numbers: y at the end by k, c and 1,000 numbers."""

    points = 1000
    interval = 0.01
    end = (points - 1) * interval
    stiffness = 40.0
    damping = 0.3
    start = 0.3
    forces = np.sin(0.05 * np.arange(points))

    @classmethod
    def exact_slopes(cls):
        """Derivatives by stiffness, damping and forces: matrix exponentials are exact."""
        step = 1e-30j
        by_stiffness = cls._value_at_end(cls.stiffness + step, cls.damping).imag / 1e-30
        by_damping = cls._value_at_end(cls.stiffness, cls.damping + step).imag / 1e-30
        phi, first, second = cls._interval(cls.stiffness, cls.damping)
        row, by_force = np.array([1.0, 0.0]), np.zeros(cls.points)
        for i in range(cls.points - 2, -1, -1):
            by_force[i] += row @ first
            by_force[i + 1] += row @ second
            row = row @ phi
        return np.array([by_stiffness, by_damping, *by_force])

    @classmethod
    def _value_at_end(cls, stiffness, damping):
        phi, first, second = cls._interval(stiffness, damping)
        state = np.array([cls.start, 0.0])
        for i in range(cls.points - 1):
            state = phi @ state + first * cls.forces[i] + second * cls.forces[i + 1]
        return state[0]

    @classmethod
    def _interval(cls, stiffness, damping):
        """The state after an interval by the state, and by the force at both ends of the interval."""
        from scipy.linalg import expm

        line = np.array([[0, 1, 0, 0], [-stiffness, -damping, 1, 0], [0, 0, 0, 1 / cls.interval], [0] * 4])
        matrix = expm(cls.interval * line)
        by_first, by_slope = matrix[:2, 2], matrix[:2, 3]
        return matrix[:2, :2], by_first - by_slope, by_slope


def measured(solve, passes=20):
    """The slopes that `solve` returns, the CPU time of its first call and the least one of later calls, s."""
    began = time.process_time()
    slopes = solve()
    first, least = time.process_time() - began, np.inf
    for _ in range(passes):
        began = time.process_time()
        slopes = solve()
        least = min(least, time.process_time() - began)
    return {"slopes": np.ravel(slopes).tolist(), "first": first, "seconds": least}


def measured_with_run(slopes, run):
    """`measured` of the slopes, with the time of a run without derivatives."""
    return {**measured(slopes), "run": measured(run)["seconds"]}


def print_results(tool, **problems):
    """Print what each problem returns as one JSON object; the error of a problem that fails."""
    results = {"name": tool}
    for name, solve in problems.items():
        try:
            results[name] = solve()
        except Exception as error:
            results[name] = {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:150]}"}
    print(json.dumps(results))
