"""Write ``v1/*.json`` anew: ``python -m schemas.knowledge.write``. A test holds the files to the code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from chalicelib.api import assistants, knowledge, providers, widget
from chalicelib.api.resource import Nothing
from chalicelib.knowledge import contract

FOLDER = Path(__file__).parent / "v1"
DIALECT = GenerateJsonSchema.schema_dialect
WIRE: dict[str, type[BaseModel]] = {
    "request": contract.RetrieveRequest,
    "response": contract.RetrieveResponse,
    "capabilities": contract.Capabilities,
    "problem": contract.WireProblem,
}
ROUTES = (providers.providers, assistants.assistants, knowledge.knowledge, widget.widget)


def files() -> dict[str, str]:
    """The text of each file by its name: the wire, then a request and an answer for each route that has them."""
    schemas = {name: _schema(name, model, "validation") for name, model in WIRE.items()}
    for route in (route for resource in ROUTES for route in resource.routes):
        name = route.handler.__name__
        if route.body is not Nothing:
            schemas[f"{name}.request"] = _schema(f"{name}.request", route.body, "validation")
        for model in route.answers.values():
            if isinstance(model, type) and model.model_fields:
                schemas[f"{name}.response"] = _schema(f"{name}.response", model, "serialization")
    return {f"{name}.json": json.dumps(schema, indent=2) + "\n" for name, schema in schemas.items()}


def _schema(name: str, model: type[BaseModel], mode: Any) -> dict[str, Any]:
    """A document that stands for itself. On the wire an optional field is left out, never null."""
    schema = _without_titles(model.model_json_schema(mode=mode, by_alias=True))
    return {"$schema": DIALECT, "$id": f"urn:larder:knowledge:v1:{name}", "title": name, **schema}


def _without_titles(value: Any) -> Any:
    """Pydantic makes titles of field names; they say nothing."""
    if isinstance(value, list):
        return [_without_titles(one) for one in value]
    if not isinstance(value, dict):
        return value
    is_properties = not isinstance(value.get("title", ""), str)
    return {name: _without_titles(one) for name, one in value.items() if name != "title" or is_properties}


def main() -> None:
    """Write every file, and take out those that are no longer made."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = files()
    for path in FOLDER.glob("*.json"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
