"""Joints with stops and kicks."""

from __future__ import annotations

import cosim
from cosim_mechanics.pin import Pin
from cosim_mechanics.slider import Slider


class StoppedSlider(Slider):
    """A slider between two stops."""

    low = cosim.parameter(unit="m", default=-0.3)
    high = cosim.parameter(unit="m", default=0.3)
    restitution = cosim.parameter(default=0.6)
    hits = cosim.discrete(dtype=int)

    @cosim.witness(direction="falling")
    def lower(q, low):
        return q[0] - low

    @cosim.witness(direction="rising")
    def upper(q, high):
        return q[0] - high

    @upper.rate
    def upper_rate(u):
        return u[0]

    @cosim.on(lower, does="unrestricted")
    def lower_u(u, restitution, hits, u_next, hits_next):
        u_next[0] = -restitution * u[0]
        hits_next[0] = hits + 1

    @cosim.on(upper, does="unrestricted")
    def upper_u(u, restitution, hits, u_next, hits_next):
        u_next[0] = -restitution * u[0]
        hits_next[0] = hits + 1


class StoppedPin(Pin):
    """A pin with one stop."""

    stop = cosim.parameter(unit="rad", default=-1.2)
    restitution = cosim.parameter(default=0.6)
    hits = cosim.discrete(dtype=int)

    @cosim.witness(direction="falling")
    def end(q, stop):
        return q[0] - stop

    @cosim.on(end, does="unrestricted")
    def end_u(u, restitution, hits, u_next, hits_next):
        u_next[0] = -restitution * u[0]
        hits_next[0] = hits + 1


class KickedPin(Pin):
    """A pin that is kicked periodically and counts its passages of zero."""

    period = cosim.parameter(unit="s", default=0.35)
    kick = cosim.parameter(unit="rad/s", default=0.5)
    passages = cosim.discrete(dtype=int)

    @cosim.every("period", offset=0.2, does="unrestricted")
    def kick_u(u, kick, u_next):
        u_next[0] = u[0] + kick

    @cosim.witness
    def middle(q):
        return q[0]

    @cosim.on(middle, does="discrete")
    def passed_d(passages, passages_next):
        passages_next[0] = passages + 1
