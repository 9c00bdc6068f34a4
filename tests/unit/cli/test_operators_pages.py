"""Every command, setting, metric, parameter, link and test that the operator's pages name is there."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import click
import pytest
from botocore import xform_name
from botocore.model import ServiceModel

from bench import night
from chalicelib import metrics
from chalicelib.cli.main import larder
from chalicelib.domain.outcome import Outcome
from chalicelib.services import doctor_memory, doctor_platform, doctor_providers
from chalicelib.settings import VARIABLES
from infra import alarms
from infra.package import parameter_name, settings_parameters

ROOT = Path(__file__).resolve().parents[3]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in (
    "deploy", "aurora", "operate", "scaling", "threat-model"
)}  # fmt: skip
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TEMPLATE = json.loads((ROOT / "infra" / "template.merge.json").read_text(encoding="utf-8"))
OF_THE_COMMAND = {"LARDER_URL", "LARDER_TOKEN", "LARDER_ADMIN_TOKEN", "LARDER_OPS_FUNCTION"}
OF_AWS = {
    "ClientConnections", "DatabaseConnections", "DatabaseConnectionsCurrentlySessionPinned",  # RDS Proxy's metrics
    "SecureString", "Trace", "GET", "POST", "DELETE",
}  # fmt: skip


def commands(page: str) -> list[str]:
    blocks = re.findall(r"^ *```(?:sh|text)\n(.*?)```", PAGES[page], re.DOTALL | re.MULTILINE)
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", PAGES[page], flags=re.DOTALL | re.MULTILINE))
    known = ("./larder ", "make ", "aws ", ".venv/bin/python ")
    return [line for line in [*lines, *inline] if line.startswith(known)]


def starting(start: str) -> list[str]:
    return sorted({line for page in PAGES for line in commands(page) if line.startswith(start)})


@pytest.mark.parametrize("line", [line for line in starting("./larder ") if "COMMAND" not in line])
def test_a_command_can_be_called_so(line: str) -> None:
    words = shlex.split(line.replace(" ID", " 00000000-0000-0000-0000-000000000000"))[1:]
    command: click.Command | None = larder
    context = click.Context(larder, info_name="larder")
    while isinstance(command, click.Group):
        if words[:1] == ["--cloud"]:
            words = words[2:]
        if not words or (words[0].startswith("-") and command.invoke_without_command):
            break
        name, command, words = command.resolve_command(context, words)
        assert command is not None
        context = click.Context(command, info_name=name, parent=context)
    assert command is not None
    with suppress(click.exceptions.Exit, click.exceptions.NoArgsIsHelpError):  # --help, and a group by its name
        command.parse_args(context, words)


@pytest.mark.parametrize("line", starting("make "))
def test_a_target_is_in_the_makefile_and_reads_its_variables(line: str) -> None:
    target, *variables = shlex.split(line)[1:]
    rule = re.search(rf"^{target}:([^\n]*)\n.*?(?=^\S|\Z)", MAKEFILE, re.MULTILINE | re.DOTALL)
    assert rule, target
    before = [re.search(rf"^{name}:.*?(?=^\S|\Z)", MAKEFILE, re.MULTILINE | re.DOTALL) for name in rule[1].split()]
    text = "\n".join(found[0] for found in (rule, *before) if found)
    for variable in variables:
        name, equals, _ = variable.partition("=")
        assert equals, line
        assert f"$({name})" in text or f"$(if $({name})" in text, f"make {target} does not read {name}"


@pytest.mark.parametrize("line", starting(".venv/bin/python "))
def test_a_module_can_be_run_with_these_options(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, dash, module, *options = shlex.split(line)
    assert dash == "-m"
    assert (ROOT / module.replace(".", "/")).with_suffix(".py").exists() or (ROOT / module.replace(".", "/")).is_dir()
    with suppress(ModuleNotFoundError):
        module = importlib.import_module(f"{module}.__main__").__name__
    found: Any = importlib.import_module(module)
    monkeypatch.setattr("sys.argv", [module, "--help"])
    with pytest.raises(SystemExit) as left:
        found.main()
    assert left.value.code == 0
    told = capsys.readouterr().out
    for option in options:
        assert not option.startswith("--") or option in told, option


@cache
def described(service: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(service)


@pytest.mark.parametrize("line", [line for line in starting("aws ") if not line.startswith("aws s3 ")])
def test_a_command_of_aws_is_one_by_awss_own_description(line: str) -> None:
    _, service, operation, *options = shlex.split(line)
    model = described(service)
    named = {xform_name(name, "-"): name for name in model.operation_names}
    assert operation in named
    shape = model.operation_model(named[operation]).input_shape
    members = {xform_name(name, "-"): member for name, member in (shape.members if shape else {}).items()}
    given = [option.removeprefix("--") for option in options if option.startswith("--")]
    unknown = {name for name in given if name not in members} - {"query", "region"}
    assert unknown == set()
    assert {xform_name(name, "-") for name in (shape.required_members if shape else [])} <= set(given)


@pytest.mark.parametrize("page", PAGES)
def test_every_setting_is_one(page: str) -> None:
    named = set(re.findall(r"`((?:LARDER|KB|ENABLE)_[A-Z_]+)(?:=[^`]*)?`", PAGES[page]))
    assert named <= {variable.name for variable in VARIABLES.values()} | OF_THE_COMMAND


@pytest.mark.parametrize("page", PAGES)
def test_every_name_in_capitals_is_a_metric_an_alarm_a_parameter_or_an_output(page: str) -> None:
    known = {metric.name for metric in metrics.CATALOGUE} | alarms.ALARMS.keys() | TEMPLATE["Outputs"].keys() | OF_AWS
    known |= TEMPLATE["Parameters"].keys() | settings_parameters()["Parameters"].keys()
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", PAGES[page]))
    assert named <= known, named - known


def test_every_parameter_that_is_no_setting_is_in_the_table() -> None:
    filled_in = {"ArtefactBucket", "CodeKey", "LayerKey", "Emulated"}
    table = PAGES["deploy"].partition("| Parameter |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([A-Z][A-Za-z]+)`", table)) - {"DISABLED", "ENABLED"} == (
        TEMPLATE["Parameters"].keys() - filled_in
    )


def test_the_examples_of_parameters_are_some() -> None:
    blocks = re.findall(r"```json\n(.*?)```", PAGES["deploy"], re.DOTALL)
    examples = [json.loads(block) for block in blocks]
    examples += [json.loads(found) for found in re.findall(r"`(\{\"[^`]+\})`", PAGES["operate"])]
    known = TEMPLATE["Parameters"].keys() | settings_parameters()["Parameters"].keys()
    assert len(examples) == 4
    for example in examples:
        assert example.keys() <= known
        assert all(isinstance(value, str) for value in example.values())


def test_every_check_of_the_doctor_is_explained_in_its_order() -> None:
    table = PAGES["operate"].partition("| Check |")[2].partition("\n\n")[0]
    looked_at = [name for name, _ in (*doctor_platform.CHECKS, *doctor_memory.CHECKS, *doctor_providers.CHECKS)]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == looked_at


def test_every_status_that_something_can_be_done_about_is_one() -> None:
    table = PAGES["operate"].partition("| Status |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(\w+)`", row)} <= set(Outcome)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    for target, _, anchor in re.findall(r"\]\(([^)#]*)(#?)([^)]*)\)", PAGES[page]):
        file = (ROOT / "docs" / target).resolve() if target else ROOT / "docs" / f"{page}.md"
        assert file.exists(), target
        headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in slugs, f"{target}#{anchor}"


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(tests/[^`]+)`", PAGES["threat-model"]))))
def test_every_test_of_the_threat_model_is_there(named: str) -> None:
    file, _, test = named.partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"def {test}(" in text if test else "def test_" in text


def test_the_defaults_that_scaling_turns_are_those_of_the_settings() -> None:
    for name, field in (("LARDER_DISPATCH_IN_FLIGHT", "in_flight"), ("LARDER_DISPATCH_PER_TENANT", "per_tenant")):
        [variable] = [one for one in VARIABLES.values() if one.name == name]
        assert int(variable.default or "") == getattr(night.Wish(), field)
        assert parameter_name(name) in settings_parameters()["Parameters"]
    workers = TEMPLATE["Resources"]["Worker"]["Properties"]["Events"]["WorkerSqsEventSource"]["Properties"]
    by_default = TEMPLATE["Parameters"]["WorkerConcurrency"]["Default"]
    assert by_default == night.Wish().workers
    emulated = {"Fn::If": ["IsEmulated", by_default, {"Ref": "WorkerConcurrency"}]}
    assert workers["ScalingConfig"] == {"MaximumConcurrency": emulated}
