/* What the functions of a model work on. */
#ifndef COSIM_ARRAY_H
#define COSIM_ARRAY_H

#include <stdint.h>

#include "names.h"

/* Numbers of eight bytes: integers or doubles, in rows. */
typedef struct {
    void *data;
    int64_t rows;
    int64_t columns;
} Array;

/* Returns a code of the model's table of codes. */
typedef int64_t EntryPoint(Array *arrays, double time);

#endif
