"""The table of a model file that lists shapes on bodies."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import cosim
from cosim_mechanics.model_tables import MechanicsTable, Report

if TYPE_CHECKING:
    from cosim_mechanics.shapes import Material, Shape


class CollisionsTable(MechanicsTable):
    """``[collisions.scene]``: `shapes` on bodies, which touch each other, and the values of `Collisions`.

    ``shapes = [{ body = "ground", type = "half_space" }, { body = "ball", type = "sphere", radius = "10 cm"
    }]``: an id without a dot is looked up under ``mechanics.``; every other key is a value of the shape.
    ``ignore = [["arm", "base"]]`` lists pairs of bodies that do not touch. The ``material = "steel"`` of a
    shape is an entry of ``materials = { steel = { modulus = "210 GPa", friction = 0.6 } }``.
    """

    table = "collisions"
    comes_last: ClassVar[bool] = True  # it reads the joints of the model

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Report) -> None:
        """Add the contacts of all shapes."""
        rows, ignore = entry.pop("shapes", None), entry.pop("ignore", [])
        materials = self._materials(entry.pop("materials", {}), report)
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            report(
                "shapes", 'shapes is not a list of tables: [{ body = "ball", type = "sphere", radius = 1 }]'
            )
            return
        if not isinstance(ignore, list) or not all(isinstance(pair, list) for pair in ignore):
            report("ignore", 'ignore is not a list of pairs of bodies, [["arm", "base"]]')
            return
        for key in [key for key in entry if key not in LAW]:
            report(key, f"collisions have no {key}; they have {', '.join((*TABLES, *LAW))}")
            del entry[key]
        shapes: dict[str, list[Shape]] = {}
        for i, row in enumerate(rows):
            try:
                shapes.setdefault(str(row.get("body")), []).append(self._shape(row, materials))
            except (cosim.LookUpError, cosim.ModelError, ValueError) as error:
                report(f"shapes[{i}]", str(error))
        if sum(map(len, shapes.values())) == len(rows):
            from cosim_mechanics.scene import scene  # imported here, since few models have shapes

            values = scene(model, shapes, ignore)
            self.add(model, name, {"type": "collisions", **values, **entry}, report)

    def _materials(self, table: Any, report: Report) -> dict[str, Material]:
        """The materials of the table ``materials``, by name."""
        from cosim_mechanics.shapes import Material

        materials = {}
        for name, values in table.items() if isinstance(table, Mapping) else ():
            try:
                materials[name] = Material(**values)
            except (cosim.ModelError, TypeError, ValueError) as error:
                report(f"materials.{name}", str(error))
        if not isinstance(table, Mapping):
            report("materials", 'materials is not a table: { steel = { modulus = "210 GPa" } }')
        return materials

    def _shape(self, row: Mapping[str, Any], materials: Mapping[str, Material]) -> Shape:
        """A shape of an entry of the list."""
        if not isinstance(row.get("body"), str) or not isinstance(row.get("type"), str):
            raise ValueError('needs body = "…", a name, and type = "…", the id of a shape')
        cls: Any = cosim.registry().get("shape", self.full_id(row["type"]))
        values = {key: value for key, value in row.items() if key not in ("body", "type")}
        parameters = inspect.signature(cls).parameters.values()
        is_required = {
            parameter.name: parameter.default is inspect.Parameter.empty for parameter in parameters
        }
        for key in values:
            if key not in is_required:
                raise ValueError(f"{row['type']} has no {key}; it has {', '.join(is_required)}")
        missing = [key for key, needed in is_required.items() if needed and key not in values]
        if missing:
            raise ValueError(f"{row['type']} needs {missing[0]}")
        arguments = {key: v if key in ("frame", "material") else _meters(v) for key, v in values.items()}
        if "material" in arguments:
            if arguments["material"] not in materials:
                raise ValueError(
                    f"there is no material {arguments['material']!r}; there are {', '.join(materials)}"
                )
            arguments["material"] = materials[arguments["material"]]
        shape: Shape = cls(**arguments)
        return shape

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """The schema of the table: the values of `Collisions` except those that follow from the shapes."""
        part = self.part_schema(parts, only="mechanics.collisions")
        properties = {key: value for key, value in part["properties"].items() if key in LAW}
        from cosim_mechanics.shapes import MATERIAL_UNITS

        shape = {"type": "object", "required": ["body", "type"], "properties": {}}
        rows = {"type": "array", "items": shape}
        pairs = {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
        numbers = {"type": ["number", "string"]}
        material: dict[str, Any] = {"type": "object", "properties": dict.fromkeys(MATERIAL_UNITS, numbers)}
        material = {**material, "required": ["modulus"], "additionalProperties": False}
        materials = {"type": "object", "additionalProperties": material}
        return {
            "type": "object",
            "properties": {**properties, "shapes": rows, "ignore": pairs, "materials": materials},
            "required": ["shapes"],
            "additionalProperties": False,
        }


LAW = (
    "enabled", "stiffness", "restitution", "dissipation", "friction", "poisson_ratio", "stick_damping",
    "crown",
)  # fmt: skip
"""Values of `Collisions` that do not follow from the shapes."""

TABLES = ("shapes", "ignore", "materials")


def _meters(value: Any) -> Any:
    """A length in m from a number or text with a unit; the same for lists of them."""
    if isinstance(value, str):
        return cosim.parse_quantity(value, "m")
    if isinstance(value, list):
        return [_meters(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not a length")
    return float(value)
