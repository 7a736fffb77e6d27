"""Components that ask to stop, for exported FMUs; a module of its own, as those of users are."""

import cosim


class Stopper(cosim.Component):
    """Asks to stop at `stop_at`, or in its initialization if that is not positive.

    ``count`` tells which handlers have run: it grows by 1, 10 and 100 at the start, the stop and the end.
    """

    x = cosim.auxiliary_state(start=1.0)
    count = cosim.discrete(start=0.0)
    stop_at = cosim.parameter(unit="s", default=0.0)
    next_stop = cosim.timer()

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -x

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(count, stop_at, count_next, next_stop_next):
        count_next[0] = count + 1.0
        next_stop_next[0] = stop_at if stop_at > 0.0 else 1e300
        return 2 if stop_at <= 0.0 else 1

    @cosim.on(next_stop, does="discrete")
    def ring(count, count_next, next_stop_next):
        count_next[0] = count + 10.0
        next_stop_next[0] = 1e300
        return 2

    @cosim.on(cosim.EventCause.TERMINATION, does="discrete")
    def end(count, count_next):
        count_next[0] = count + 100.0
