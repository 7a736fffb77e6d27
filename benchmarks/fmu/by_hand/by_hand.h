/* What every model that is written by hand offers. */
#ifndef BY_HAND_H
#define BY_HAND_H

void begin(double step);
void advance(int steps);
const double *state(void);

#endif
