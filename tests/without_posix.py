"""A process: uses the product without the names that Python does not have on Windows.

Our modules get an `os` and a `signal` without these names, and no `fcntl`; those of Python keep theirs. This
shows that each use of such a name is guarded, not what Windows does.
"""

from __future__ import annotations

import importlib
import pkgutil
import signal
import sys
import types
from pathlib import Path

MISSING_NAMES = {
    "os": [
        "fork",
        "forkpty",
        "getuid",
        "geteuid",
        "getgid",
        "getppid",
        "killpg",
        "setsid",
        "memfd_create",
        "pread",
        "pwrite",
        "posix_fallocate",
        "sched_getaffinity",
        "statvfs",
        "fchmod",
        "fchown",
        "chown",
        "mkfifo",
        "uname",
        "getloadavg",
        "setpgid",
        "getpgid",
        "WNOHANG",
        "O_NOFOLLOW",
        "O_NONBLOCK",
        "O_DIRECTORY",
        "O_CLOEXEC",
        "sysconf",
        "nice",
        "lockf",
        "waitid",
        "wait",
        "writev",
        "sendfile",
        "openpty",
    ],
    "signal": [
        "SIGKILL",
        "SIGCHLD",
        "SIGSTOP",
        "SIGTSTP",
        "SIGCONT",
        "SIGPIPE",
        "SIGBUS",
        "SIGHUP",
        "SIGQUIT",
        "SIGALRM",
        "SIGUSR1",
        "SIGXCPU",
        "sigwait",
        "sigwaitinfo",
        "sigtimedwait",
        "pthread_sigmask",
        "pthread_kill",
        "alarm",
        "setitimer",
        "siginterrupt",
        "sigpending",
    ],
}
PACKAGES = [
    "cosim",
    "cosim_compiler",
    "cosim_animation",
    "cosim_dynamics",
    "cosim_ensembles",
    "cosim_export",
    "cosim_fmi",
    "cosim_fmu",
    "cosim_integrators",
    "cosim_lowering",
    "cosim_master",
    "cosim_measures",
    "cosim_mechanics",
    "cosim_robots",
    "cosim_signals",
    "cosim_ssp",
    "cosim_workbench",
]
LINUX_ALONE = ("cosim.testing.other_mode", "cosim.command_line.supervised", "cosim.command_line.black_box")
"""Modules that check the platform themselves."""
LIBRARIES = ("cosim_fmi.binding.fmi2_instance", "cosim_fmi.binding.fmu_library")
"""Modules that load and free the libraries of this system."""


MODEL = """
[model]
name = "cart"
[bodies.cart]
mass = 2.0
inertia = [1, 1, 1]
joint = { type = "slider", q = 0.2 }
[elements.spring]
type = "mechanics.coordinate_spring"
coordinate = "cart_joint"
stiffness = 50.0
[simulation]
until = 0.5
"""


def without(module: types.ModuleType) -> types.ModuleType:
    """A copy of a module without the names that it does not have on Windows."""
    reduced = types.ModuleType(module.__name__)
    reduced.__dict__.update(
        {n: v for n, v in vars(module).items() if n not in MISSING_NAMES[module.__name__]}
    )
    return reduced


def import_everything() -> list[types.ModuleType]:
    """All modules of the product."""
    modules = []
    for package in map(importlib.import_module, PACKAGES):
        for module_info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not module_info.name.endswith(("__main__", ".slave")):
                modules.append(importlib.import_module(module_info.name))
    return modules


def remove_names() -> int:
    """Replace `os` and `signal` in all our modules; returns the number of replacements."""
    import os

    reduced = {"os": without(os), "signal": without(signal)}
    reduced["os"].name = "nt"  # type: ignore[attr-defined]
    count = 0
    for module in import_everything():
        if module.__name__ in (*LINUX_ALONE, *LIBRARIES):
            continue
        for name in reduced:
            if isinstance(getattr(module, name, None), types.ModuleType):
                setattr(module, name, reduced[name])
                count += 1
        if getattr(module, "fcntl", None) is not None:
            module.fcntl = None  # type: ignore[attr-defined]
    return count


def main(folder: Path) -> None:
    """Run a model, show its results, export, validate and run an FMU, and run a study in processes."""
    import cosim.command_line.dispatch as dispatch
    from cosim.cli import main as command
    from cosim_compiler import kernel_cache
    from cosim_fmu import CoSimulation

    assert remove_names() > 20
    dispatch.can_be_supervised = lambda: False
    kernel_cache.sys = types.SimpleNamespace(**{**vars(sys), "platform": "win32"})  # type: ignore[attr-defined]
    sys.modules["fcntl"] = None  # type: ignore[assignment]
    model = folder / "cart.toml"
    model.write_text(MODEL, "utf-8")
    out = str(folder / "cart.csv")
    assert command(["run", str(model), "-o", out]) == 0
    assert command(["info", out]) == 0
    fmu = str(folder / "cart.fmu")
    assert command(["export", str(model), "-o", fmu, "--outputs", "cart.x"]) == 0
    assert command(["validate", fmu]) == 0
    study = ["--vary", "cart.mass=1..2:3", "--objective", "m=max(cart.x)", "-o", str(folder / "study")]
    assert command(["sweep", str(model), *study]) == 0
    result = CoSimulation({"cart": fmu}, step=0.1).simulate(until=0.5)
    print(f"the cart ends at {result['cart.cart.x'][-1]:.4f} m")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
