"""CPU time, for all programs in the same way."""

import time


def least(action, runs):
    """CPU time of an action, s, the least of some runs after one that is not counted; and the last answer."""
    action()
    seconds = []
    for _ in range(runs):
        began = time.process_time()
        answer = action()
        seconds.append(time.process_time() - began)
    return min(seconds), answer
