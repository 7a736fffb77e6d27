"""Evaluating what is not evaluated yet."""

from __future__ import annotations

from cosim.run_data.records.evaluation import DERIVATIVES, MOTION, NOTHING, RESTORED
from cosim.run_data.run import Run
from cosim.step.block_calls import realize_touched, walk_here
from cosim.step.holds import has_held_derivatives, held_count, mark_held_derivatives, realize_held


def realize(run: Run, stage: int) -> None:
    """Compute what is not computed yet, up to DERIVATIVES, MOTION or REPORT."""
    if run.evaluation.stage < stage:
        realize_missing(run, stage)


def realize_missing(run: Run, stage: int) -> None:
    """Realize a stage, of which something is missing."""
    if run.evaluation.stage == DERIVATIVES:
        for block in run.past:
            if block.waits != 0:
                walk_here(run, block.row, block.row + 1)
        run.evaluation.stage = MOTION
    if run.evaluation.stage < DERIVATIVES:
        realize_motion(run)
    if run.evaluation.stage < stage:
        walk_here(run, run.plan.derivatives.last, run.plan.report_end)
        run.evaluation.stage = stage


def realize_motion(run: Run) -> None:
    """Compute everything up to the derivatives: wholly, or what changes of handlers have reached."""
    if run.evaluation.touched != 0 and held_count(run) == 0 and not has_held_derivatives(run):
        mark_held_derivatives(run, False)
        realize_touched(run)
        return
    # put back as it was where a step ended: with what holds witnesses, unless it was written to since
    again = run.evaluation.stage == RESTORED and run.clock.jumped == 0.0
    again = again and has_held_derivatives(run) and held_count(run) > 0
    mark_held_derivatives(run, False)
    run.evaluation.touched = 0
    run.evaluation.evaluations += 1
    first = run.plan.first_row if run.evaluation.stage <= NOTHING else run.plan.derivatives.first
    walk_here(run, first, run.plan.derivatives.last)
    run.evaluation.stage = MOTION
    if again:
        realize_held(run)
