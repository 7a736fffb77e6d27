"""A Kalman filter: matrices in a handler, indexed by row and column."""

import cosim
from cosim.functions import dot, matmul, norm, solve, transpose, zeros


class KalmanFilter(cosim.Component):
    """Position and speed of what moves along a line, from its position, which is measured with noise.

    Law: x = A x + K (measured - H x) and P = A P A' + Q - K H P at each tick, with the gain
    K = P H' / (H P H' + R).
    """

    period = cosim.parameter(unit="s", default=0.1, minimum=0.001)
    A = cosim.parameter(shape=(2, 2), default=[[1.0, 0.1], [0.0, 1.0]], description="from tick to tick")
    Q = cosim.parameter(shape=(2, 2), default=[[1e-4, 0.0], [0.0, 1e-3]], description="what A leaves out")
    H = cosim.parameter(shape=(1, 2), default=[[1.0, 0.0]], description="what is measured of the estimate")
    R = cosim.parameter(shape=(1, 1), default=[[0.04]], description="square of the noise")
    measured = cosim.input(start=0.0)
    x = cosim.discrete(shape=2, start=[0.0, 0.0], description="the estimate")
    P = cosim.discrete(shape=(2, 2), start=[[1.0, 0.0], [0.0, 1.0]], description="how far it may be off")
    uncertainty = cosim.output(description="root of the sum of squares of P")

    @cosim.kernel
    def look(P, uncertainty):
        uncertainty[0] = norm((P[0, 0], P[0, 1], P[1, 0], P[1, 1]))

    @cosim.every("period", does="discrete")
    def correct(A, Q, H, R, measured, x, P, x_next, P_next):
        ahead, moved, turned, spread = zeros(2), zeros((2, 2)), zeros((2, 2)), zeros((2, 2))
        matmul(A, x, ahead)
        matmul(A, P, moved)
        transpose(A, turned)
        matmul(moved, turned, spread)
        for i in range(2):
            for j in range(2):
                spread[i, j] += Q[i, j]
        seen, whole, gain = zeros((1, 2)), zeros((1, 1)), zeros((1, 2))
        matmul(H, spread, seen)
        whole[0, 0] = dot(seen[0], H[0]) + R[0, 0]
        solve(whole, seen, gain)
        error = measured - dot(H[0], ahead)
        for i in range(2):
            x_next[i] = ahead[i] + gain[0, i] * error
            for j in range(2):
                P_next[i, j] = spread[i, j] - gain[0, i] * seen[0, j]
