"""The package: what the template promises to AWS, and what is in the code archive."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from chalicelib.settings import VARIABLES
from infra.artefacts import content_digest
from infra.gateway_responses import PROBLEMS
from infra.package import ROOT, WIRED, Package, package, parameter_name

FUNCTIONS = {"APIHandler", "Tick", "Worker", "Ops"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, so that an edit during the tests changes nothing in them."""
    copy = tmp_path_factory.mktemp("source")
    shutil.copytree(ROOT / "chalicelib", copy / "chalicelib")
    shutil.copy(ROOT / "app.py", copy)
    return copy


@pytest.fixture(scope="module")
def made(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Package:
    return package(tmp_path_factory.mktemp("package"), source)


@pytest.fixture(scope="module")
def template(made: Package) -> dict[str, Any]:
    return dict(json.loads(made.template.read_text()))


def properties(template: dict[str, Any], name: str) -> dict[str, Any]:
    return dict(template["Resources"][name]["Properties"])


def of_type(template: dict[str, Any], kind: str) -> set[str]:
    return {name for name, resource in template["Resources"].items() if resource["Type"] == kind}


def test_every_function_of_the_app_is_in_the_template_and_no_other(template: dict[str, Any]) -> None:
    assert of_type(template, "AWS::Serverless::Function") == FUNCTIONS


def test_every_reference_leads_to_something_that_is_there(template: dict[str, Any]) -> None:
    there = template["Resources"].keys() | template["Parameters"].keys()
    for name in re.findall(r'"Ref": "([^"]+)"', json.dumps(template)):
        assert name in there or name.startswith("AWS::"), name
    for name in re.findall(r'"Fn::GetAtt": \["([^"]+)"', json.dumps(template)):
        assert name in there, name
    for name in re.findall(r'"(?:Condition": |Fn::If": \[)"([^"]+)"', json.dumps(template)):
        assert name in template["Conditions"], name
    for name in re.findall(r"\$\{(\w+)(?:\.\w+)?\}", json.dumps(template)):
        assert name in there | {"RestAPIId"}, name  # one that its Fn::Sub explains itself


def test_every_resource_has_a_type(template: dict[str, Any]) -> None:
    assert [name for name, resource in template["Resources"].items() if "Type" not in resource] == []


def test_each_function_has_a_role_of_its_own(template: dict[str, Any]) -> None:
    roles = {name: properties(template, name)["Role"]["Fn::GetAtt"][0] for name in FUNCTIONS}
    assert len(set(roles.values())) == len(FUNCTIONS)
    assert set(roles.values()) == of_type(template, "AWS::IAM::Role")


def statements(template: dict[str, Any], role: str) -> list[dict[str, Any]]:
    """What a role's policy says, in every condition."""
    (policy,) = properties(template, role)["Policies"]
    return [entry["Fn::If"][1] if "Fn::If" in entry else entry for entry in policy["PolicyDocument"]["Statement"]]


def test_no_policy_allows_everything(template: dict[str, Any]) -> None:
    for role in of_type(template, "AWS::IAM::Role"):
        for statement in statements(template, role):
            actions = statement["Action"]
            assert all(not action.endswith(":*") and action != "*" for action in actions), (role, statement)
            # tracing and network interfaces know no resources (AWS service authorization reference)
            if statement.get("Resource") == "*":
                assert {action.split(":")[0] for action in actions} <= {"xray", "ec2"}, (role, statement)


def test_why_a_policy_names_no_resource_is_documented(template: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    for role in of_type(template, "AWS::IAM::Role"):
        for statement in statements(template, role):
            if statement.get("Resource") == "*":
                assert f"`{statement['Sid']}`" in page, (role, statement["Sid"])


def test_a_function_writes_its_own_log_and_reads_its_own_secrets_alone(template: dict[str, Any]) -> None:
    own = {
        "ApiHandlerRole": ("APIHandler", "app", True),
        "TickRole": ("Tick", "worker", True),
        "WorkerRole": ("Worker", "worker", False),
        "OpsRole": ("Ops", "owner", True),
    }
    for role, (function, database, signs) in own.items():
        said = {statement["Sid"]: statement for statement in statements(template, role)}
        resources = {sid: one["Resource"]["Fn::Sub"] for sid, one in said.items() if "Fn::Sub" in one["Resource"]}
        assert resources["WriteItsLogs"].endswith(f":log-group:/aws/lambda/${{AWS::StackName}}-{function}-*")
        assert resources["ReadItsDatabaseSecret"].endswith(f":secret:${{AWS::StackName}}/database/{database}-*")
        assert resources["ReadItsDatabaseParameter"].endswith(f":parameter/${{AWS::StackName}}/database/{database}")
        assert ("ReadItsKeys" in said) == signs
        # Lambda makes the network interfaces; the code that runs as this role may not (Lambda Developer Guide).
        assert said["LeaveTheVpcToLambda"]["Effect"] == "Deny"
        assert said["LeaveTheVpcToLambda"]["Action"] == said["ReachTheVpc"]["Action"]


def test_traces_are_sent_only_if_asked_for(template: dict[str, Any]) -> None:
    assert template["Parameters"]["LarderTracing"]["Default"] == "false"
    for name in FUNCTIONS:
        assert properties(template, name)["Tracing"] == {"Fn::If": ["IsTraced", "Active", "PassThrough"]}
    assert properties(template, "RestAPI")["TracingEnabled"] == {"Fn::If": ["IsTraced", True, False]}
    for role in of_type(template, "AWS::IAM::Role"):
        (policy,) = properties(template, role)["Policies"]
        conditions = {
            entry["Fn::If"][1]["Sid"]: entry["Fn::If"][0]
            for entry in policy["PolicyDocument"]["Statement"]
            if "Fn::If" in entry
        }
        assert conditions == {
            "Trace": "IsTraced",
            "ReachTheVpc": "HasVpc",
            "LeaveTheVpcToLambda": "HasVpc",
            "DecryptThem": "HasSecretsKey",
        }


def test_everything_that_can_have_tags_has_them(template: dict[str, Any]) -> None:
    wanted = {"application": "larder", "stack": {"Ref": "AWS::StackName"}}
    without = {"AWS::ApiGateway::GatewayResponse", "AWS::CloudWatch::Dashboard", "AWS::Lambda::Permission"}
    without |= {"AWS::Serverless::LayerVersion"}
    for name, resource in template["Resources"].items():
        if resource["Type"] in without:
            continue
        found = resource["Properties"]["Tags"]
        tags = found if isinstance(found, dict) else {tag["Key"]: tag["Value"] for tag in found}
        assert tags.items() >= wanted.items(), name


def test_the_metrics_bear_the_name_that_alarms_and_dashboard_look_for(template: dict[str, Any]) -> None:
    stack = {"Ref": "AWS::StackName"}
    assert template["Globals"]["Function"]["Environment"]["Variables"]["LARDER_SERVICE"] == stack
    assert properties(template, "RestAPI")["DefinitionBody"]["info"]["title"] == stack
    assert properties(template, "RestAPI")["StageName"] == "api"


ARCHITECTURES = ("x86_64", "arm64")


@pytest.fixture(scope="module")
def findings(template: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What cfn-lint finds in the template for each architecture, and in one that is broken, by their names.

    One run for all: reading its schemas takes as long as linting does.
    """
    parameters, folder = template["Parameters"], tmp_path_factory.mktemp("lint")
    tick = {**template["Resources"]["Tick"], "Propertiez": {}}
    linted = {"broken": {**template, "Resources": {"Tick": tick}}}
    for architecture in ARCHITECTURES:
        wanted = {**parameters["Architecture"], "Default": architecture}
        linted[architecture] = {**template, "Parameters": {**parameters, "Architecture": wanted}}
    for name, content in linted.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    command = str(Path(sys.executable).with_name("cfn-lint"))
    files = [str(folder / f"{name}.json") for name in linted]
    run = subprocess.run(
        [command, "--non-zero-exit-code", "informational", "--format", "json", "-t", *files],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode != 0, run.stderr
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in linted}
    for one in json.loads(run.stdout):
        found[Path(one["Filename"]).stem].append(one)
    return found


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_cfn_lint_finds_nothing(findings: dict[str, list[dict[str, Any]]], architecture: str) -> None:
    assert findings[architecture] == []


def test_cfn_lint_finds_a_name_that_functions_do_not_have(findings: dict[str, list[dict[str, Any]]]) -> None:
    assert ["Resources", "Tick", "Propertiez"] in [one["Location"]["Path"] for one in findings["broken"]]


def test_each_function_gets_the_database_by_a_parameter_that_is_never_echoed(template: dict[str, Any]) -> None:
    wanted = {
        "APIHandler": "AppDatabaseUrl",
        "Tick": "WorkerDatabaseUrl",
        "Worker": "WorkerDatabaseUrl",
        "Ops": "OwnerDatabaseUrl",
    }
    for function, parameter in wanted.items():
        assert properties(template, function)["Environment"]["Variables"]["DATABASE_URL"] == {"Ref": parameter}
        assert template["Parameters"][parameter]["NoEcho"] is True
        assert "Default" not in template["Parameters"][parameter]


def test_every_documented_setting_reaches_the_functions_with_its_default_and_its_help(template: dict[str, Any]) -> None:
    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    own = [properties(template, name).get("Environment", {}).get("Variables", {}) for name in FUNCTIONS]
    for variable in VARIABLES.values():
        assert variable.name in shared or any(variable.name in variables for variables in own)
        if variable.name not in WIRED:
            parameter = template["Parameters"][parameter_name(variable.name)]
            told = {"Type": "String", "Default": variable.default or "", "Description": variable.help}
            allowed = {"AllowedValues": list(variable.choices)} if variable.choices else {}
            assert parameter == told | allowed
            assert not variable.choices or variable.default in variable.choices


def test_private_networks_are_closed_unless_asked_for(template: dict[str, Any]) -> None:
    assert template["Parameters"]["KbAllowPrivateNetworks"]["Default"] == "false"


def test_the_queue_waits_six_times_as_long_as_the_worker_may_run(template: dict[str, Any]) -> None:
    queue, worker = properties(template, "RefreshQueue"), properties(template, "Worker")
    # Lambda Developer Guide, "Using Lambda with Amazon SQS": visibility timeout at least six times the function's
    assert queue["VisibilityTimeout"] >= 6 * worker["Timeout"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 5
    event = worker["Events"]["WorkerSqsEventSource"]["Properties"]
    assert event["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert event["BatchSize"] == 1
    assert event["Queue"] == {"Fn::Sub": "${RefreshQueue.Arn}"}


def test_what_the_template_names_itself_bears_the_stacks_name(template: dict[str, Any]) -> None:
    """So that a second stage fits into the account. What has no name gets one of the stack by CloudFormation."""
    naming = {"QueueName", "DashboardName", "LayerName", "LogGroupName", "AlarmName", "RoleName", "FunctionName"}
    of_the_stack = {"Ref": "AWS::StackName"}, *({"Fn::Sub": f"/aws/lambda/${{{name}}}"} for name in FUNCTIONS)
    for resource, found in template["Resources"].items():
        if found["Type"] != "AWS::Lambda::Permission":  # which names a function, and is none
            for name in naming & found["Properties"].keys():
                told = found["Properties"][name]
                assert told in of_the_stack or told["Fn::Sub"].startswith("${AWS::StackName}-"), (resource, told)


def test_a_message_whose_worker_died_comes_again_before_its_age_is_an_alarm(template: dict[str, Any]) -> None:
    assert (
        properties(template, "OldestMessageAlarm")["Threshold"]
        > properties(template, "RefreshQueue")["VisibilityTimeout"]
    )


def test_how_many_run_at_once_is_said_by_parameters(template: dict[str, Any]) -> None:
    workers, requests = (template["Parameters"][name] for name in ("WorkerConcurrency", "ApiConcurrency"))
    # Lambda API reference, ScalingConfig
    assert (workers["Type"], workers["MinValue"], workers["MaxValue"]) == ("Number", 2, 1000)
    reserved = properties(template, "APIHandler")["ReservedConcurrentExecutions"]
    assert reserved == {"Fn::If": ["HasApiConcurrency", {"Ref": "ApiConcurrency"}, {"Ref": "AWS::NoValue"}]}
    allowed = re.compile(requests["AllowedPattern"])
    assert [text for text in ("", "1", "500", "0", "-1", "many") if allowed.search(text)] == ["", "1", "500"]


def test_the_worker_ends_before_its_lease_does(template: dict[str, Any]) -> None:
    assert properties(template, "Worker")["Timeout"] < int(VARIABLES["lease_seconds"].default or 0)


def test_the_tick_comes_every_minute_and_ends_before_the_next(template: dict[str, Any]) -> None:
    tick = properties(template, "Tick")
    assert tick["Events"]["TickEvent"]["Properties"]["Schedule"] == "rate(1 minute)"
    assert tick["Timeout"] <= 60


def test_each_function_logs_for_a_time_that_was_chosen(template: dict[str, Any]) -> None:
    groups = [properties(template, name) for name in of_type(template, "AWS::Logs::LogGroup")]
    assert {group["LogGroupName"]["Fn::Sub"] for group in groups} == {f"/aws/lambda/${{{f}}}" for f in FUNCTIONS}
    assert all(group["RetentionInDays"] == {"Ref": "LogRetentionDays"} for group in groups)


def test_the_gateways_own_answers_are_problems_in_the_api_and_once_more_for_the_emulator(
    template: dict[str, Any],
) -> None:
    in_api = properties(template, "RestAPI")["DefinitionBody"]["x-amazon-apigateway-gateway-responses"]
    emulated = [template["Resources"][name] for name in of_type(template, "AWS::ApiGateway::GatewayResponse")]
    assert all(resource["Condition"] == "IsEmulated" for resource in emulated)
    assert set(in_api) == set(PROBLEMS) == {resource["Properties"]["ResponseType"] for resource in emulated}
    for kind, response in in_api.items():
        body = json.loads(response["responseTemplates"]["application/json"])
        assert set(body) == {"type", "title", "status", "detail", "code"}
        assert str(body["status"]) == response["statusCode"] == str(PROBLEMS[kind].status)


def test_the_template_fits_what_cloudformation_reads_by_url(made: Package) -> None:
    assert made.template.stat().st_size < 1_000_000
    assert len(json.loads(made.template.read_text())["Resources"]) < 400  # SAM adds some; the limit is 500


def test_the_archive_holds_the_app_with_its_data_and_no_dependency(source: Path, made: Package) -> None:
    with zipfile.ZipFile(made.code) as archive:
        inside = set(archive.namelist())
    sources = {
        str(path.relative_to(source))
        for path in (source / "chalicelib").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    assert {"app.py", *sources} == {name for name in inside if not name.startswith("chalice/")}
    assert {name for name in inside if name.startswith("chalice/")} == {"chalice/__init__.py", "chalice/app.py"}


def test_packaging_again_gives_the_same_content(source: Path, made: Package, tmp_path: Path) -> None:
    again = package(tmp_path, source)
    assert content_digest(again.code) == content_digest(made.code)
    assert content_digest(again.template) == content_digest(made.template)


def canonical(name: str) -> str:
    """One spelling of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file: str) -> dict[str, str]:
    """Versions by canonical name. A line that is no pin fails."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]
    found = {}
    for line in lines:
        if line and not line.startswith("-r "):
            match = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?==([\w.]+)", line)
            assert match, f"{file}: {line}"
            found[canonical(match[1])] = match[2]
    return found


def imports(path: Path) -> set[str]:
    """Top-level names that a file imports, absolute imports alone."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0]
    return {name.partition(".")[0] for name in names}


def test_every_package_that_the_code_imports_is_a_pinned_requirement(source: Path) -> None:
    provided, pinned = packages_distributions(), pins("requirements.txt").keys()
    at_home = sys.stdlib_module_names | {"app", "chalicelib"}
    in_the_image = {"boto3", "botocore"}
    for path in [source / "app.py", *(source / "chalicelib").rglob("*.py")]:
        for name in imports(path) - at_home - in_the_image:
            if name.startswith("mypy_boto3_"):  # for types alone
                continue
            distributions = {canonical(found) for found in provided.get(name, [])}
            assert distributions & pinned, f"{path.relative_to(source)} imports {name}: not in requirements.txt"


def test_every_requirement_is_pinned_as_the_constraints_say() -> None:
    constraints = pins("constraints.txt")
    for file in ("requirements.txt", "requirements-dev.txt"):
        assert pins(file).items() <= constraints.items()
    assert pins("requirements-emulator.txt")["ministack"]
