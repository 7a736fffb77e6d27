/* What the derivatives need of the values of variables. */
#ifndef COSIM_VALUES_H
#define COSIM_VALUES_H

#include "arrays.h"

/* An answer that the adapter of checks takes for: do not check. Differences need values beside the edge. */
#define UNCHECKED (-1.0)

double *place_of(Instance *instance, const Variable *variable);
double read_real(Instance *instance, const Variable *variable);
int set_angles(Instance *instance, const uint32_t *references, size_t count, const double *values, size_t first);
void set_checks(Instance *instance, double answer);

#endif
