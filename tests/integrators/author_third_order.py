"""Two methods of order 3 as an author outside would write them: a Rosenbrock and a multistep method.

The multistep method takes its first step at order 2.
"""

from cosim_integrators.kit import (
    ImplicitStepIntegrator,
    differentiate_by_time,
    evaluate,
    factor_matrix,
    solve_implicit,
    solve_with_matrix,
)

GAMMA = 0.7886751345948129  # 1/2 + 1/sqrt(12)


def take_ros3p(system, method, t, t_end):
    """Three stages, the second and the third at the same time and states; coefficients as published."""
    y, c, n, h = system.y, system.c, method.n, t_end - t
    u1, u2, u3, rate = method.vector(0), method.vector(1), method.vector(2), method.vector(3)
    status = factor_matrix(method, GAMMA * h)
    if status == 0:
        status = differentiate_by_time(system, method, t, t_end, rate)
    if status != 0:
        return status
    for m in range(n):
        u1[m] = method.slope[m] + GAMMA * h * rate[m]
    solve_with_matrix(method, u1)
    for m in range(n):
        y[m] = method.start[m] + 1.267949192431123 * u1[m]
    status = evaluate(system, method, t_end)
    if status != 0:
        return status
    for m in range(n):
        u2[m] = c[m] - 1.607695154586736 / h * u1[m] - 0.2113248654051871 * h * rate[m]
    solve_with_matrix(method, u2)
    for m in range(n):
        u3[m] = (
            c[m]
            + (-3.464101615137755 * u1[m] - 1.732050807568877 * u2[m]) / h
            - 1.077350269189626 * h * rate[m]
        )
    solve_with_matrix(method, u3)
    for m in range(n):
        y[m] = method.start[m] + 2.0 * u1[m] + 0.5773502691896258 * u2[m] + 0.4226497308103742 * u3[m]
        method.error[m] = (2.0 - 2.113248654051871) * u1[m] + (0.5773502691896258 - 1.0) * u2[m]
    return 0


class Ros3p(ImplicitStepIntegrator):
    """ROS3P: a Rosenbrock method of order 3, A-stable, with an error estimate of order 2.

    Law: (I/(g h) - J) u_i = f(t + a_i h, y + sum a_ij u_j) + sum c_ij u_j / h + g_i h f_t.

    References
    ----------
    J. Lang, J. G. Verwer, "ROS3P - an accurate third-order Rosenbrock solver", BIT 41 (2001).
    """

    order, error_exponent, vectors = 3, 3, 4
    fresh_jacobian = True
    take = take_ros3p


def take_am3(system, method, t, t_end):
    """Integrates the polynomial through f at both ends of the step and at the start of the last one."""
    y, n, h = system.y, method.n, t_end - t
    start, slope, base, before, predicted = (
        method.start,
        method.slope,
        method.vector(0),
        method.past(0),
        method.vector(1),
    )
    w, end_weight, start_weight, past_weight = 0.0, 0.5, 0.5, 0.0
    if method.last_step > 0.0:
        w = h / method.last_step
        end_weight = (3.0 + 2.0 * w) / (6.0 * (1.0 + w))
        start_weight = (3.0 + w) / 6.0
        past_weight = -w * w / (6.0 * (1.0 + w))
    for m in range(n):
        base[m] = start[m] + h * start_weight * slope[m]
        predicted[m] = start[m] + h * slope[m]
        if w > 0.0:
            base[m] += h * past_weight * before[m]
            predicted[m] += 0.5 * h * w * (slope[m] - before[m])
        y[m] = predicted[m]
    status = factor_matrix(method, end_weight * h)
    if status == 0:
        status = solve_implicit(system, method, t_end, base, end_weight * h)
    if status != 0:
        return status
    for m in range(n):
        method.error[m] = y[m] - predicted[m]
    return 0


def keep_am3(system, method, t, t_end):
    """Stores the slope at the start for the next step."""
    before = method.past(0)
    for m in range(method.n):
        before[m] = method.slope[m]


class Am3(ImplicitStepIntegrator):
    """Adams-Moulton of order 3 with variable steps.

    Law: y' = y + h (end_weight f' + start_weight f + past_weight f_before).
    """

    order, error_exponent, vectors, history = 3, 3, 2, 1
    restarts_cheaply = False
    take, keep = take_am3, keep_am3
