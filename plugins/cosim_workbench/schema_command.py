"""``cosim schema KIND``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import ClassVar

import cosim
from cosim.kit import replaced_file
from cosim_workbench.arguments import completes
from cosim_workbench.contracts import FileSchema


class SchemaCommand(cosim.Command):
    """Write the JSON Schema of model or scenario files, with which editors complete and check them."""

    name: ClassVar[str] = "schema"
    summary: ClassVar[str] = "write the JSON Schema of model or scenario files, for editors"
    examples = (
        ("cosim schema model -o model.schema.json", "then `#:schema model.schema.json` above a model file"),
        ("cosim schema scenario", "print it"),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the kind of file, and the target."""
        kinds = ", ".join(_schemas())
        kind = parser.add_argument("kind", help=f"kind of files: {kinds}")
        completes(kind, lambda words: _schemas())
        parser.add_argument(
            "-o", "--output", type=Path, metavar="FILE", help="file to write, instead of printing"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Print or write it."""
        kinds = _schemas()
        if arguments.kind not in kinds:
            raise cosim.LookUpError("kind of files with a schema", arguments.kind, kinds)
        schema = kinds[arguments.kind]().schema()
        text = json.dumps(schema, indent=1)
        self.report(schema=schema, written=arguments.output)
        if arguments.output is None:
            print(text)
        else:
            with replaced_file(arguments.output) as draft:
                draft.write_text(text + "\n", "utf-8")
        return 0


def _schemas() -> dict[str, type[FileSchema]]:
    """The schemas by kind of file."""
    return {entry.cls.name: entry.cls for entry in cosim.registry().entries("file_schema")}
