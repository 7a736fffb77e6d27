"""Bouncing balls in Drake, each a system of its own in one diagram; prints evaluations and times."""

import json
import math
import sys
import time

from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import (
    DiagramBuilder,
    EventStatus,
    LeafSystem,
    UnrestrictedUpdateEvent,
    WitnessFunctionDirection,
)

count, until, accuracy, restitution = (
    int(sys.argv[1]),
    float(sys.argv[2]),
    float(sys.argv[3]),
    float(sys.argv[4]),
)
calls = {"derivatives": 0, "witness": 0, "impacts": 0}


class Ball(LeafSystem):
    """A ball on a floor."""

    def __init__(self, height):
        super().__init__()
        self.height = height
        self.DeclareContinuousState(1, 1, 0)
        self.floor = self.MakeWitnessFunction(
            "floor",
            WitnessFunctionDirection.kPositiveThenNonPositive,
            self.look,
            UnrestrictedUpdateEvent(self.bounce),
        )

    def look(self, context):
        calls["witness"] += 1
        return context.get_continuous_state_vector().GetAtIndex(0)

    def DoGetWitnessFunctions(self, context):  # noqa: N802
        return [self.floor]

    def DoCalcTimeDerivatives(self, context, derivatives):  # noqa: N802
        calls["derivatives"] += 1
        state = context.get_continuous_state_vector()
        derivatives.get_mutable_vector().SetFromVector([state.GetAtIndex(1), -9.81])

    def bounce(self, context, event, state):
        calls["impacts"] += 1
        vector = state.get_mutable_continuous_state().get_mutable_vector()
        vector.SetAtIndex(1, -restitution * vector.GetAtIndex(1))
        return EventStatus.Succeeded()


builder = DiagramBuilder()
balls = [builder.AddSystem(Ball(1.0 + 9.0 * i / max(1, count - 1))) for i in range(count)]
diagram = builder.Build()
simulator = Simulator(diagram)
simulator.get_mutable_integrator().set_target_accuracy(accuracy)
context = simulator.get_mutable_context()
context.SetAccuracy(accuracy)
for ball in balls:
    ball.GetMyMutableContextFromRoot(context).SetContinuousState([ball.height, 0.0])
simulator.Initialize()
began = time.perf_counter()
simulator.AdvanceTo(until)
spent = time.perf_counter() - began
lowest = min(ball.GetMyContextFromRoot(context).get_continuous_state_vector().GetAtIndex(0) for ball in balls)
print(
    json.dumps(
        {
            "impacts": calls["impacts"],
            # every evaluation of the diagram asks each ball once
            "evaluations": calls["derivatives"] / count,
            "wall": spent,
            "lowest": lowest,
            "finite": math.isfinite(lowest),
        }
    )
)
