"""The registration of this package."""

from __future__ import annotations

import cosim
from cosim_animation.animate_command import AnimateCommand
from cosim_animation.box_look import BoxLook
from cosim_animation.capsule_look import CapsuleLook
from cosim_animation.cone_look import ConeLook
from cosim_animation.cylinder_look import CylinderLook
from cosim_animation.looks_table import LooksTable
from cosim_animation.mesh_look import MeshLook
from cosim_animation.page import AnimationPage
from cosim_animation.sphere_look import SphereLook

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    register("animation.box", BoxLook)
    register("animation.sphere", SphereLook)
    register("animation.cylinder", CylinderLook)
    register("animation.capsule", CapsuleLook)
    register("animation.cone", ConeLook)
    register("animation.mesh", MeshLook)
    register("animation.looks", LooksTable)
    register("animation.page", AnimationPage)
    register("animation.animate", AnimateCommand)
