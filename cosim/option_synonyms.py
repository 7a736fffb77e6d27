"""The names that other tools use for options of functions here."""

from __future__ import annotations

from collections.abc import Iterable

SYNONYMS = {
    "until": ("t_end", "tend", "t_final", "tf", "t_stop", "tstop", "stop", "stop_time", "stoptime", "end",
              "end_time", "duration", "t", "time", "t_span", "tspan"),
    "accuracy": ("tolerance", "tol", "precision", "eps", "error"),
    "relative_tolerance": ("rtol", "reltol"),
    "absolute_tolerance": ("atol", "abstol"),
    "fixed_step": ("dt", "h", "step_size", "stepsize", "step", "time_step", "timestep"),
    "maximum_step": ("max_step", "hmax", "dt_max", "max_dt", "maxstep", "dtmax"),
    "minimum_step": ("min_step", "hmin", "dt_min"),
    "initial_step": ("first_step", "h0", "dt0"),
    "integrator": ("method", "solver"),
    "output_interval": ("t_eval", "saveat", "interval", "dt_out", "output_step", "sample_time"),
    "signals": ("outputs", "variables", "record"),
    "step": ("dt", "h", "step_size", "stepsize", "communication_step", "macro_step"),
    "default": ("value", "start", "initial", "initial_value", "init"),
    "start": ("value", "default", "initial", "initial_value", "init"),
    "minimum": ("min", "lower", "low", "lower_bound", "ge"),
    "maximum": ("max", "upper", "high", "upper_bound", "le"),
    "above": ("gt",),
    "description": ("doc", "help", "label", "comment"),
    "unit": ("units", "dimension"),
    "shape": ("size", "length", "dim"),
    "algorithm": ("method", "master", "solver"),
    "mass": ("m",),
    "center_of_mass": ("com", "cog", "cg", "mass_center", "r_CM"),
    "stiffness": ("k", "c_spring", "spring_constant"),
    "damping": ("d", "c", "damping_coefficient"),
}  # fmt: skip


def option_of_synonym(name: str, options: Iterable[str]) -> str | None:
    """The option that other tools call so, where there is one.

    Examples
    --------
    >>> option_of_synonym("dt", ["until", "fixed_step"]), option_of_synonym("dt", ["until"])
    ('fixed_step', None)
    """
    return next((option for option in options if name in SYNONYMS.get(option, ())), None)
