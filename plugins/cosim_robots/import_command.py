"""``cosim import ROBOT -o MODEL.toml``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import cosim
from cosim_robots.import_robot import fill_model, import_robot
from cosim_robots.mjcf_reader import MjcfReader
from cosim_robots.toml_text import toml_text
from cosim_robots.tree import BASES
from cosim_robots.urdf_reader import UrdfReader

READERS = {suffix: reader for reader in (UrdfReader, MjcfReader) for suffix in reader.suffixes}


class ImportCommand(cosim.Command):
    """Write a robot's file as a model file."""

    name: ClassVar[str] = "import"
    known_as: ClassVar[tuple[str, ...]] = ("urdf", "mjcf", "mujoco", "read", "load")
    summary: ClassVar[str] = "write a robot (URDF, MJCF) as a model file"
    examples = (
        ("cosim import arm.urdf", "arm.toml, and a list of what was not taken over"),
        ("cosim import dog.urdf -o dog.toml --base free", "the first link moves freely"),
        ("cosim import humanoid.xml", "a model of MuJoCo"),
        ("cosim export arm.urdf --native", "arm.fmu: efforts of the joints in, angles and rates out"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The robot, the model file, how it is made."""
        parser.add_argument("robot", type=Path, help="a URDF or MJCF file")
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the model file (ROBOT.toml)")
        parser.add_argument(
            "--base", choices=BASES, help="motion of the first link (fixed; MJCF files define it)"
        )
        parser.add_argument(
            "--keep-fixed", action="store_true", help="links with mass on fixed joints stay bodies"
        )
        parser.add_argument("--no-actuators", action="store_true", help="no inputs for efforts of joints")
        parser.add_argument(
            "--motors",
            action="store_true",
            help="motors that follow targets within the largest efforts and speeds",
        )
        parser.add_argument("-f", "--force", action="store_true", help="replace an existing model file")
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def run(self, arguments: argparse.Namespace) -> int:
        """Read, check, write."""
        reader = READERS.get(arguments.robot.suffix.lower())
        if reader is None:
            raise cosim.CosimError(
                f"{arguments.robot}: the file name of a robot must end in {', '.join(READERS)}"
            )
        target = arguments.output or Path(f"{arguments.robot.stem}.toml")
        if target.suffix.lower() != ".toml":
            raise cosim.CosimError(f"{target}: the name of a model file must end in .toml")
        if target.exists() and not arguments.force:
            raise cosim.CosimError(f"{target}: exists already; use --force to replace it")
        tables = import_robot(
            reader.read_robot,
            arguments.robot,
            base=arguments.base,
            keep_fixed=arguments.keep_fixed,
            actuators=not arguments.no_actuators,
            motors=arguments.motors,
        )
        system = fill_model(cosim.Model(tables.name), tables).build()
        try:
            target.write_text(toml_text(tables, str(arguments.robot)), "utf-8")
        except OSError as error:
            raise cosim.CosimError(f"{target}: cannot be written: {error.strerror}") from None
        counts = {name: len(tables.data.get(name, ())) for name in ("bodies", "joints", "constraints")}
        self.report(written=target, remarks=tables.remarks, inputs=[*system.inputs], **counts)
        if not arguments.quiet:
            listed = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
            print(f"{arguments.robot} → {target}: {listed or 'nothing that moves'}")
            for remark in tables.remarks:
                print(f"note: {remark}")
            print(f"next       cosim run {target}")
        return 0
