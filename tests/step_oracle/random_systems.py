"""Random systems with events, and what is done with them; a seed determines everything."""

from __future__ import annotations

import math
from typing import Any

from draws import Draws
from oracle_clocks import NEVER
from oracle_plan import Plan
from system_builder import SystemBuilder

EXPLICIT = {"heun": 2, "runge_kutta_3": 3, "bogacki_shampine": 3, "runge_kutta_merson": 4}
EXPLICIT |= {"dormand_prince": 5, "tsitouras": 5, "dormand_prince_853": 8}
IMPLICIT = {"implicit_euler": 1, "trapezoid": 2, "radau3": 3, "radau5": 5, "esdirk43": 4}
IMPLICIT |= {"bdf": 4, "generalized_alpha": 2}
FIXED = ("explicit_euler", "runge_kutta_4")
SECOND_ORDER = ("semi_implicit_euler", "velocity_verlet", "yoshida_4")
DEAR_TO_START = ("bdf", "trapezoid", "generalized_alpha")
"""Methods that take short steps after each event."""
TIGHTEST = {1: 1e-4, 2: 1e-5, 3: 1e-6, 4: 1e-8, 5: 1e-9, 8: 1e-9}
"""The tightest accuracy of a method, by its order: a tighter one would take too long."""
SCHEDULED = ("clock", "beat", "fixed_clock", "alarm", "cascade", "every_step", "signs", "lagging")
WITNESSED = ("probe", "probe", "mover", "thermostat", "driven", "driven", "fading")
ENDLESS = ("ball", "ball", "ball", "shaken", "shaken", "stack", "relay", "friction", "gears", "valve")
SECOND_ORDER_PARTS = ("beat", "signs", "driven", "ball", "shaken", "stack", "friction")


def random_plan(seed: int) -> Plan:
    """The random system of a seed and what is done with it."""
    draws = Draws(seed)
    end = draws.one_of([0.6, 1.0, 1.5, 2.2])
    builder = SystemBuilder(draws, end)
    second_order = draws.chance(0.1)
    mechanical = not second_order and draws.chance(0.15)
    if mechanical:
        builder.mechanism()
    for i in range(draws.count(0 if mechanical else 1, 2 if mechanical else 4)):
        kinds = draws.one_of([SCHEDULED, WITNESSED, ENDLESS])
        _add(builder, draws.one_of(SECOND_ORDER_PARTS if second_order else kinds), i)
    if builder.sources and not second_order:
        for i in range(draws.one_of([0, 0, 1, 1, 2, 3])):
            builder.measure(f"measure{i}")
        for i in range(draws.one_of([0, 0, 1, 2])):
            builder.guard(f"guard{i}")
    if not mechanical and not builder.endless and draws.chance(0.5):
        builder.added = draws.shuffled(builder.added)
    plan = Plan(seed, builder.descriptions(), builder.build, features=builder.features)
    _choose_method(plan, builder, draws, mechanical)
    _choose_actions(plan, builder, draws, end)
    return plan


def _add(builder: SystemBuilder, kind: str, index: int) -> None:
    getattr(builder, kind)(f"{kind}{index}")


def _choose_method(plan: Plan, builder: SystemBuilder, draws: Draws, mechanical: bool) -> None:
    """Choose the integrator, its accuracy or fixed step, and the policy for endless events."""
    options: dict[str, Any] = {}
    fixed_step = draws.one_of([1 / 32, 0.02, 0.05])
    if builder.second_order and draws.chance(0.6):
        name, fixed = draws.one_of(SECOND_ORDER), True
    else:
        fixed = draws.chance(0.2)
        methods = draws.one_of([EXPLICIT, EXPLICIT, IMPLICIT])
        name = draws.one_of(FIXED) if fixed and draws.chance(0.5) else draws.one_of(list(methods))
    if name == "bdf" and builder.steps_matter and not fixed:
        name = "radau5"  # a multistep method that restarts at every step makes no progress
    order = {**EXPLICIT, **IMPLICIT}.get(name, 4)
    if fixed:
        options["fixed_step"] = fixed_step
    if not fixed or draws.chance(0.6):
        tightest = max(TIGHTEST[order], 1e-7 if mechanical else 0.0)
        if name in DEAR_TO_START and (builder.endless or builder.steps_matter):
            tightest = 1e-5
        span = math.log10(1e-4 / tightest)
        digits = draws.number(0.0, span)
        options["accuracy"] = draws.one_of([1e-4, tightest, float(f"{1e-4 * 10.0**-digits:.1e}")])
        plan.features.add(f"accuracy 1e{round(math.log10(options['accuracy']))}")
        if not fixed:  # when outcomes were written, the accuracy was that of each step
            options["relative_tolerance"] = options["accuracy"]
    else:
        plan.features.add("no accuracy")
    if not fixed and draws.chance(0.1):
        options["maximum_step"] = draws.number(0.02, 0.2)
    policy = draws.fraction()
    if policy < 0.05:
        options["endless_events"] = "stop"
    elif policy < 0.15 and (not builder.endless or "accuracy" not in options):
        options["endless_events"] = "report"
    plan.features.add(options.get("endless_events", "hold"))
    plan.features.add(name)
    plan.integrator, plan.options = f"integrators.{name}", options


def _choose_actions(plan: Plan, builder: SystemBuilder, draws: Draws, end: float) -> None:
    """Choose stops at random times, and what is written there."""
    count = draws.count(0, 3)
    inner = [draws.one_of([draws.number(0.0, end), draws.count(1, 20) / 16]) for _ in range(count)]
    if draws.chance(0.15):
        plan.start = draws.one_of([0.25, 1 / 3, 0.39, -0.5])
        plan.features.add("start")
    times = [plan.start + t for t in [*sorted(t for t in inner if t < end), end]]
    if draws.chance(0.1):
        times.insert(1, times[0])
    if draws.chance(0.05):
        plan.options["final_time"] = times[-1] if draws.chance(0.5) else draws.number(times[0], times[-1])
        plan.features.add("final time")
    if draws.chance(0.15) and builder.writes:
        path, value = draws.one_of(builder.writes)
        plan.actions.append(("write", path, value()))
    plan.actions.append(("initialize",))
    mended = False
    for time in times:
        plan.actions.append(("step" if draws.chance(0.06) else "advance", time))
        if time == times[-1] and not draws.chance(0.2):
            break
        if draws.chance(0.45) and builder.writes:
            path, value = draws.one_of(builder.writes)
            plan.actions.append(("write", path, value()))
        if draws.chance(0.5) and builder.slopes:
            plan.actions.append(("slope", draws.one_of(builder.slopes), draws.number(-1.0, 1.0)))
        if draws.chance(0.1):
            plan.actions.append(("pending",))
        if draws.chance(0.1):
            plan.actions.append(("restore",))
        if draws.chance(0.02):
            plan.actions.append(("initialize",))
            plan.features.add("initialized again")
        if builder.mends and not mended and draws.chance(0.5):
            plan.actions += [("write", path, NEVER) for path in builder.mends]
            plan.features.add("mended")
            mended = True
    plan.actions.append(("finish",))
    plan.features |= {action[0] for action in plan.actions}
