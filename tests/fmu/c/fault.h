/* Put before the source of an FMU, with FAULT… at the begin of every function that it exports (`faulty_fmu.py`).

FMU_FAULT=<function> <n> <kind> in the environment: what goes wrong when that function is called, from the n-th time on.
FMU_CALLS=<file>: the names of all functions that are called are appended to it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fault_status, fault_count;

static int fault_in(const char *name) {
    const char *told = getenv("FMU_FAULT"), *file = getenv("FMU_CALLS");
    char where[64], kind[16];
    int when;
    if (file != NULL) {
        FILE *calls = fopen(file, "a");
        fprintf(calls, "%s\n", name);
        fclose(calls);
    }
    if (told == NULL || sscanf(told, "%63s %d %15s", where, &when, kind) != 3) return 0;
    if (strcmp(where, name) != 0 || ++fault_count < when) return 0;
    if (strcmp(kind, "exit") == 0) exit(0);
    if (strcmp(kind, "_exit") == 0) _exit(0);
    if (strcmp(kind, "crash") == 0) raise(SIGSEGV);
    if (strcmp(kind, "abort") == 0) abort();
    if (strcmp(kind, "loop") == 0) for (;;) { }
    fault_status = strcmp(kind, "fatal") == 0 ? 4 : 3;
    return 1;
}
#define FAULT do { if (fault_in(__func__)) return fault_status; } while (0);
#define FAULT_MADE do { if (fault_in(__func__)) return 0; } while (0);
#define FAULT_FREED do { if (fault_in(__func__)) return; } while (0);
