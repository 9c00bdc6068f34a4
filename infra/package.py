"""Makes what is deployed: one template and one code archive, the same for AWS and for the local cloud.

Chalice turns the decorators of app.py into a SAM template; everything that a decorator can't say is merged into it
here. What differs between targets is a parameter of the template, never the template.

    python -m infra.package [FOLDER]
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalicelib.settings import VARIABLES, Variable
from infra import alarms, dashboard, gateway_responses, tags

ROOT = Path(__file__).resolve().parent.parent
INFRA = Path(__file__).resolve().parent

WIRED = {"DATABASE_URL", "LARDER_QUEUE_URL", "LARDER_MODEL_DIR", "LARDER_SERVICE"}
"""Environment variables that the template itself fills in, a function at a time."""


SETTINGS = {variable.name: variable for variable in VARIABLES.values() if variable.name not in WIRED}
"""Every other documented one: the template has a parameter for each."""


_CHALICE = "import sys; from chalice.cli import main; sys.dont_write_bytecode = True; main()"
"""Chalice's own byte code is kept, since nobody else would; the app's would end up in the archive."""


class PackageError(Exception):
    """Chalice could not package the app; the message is what it printed."""


@dataclass(frozen=True, slots=True)
class Package:
    """The two files that a deployment needs beside the dependencies' layer."""

    template: Path
    code: Path


def package(out: Path, app: Path = ROOT) -> Package:
    """Package the Chalice project in the folder ``app`` into ``out``. Raises PackageError.

    The layer brings the dependencies, so Chalice sees an empty requirements.txt: its own packager would build them
    one by one, and can't for some.
    """
    with tempfile.TemporaryDirectory(prefix="larder-package-") as scratch:
        stage = _stage(app, Path(scratch))
        merge = Path(scratch) / "merge.json"
        merge.write_text(json.dumps(_merge_template()), encoding="utf-8")
        command = [sys.executable, "-c", _CHALICE, "package", "--stage", "package"]
        run = subprocess.run(
            [*command, "--merge-template", str(merge), str(out)],
            cwd=stage,
            env={**os.environ, "AWS_DEFAULT_REGION": "us-east-1"},
            capture_output=True,
            text=True,
            check=False,
        )
    if run.returncode:
        raise PackageError(run.stdout + run.stderr)
    tags.write(out / "sam.json")
    return Package(out / "sam.json", out / "deployment.zip")


def parameter_name(variable: str) -> str:
    """The template's parameter for an environment variable: KB_ALLOWED_PORTS is KbAllowedPorts."""
    return "".join(word.capitalize() for word in variable.split("_"))


def settings_parameters() -> dict[str, Any]:
    """The part of the template that hands every documented setting to every function."""
    return {
        "Parameters": {parameter_name(variable.name): _parameter(variable) for variable in SETTINGS.values()},
        "Globals": {
            "Function": {"Environment": {"Variables": {name: {"Ref": parameter_name(name)} for name in SETTINGS}}}
        },
    }


def _parameter(variable: Variable) -> dict[str, Any]:
    allowed = {"AllowedValues": list(variable.choices)} if variable.choices else {}
    return {"Type": "String", "Default": variable.default or "", "Description": variable.help, **allowed}


def _stage(app: Path, scratch: Path) -> Path:
    stage = scratch / "stage"
    leave_out = shutil.ignore_patterns("__pycache__", "*.pyc", "deployments", ".*.swp")
    shutil.copytree(app / "chalicelib", stage / "chalicelib", ignore=leave_out)
    shutil.copytree(ROOT / ".chalice", stage / ".chalice", ignore=leave_out)
    shutil.copy(app / "app.py", stage)
    (stage / "requirements.txt").touch()
    for policy in INFRA.glob("policy-*.json"):
        shutil.copy(policy, stage / ".chalice")
    return stage


def _merge_template() -> dict[str, Any]:
    """Every *.merge.json of this folder, and what is made from tables.

    A number that the emulator reads stands in these files as it is, where AWS gets a parameter: the emulator hands a
    parameter's text on as text, and its queue poller then fails on MaximumConcurrency.
    """
    written = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(INFRA.glob("*.merge.json"))]
    made = [gateway_responses.template(), alarms.template(), dashboard.template()]
    parts = [*written, settings_parameters(), *made, _artefacts()]
    merged: dict[str, Any] = functools.reduce(_deep_merge, parts)
    return merged


def _deep_merge(below: Any, above: Any) -> Any:
    """As Chalice merges: objects key by key, anything else is replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return below | {key: _deep_merge(below.get(key), value) for key, value in above.items()}


def _artefacts() -> dict[str, Any]:
    """Each function's code, interpreter, processor and tracing as parameters: Chalice writes fixed ones."""
    function = {
        "Properties": {
            "CodeUri": {"Bucket": {"Ref": "ArtefactBucket"}, "Key": {"Ref": "CodeKey"}},
            "Runtime": {"Ref": "PythonRuntime"},
            "Architectures": [{"Ref": "Architecture"}],
            "Tracing": {"Fn::If": ["IsTraced", "Active", "PassThrough"]},
        }
    }
    return {"Resources": dict.fromkeys(alarms.FUNCTIONS, function)}


if __name__ == "__main__":
    made = package(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve())
    print(made.template, made.code, sep="\n")
