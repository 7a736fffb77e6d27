"""Robots from URDF and MJCF files, as models of rigid bodies and joints."""

import cosim.kit

__getattr__, __dir__ = cosim.kit.late_names(__name__)
