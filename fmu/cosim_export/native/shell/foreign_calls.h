/* What both versions of FMI call alike, for foreign2.c and foreign3.c: FMI(Status) is the type of this version. */

static const Functions *of(const Foreign *foreign) { return foreign->functions; }

/* After a call: sums are rounded as before it; the status as the shell has it. */
static Status status_of(const Foreign *foreign, FMI(Status) status)
{
    round_as_before(foreign);
    return status <= FMI(Warning) ? OK : status == FMI(Discard) ? DISCARD : ERROR;
}

static Status leave(Foreign *foreign) { return status_of(foreign, of(foreign)->exit(foreign->component)); }

static Status get_state(Foreign *foreign, void **state)
{
    const Functions *f = of(foreign);
    return f->get_state == NULL ? ERROR : status_of(foreign, f->get_state(foreign->component, state));
}

static Status set_state(Foreign *foreign, void *state)
{
    const Functions *f = of(foreign);
    return f->set_state == NULL ? ERROR : status_of(foreign, f->set_state(foreign->component, state));
}

static void free_state(Foreign *foreign, void **state)
{
    if (of(foreign)->free_state != NULL) (void)status_of(foreign, of(foreign)->free_state(foreign->component, state));
}

static void end(Foreign *foreign, int is_stepping)
{
    const Functions *f = of(foreign);
    if (is_stepping && f->terminate != NULL) (void)status_of(foreign, f->terminate(foreign->component));
    f->free_instance(foreign->component);
    round_as_before(foreign);
}
