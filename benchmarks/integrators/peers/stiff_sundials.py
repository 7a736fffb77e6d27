"""SUNDIALS through scikit-sundae: CVODE's BDF."""

import json
import sys
import time

import numpy as np
from sksundae.cvode import CVODE
from stiff_laws import laws


def writing(law, parameters, counted):
    def right(t, y, yp):
        counted[0] += 1
        yp[:] = law(t, y, parameters)

    return right


order = json.loads(sys.argv[1])
runs = []
for name, start, until, parameters, floor in order["problems"]:
    law, counted = laws(np)[name], [0]

    right = writing(law, parameters, counted)
    for accuracy in order["accuracies"]:
        seconds = np.inf
        for _ in range(order["rounds"]):
            solver = CVODE(right, rtol=accuracy, atol=floor * accuracy, max_num_steps=999999)
            counted[0], begin = 0, time.perf_counter()
            solution = solver.solve([0.0, until], np.array(start))
            seconds = min(seconds, time.perf_counter() - begin)
        if solution.success:
            end = np.asarray(solution.y)[-1].tolist()
            runs.append([name, "CVODE BDF", seconds, counted[0], end])
print(json.dumps({"runs": runs}))
