"""Reference pages show the help of configuration fields, the line that the command line shows too.

An extension of griffe, which reads the sources for the site.
"""

import ast
from typing import Any

from griffe import Attribute, Docstring, Extension, ObjectNode


class FieldHelp(Extension):
    """Takes the docstring and the default of a field from `field(default=..., metadata={"help": ...})`."""

    def on_attribute_instance(self, *, node: ast.AST | ObjectNode, attr: Attribute, **_: Any) -> None:
        """Called for every attribute that is read."""
        value = getattr(node, "value", None)
        if not isinstance(value, ast.Call) or ast.unparse(value.func) != "field":
            return
        given = {keyword.arg: keyword.value for keyword in value.keywords}
        if "default" in given:
            attr.value = ast.unparse(given["default"])
        metadata = given.get("metadata")
        if attr.docstring is None and isinstance(metadata, ast.Dict):
            for key, words in zip(metadata.keys, metadata.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "help" and isinstance(words, ast.Constant):
                    attr.docstring = Docstring(str(words.value), parent=attr)
