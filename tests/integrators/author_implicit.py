"""Two implicit methods as an author outside would write them: a Rosenbrock method and a multistep method."""

from cosim_integrators.kit import (
    ImplicitStepIntegrator,
    differentiate_by_time,
    evaluate,
    factor_matrix,
    solve_implicit,
    solve_with_matrix,
)

GAMMA = 1.7071067811865475  # 1 + 1 / sqrt(2)


def take_rosenbrock_step(system, method, t, t_end):
    """Two stages, each one linear equation with the same matrix."""
    y, c, n, h = system.y, system.c, method.n, t_end - t
    first, second, rate = method.vector(0), method.vector(1), method.vector(2)
    status = factor_matrix(method, GAMMA * h)
    if status == 0:
        status = differentiate_by_time(system, method, t, t_end, rate)
    if status != 0:
        return status
    for m in range(n):
        first[m] = method.slope[m] / (GAMMA * h) + rate[m]
    solve_with_matrix(method, first)
    for m in range(n):
        y[m] = method.start[m] + h * first[m]
    status = evaluate(system, method, t_end)
    if status != 0:
        return status
    for m in range(n):
        second[m] = (c[m] - 2.0 * first[m]) / (GAMMA * h) - rate[m]
    solve_with_matrix(method, second)
    for m in range(n):
        y[m] = method.start[m] + h * (1.5 * first[m] + 0.5 * second[m])
        method.error[m] = 0.5 * h * (first[m] + second[m])
    return 0


class Ros2(ImplicitStepIntegrator):
    """ROS2: a Rosenbrock method of order 2, L-stable, with an error estimate of order 1.

    Law: (I - g h J) k1 = f(t, y) + g h f_t, (I - g h J) k2 = f(t + h, y + h k1) - 2 k1 - g h f_t,
    y' = y + h (3 k1 + k2) / 2.

    References
    ----------
    J. G. Verwer, E. J. Spee, J. G. Blom, W. Hundsdorfer, "A second-order Rosenbrock method applied to
    photochemical dispersion problems", SIAM Journal on Scientific Computing 20 (1999).
    """

    order, error_exponent, vectors = 2, 2, 3
    fresh_jacobian = True
    take = take_rosenbrock_step


def take_two_step(system, method, t, t_end):
    """BDF of order 2 with a step that may change; the trapezoidal rule where nothing is known of the past."""
    y, n, h = system.y, method.n, t_end - t
    start, slope, base, before = method.start, method.slope, method.vector(0), method.past(0)
    predicted, w, share = method.vector(1), 0.0, 0.5
    if method.last_step > 0.0:
        w = h / method.last_step
        share = (1.0 + w) / (1.0 + 2.0 * w)
    for m in range(n):
        predicted[m] = start[m] + h * slope[m]
        base[m] = start[m] + 0.5 * h * slope[m]
        if w > 0.0:
            bend = before[m] - start[m] + method.last_step * slope[m]
            predicted[m] += w * w * bend
            base[m] = ((1.0 + w) * (1.0 + w) * start[m] - w * w * before[m]) / (1.0 + 2.0 * w)
        y[m] = predicted[m]
    status = factor_matrix(method, share * h)
    if status == 0:
        status = solve_implicit(system, method, t_end, base, share * h)
    if status != 0:
        return status
    of_difference = (1.0 + w) / (2.0 + 3.0 * w) if w > 0.0 else 1.0
    for m in range(n):
        method.error[m] = of_difference * (y[m] - predicted[m])
    return 0


def keep_two_step(system, method, t, t_end):
    """The state at the start: the one before the end."""
    before = method.past(0)
    for m in range(method.n):
        before[m] = method.start[m]


class Bdf2(ImplicitStepIntegrator):
    """BDF2: a multistep method of order 2 with variable steps, L-stable for steps of one length.

    Law: y' = ((1 + w)^2 y - w^2 y_before) / (1 + 2 w) + h (1 + w) / (1 + 2 w) f(y'), w = h / h_before.

    References
    ----------
    E. Hairer, S. P. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", 2nd ed. (1993), III.5.
    """

    order, error_exponent, vectors, history = 2, 3, 2, 1
    take, keep = take_two_step, keep_two_step
