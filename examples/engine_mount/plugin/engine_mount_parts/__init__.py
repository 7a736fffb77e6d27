"""The parts of the engine mount example that are its own."""

from engine_mount_parts.active_damper import ActiveDamper as ActiveDamper
from engine_mount_parts.controller import Controller as Controller
from engine_mount_parts.shaker import Shaker as Shaker
