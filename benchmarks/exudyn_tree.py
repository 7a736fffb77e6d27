"""A kinematic tree in Exudyn, for scripts that run in its environment, where nothing else of ours is there.

Kinematic trees have joints of one degree of freedom: a free body is carried by three sliders and three pins.
"""

from typing import NamedTuple

import exudyn as exu
import numpy as np
from exudyn.utilities import NodeGenericODE2, ObjectKinematicTree

HINGES = (exu.JointType.RevoluteX, exu.JointType.RevoluteY, exu.JointType.RevoluteZ)
FREE_JOINTS = (exu.JointType.PrismaticX, exu.JointType.PrismaticY, exu.JointType.PrismaticZ, *HINGES)
ORIGIN = [0.0, 0.0, 0.0]


class TreeLink(NamedTuple):
    """A link of a kinematic tree, with the joint of one degree of freedom that carries it.

    `parent` is the number of another link, -1 for Ground. Links between the joints of a free body have no
    mass. `is_hinge` says whether the joint is a pin of the tree, not one of the six of a free body.
    """

    joint_type: object
    parent: int
    offset: list
    mass: float
    center: list
    inertia: np.ndarray
    q: float
    u: float
    is_hinge: bool


class ExudynTree(NamedTuple):
    """The system, not yet assembled; the number of its node; for each coordinate whether it is a hinge."""

    system: object
    node: int
    hinges: np.ndarray


def links_of(tree):
    """The links of a tree in the form of ``dynamics/trees.py``."""
    links, last_link_of_body = [], []
    for body in tree["bodies"]:
        parent = -1 if body["parent"] < 0 else last_link_of_body[body["parent"]]
        is_hinge = body["joint"] == "pin"
        joint_types = (HINGES[int(np.argmax(body["axis"]))],) if is_hinge else FREE_JOINTS
        for i, joint_type in enumerate(joint_types):
            is_body = i == len(joint_types) - 1
            links.append(
                TreeLink(
                    joint_type=joint_type,
                    parent=parent,
                    offset=list(body["position"]) if i == 0 else ORIGIN,
                    mass=body["mass"] if is_body else 0.0,
                    center=list(body["center"]) if is_body else ORIGIN,
                    inertia=np.diag(body["inertia"]) if is_body else np.zeros((3, 3)),
                    q=tree["q"] if is_hinge else 0.0,
                    u=tree["u"] if is_hinge else 0.0,
                    is_hinge=is_hinge,
                )
            )
            parent = len(links) - 1
        last_link_of_body.append(parent)
    return links


def build(tree):
    """A new system with the kinematic tree, as an `ExudynTree`; sensors can be added before it is assembled.

    Parameters
    ----------
    tree : dict
        As in ``dynamics/trees.py``, with ``gravity`` (m/s2).
    """
    links = links_of(tree)
    n = len(links)
    system = exu.SystemContainer().AddSystem()
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * n,
            initialCoordinates=[link.q for link in links],
            initialCoordinates_t=[link.u for link in links],
            numberOfODE2Coordinates=n,
        )
    )
    system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[link.joint_type for link in links],
            linkParents=[link.parent for link in links],
            jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
            jointOffsets=exu.Vector3DList([link.offset for link in links]),
            linkInertiasCOM=exu.Matrix3DList([link.inertia for link in links]),
            linkCOMs=exu.Vector3DList([link.center for link in links]),
            linkMasses=[link.mass for link in links],
            gravity=list(tree["gravity"]),
        )
    )
    return ExudynTree(system, node, np.array([link.is_hinge for link in links]))
