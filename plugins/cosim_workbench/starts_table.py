"""Table ``[starts]`` of a model file."""

from __future__ import annotations

from typing import Any

import cosim


class StartsTable(cosim.ModelTable):
    """Values at the start: ``[starts]`` with ``engine_joint.u = [...]``, by the path of what is set."""

    table = "starts"
    form = "table"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Any) -> None:
        """Set all start values; keys with dots and quoted paths mean the same."""
        for key, value in entry.items():
            path = f"{name}.{key}" if name else key
            if isinstance(value, dict):
                self.read(model, path, value, report)
            elif path in model.starts:
                report(f'"{path}"', f"'{path}' has a start value already")
            else:
                model.set_start(path, value)
