"""What the entry points answer."""

from __future__ import annotations

REACHED = 0
TERMINATED = 1
GROW = 2
STEPPED = 3
EVENT = 4
FAILED = 10  # this and more: the run cannot go on; the state is the last good one
FAILED_BLOCK, FAILED_STEP, FAILED_CONSTRAINTS, FAILED_HANDLER, FAILED_ANSWER, FAILED_SIGNALS = range(10, 16)
FAILED_TIMER, FAILED_PERIOD, FAILED_HISTORY, FAILED_HOLD, FAILED_SIDE, FAILED_STILL = range(16, 22)
FAILED_PAST, FAILED_STATE, FAILED_LOOSE, FAILED_CRAWL, FAILED_INTEGER, FAILED_INFINITE = range(22, 28)
FAILED_FORBIDDEN, FAILED_ACCURACY, FAILED_RESOLUTION = 28, 29, 30

SENTENCES = {
    REACHED: "The time was reached.",
    TERMINATED: "An event handler asked to stop.",
    GROW: "A history is full: give `h` the length places[NEEDED], keep what is in it, and call again.",
    STEPPED: "A step was taken, and the time is not reached yet.",
    EVENT: "An event has to be handled before the integration goes on.",
    FAILED_BLOCK: "A component could not be evaluated (its block: places[BLOCK]).",
    FAILED_STEP: "The integration cannot go on (why: places[STEP_CODE], a StepCode).",
    FAILED_CONSTRAINTS: "No state near this one meets the constraints.",
    FAILED_HANDLER: "An event handler failed (which: places[ENTRY]).",
    FAILED_ANSWER: "An event handler answered no status (places[ENTRY]).",
    FAILED_INTEGER: "An event handler wrote a fraction, NaN or infinity to an integer (places[ENTRY]).",
    FAILED_INFINITE: "An event handler wrote NaN or infinity to a state (places[ENTRY]).",
    FAILED_FORBIDDEN: "An event handler changed what its kind may not change (places[ENTRY]).",
    FAILED_ACCURACY: "Events cannot be located without an accuracy.",
    FAILED_SIGNALS: "Signals raise each other without end.",
    FAILED_TIMER: "A timer was set to the past (which handler: places[ENTRY]).",
    FAILED_PERIOD: "A period is not more than 0, or lost beside the time (which handler: places[ENTRY]).",
    FAILED_RESOLUTION: "A period or an offset cannot be counted in 64 bits (which handler: places[ENTRY]).",
    FAILED_HISTORY: "A step filled a history.",
    FAILED_HOLD: "The events of a witness do not end (which: places[WITNESS]).",
    FAILED_SIDE: "A witness is on the wrong side at the start (which: places[WITNESS]).",
    FAILED_STILL: "Nothing here takes time: no states and no scheduled event; a finite time is needed.",
    FAILED_PAST: "The time that is asked for is in the past.",
    FAILED_LOOSE: "The events of a witness do not end, and its handlers change nothing to hold it by "
    "(which: places[WITNESS]).",
    FAILED_CRAWL: "It would take more than a thousand million steps: the system is extremely stiff, runs "
    "toward a singularity, or its events do not end (the state that changes fastest: places[FASTEST]).",
    FAILED_STATE: "The state that was put back is none of this program.",
}
