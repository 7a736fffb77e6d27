"""The registrations of this package."""

import cosim

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    from engine_mount_parts.active_damper import ActiveDamper
    from engine_mount_parts.controller import Controller
    from engine_mount_parts.shaker import Shaker

    register("engine_mount.controller", Controller)
    register("engine_mount.shaker", Shaker)
    register("engine_mount.active_damper", ActiveDamper)
