"""The deployed system as a whole: what answers at the edge, what calls what, and what each function may do."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
import requests

from infra.alarms import ALARMS
from infra.gateway_responses import PROBLEMS
from tests import emf
from tests.e2e.cloud import PrivateCloud, until
from tests.e2e.site import Page, Site

QUEUE = "arn:aws:sqs:us-east-1:000000000000:larder-local-refresh"
ALLOWED = {
    "APIHandler": set(),
    "Tick": {"sqs:SendMessage", "sqs:SendMessageBatch", "sqs:GetQueueAttributes"},
    "Worker": {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"},
    "Ops": {"sqs:GetQueueAttributes"},
}


def test_the_api_answers_through_the_gateway(cloud: PrivateCloud) -> None:
    answer = requests.get(f"{cloud.url}/healthz", timeout=60)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


def test_it_is_ready_once_the_schedule_has_ticked(cloud: PrivateCloud) -> None:
    assert requests.get(f"{cloud.url}/livez", timeout=60).status_code == 200
    before = requests.get(f"{cloud.url}/readyz", timeout=60)
    assert (before.status_code, before.json()["code"]) == (503, "not_ready")
    cloud.tick()
    after = requests.get(f"{cloud.url}/readyz", timeout=60)
    assert (after.status_code, {check["status"] for check in after.json()["checks"]}) == (200, {"ok"})


@pytest.mark.parametrize(("method", "path"), [("GET", "/no/such/path"), ("DELETE", "/healthz"), ("GET", "/")])
def test_the_gateway_answers_an_unknown_route_as_problem_json(cloud: PrivateCloud, method: str, path: str) -> None:
    answer = requests.request(method, cloud.url + path, timeout=60)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert set(answer.json()) == {"type", "title", "status", "detail", "code"}
    assert (answer.json()["status"], answer.json()["code"]) == (404, "not_found")


def test_every_kind_of_gateway_answer_is_deployed_as_problem_json(cloud: PrivateCloud) -> None:
    deployed = cloud.client("apigateway").get_gateway_responses(restApiId=cloud.outputs["RestAPIId"], limit=500)
    found = {response["responseType"]: response for response in deployed["items"]}
    for kind, problem in PROBLEMS.items():
        assert found[kind]["statusCode"] == str(problem.status)
        assert f'"code": "{problem.code}"' in found[kind]["responseTemplates"]["application/json"]


def test_a_page_travels_from_source_through_tick_queue_and_worker_into_search(cloud: PrivateCloud, site: Site) -> None:
    page = site.publish("/handbook", "The shelf for preserves is emptied every spring.\n\nJars are labelled by hand.")
    tenant = cloud.tenant()
    cloud.learn(tenant, page)
    hits = tenant.post("/v1/kb/search", {"query": "when is the shelf for preserves emptied"}).json()
    assert "emptied every spring" in hits["hits"][0]["text"]
    assert hits["degraded"] is None
    assert [path for path, _ in site.requests] == ["/handbook"]


def test_a_stale_page_is_suggested_approved_and_tried_again_until_its_server_answers(
    cloud: PrivateCloud, site: Site
) -> None:
    tenant = cloud.tenant()
    assert tenant.post("/v1/kb/settings", {"night_start": "00:00", "night_end": "00:00"}).ok
    page = site.publish("/damsons", "Damsons are picked after the first frost.")
    page_is = site.pages["/damsons"]
    site.pages["/damsons"] = Page("try later", 503)
    source = f"/v1/kb/sources/{tenant.post('/v1/kb/sources', {'uri': page}).json()['id']}"
    (suggestion,) = tenant.get("/v1/kb/suggestions").json()["items"]
    approved = tenant.post(f"/v1/kb/suggestions/{suggestion['id']}/approve")
    assert approved.status_code == 202, approved.text
    make_all_due(cloud)
    assert cloud.tick()["dispatched"] == 1
    until(lambda: tenant.get(source).json()["last_status"] == "http_5xx", what="a failure")
    (event,) = tenant.get("/v1/kb/events").json()["items"]
    assert (event["state"], event["attempts"]) == ("pending", 1)
    assert cloud.tick()["dispatched"] == 0, "it waits before it is tried again"

    site.pages["/damsons"] = page_is
    make_all_due(cloud)
    assert cloud.tick()["dispatched"] == 1
    until(lambda: tenant.get(source).json()["current_version"], what="a version")
    found = tenant.post("/v1/kb/search", {"query": "when are damsons picked"}).json()["hits"]
    assert "after the first frost" in found[0]["text"]
    assert [path for path, _ in site.requests] == ["/damsons", "/damsons"]


def make_all_due(cloud: PrivateCloud) -> None:
    """Let the time come at which every waiting event is available."""
    with cloud.connect("postgres") as connection:
        connection.execute("update kb_events set available_at = now() - interval '1 second' where state = 'pending'")


def test_one_request_is_followed_by_its_id_to_the_worker_and_into_the_record(cloud: PrivateCloud, site: Site) -> None:
    tenant = cloud.tenant()
    source = tenant.post("/v1/kb/sources", {"uri": site.publish("/quinces", "Quinces keep until spring.")}).json()
    asked = tenant.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
    cloud.tick()
    until(lambda: tenant.get(f"/v1/kb/sources/{source['id']}").json()["current_version"], what="a version")
    correlation_id = asked.headers["X-Correlation-Id"]
    for function, message in (("APIHandler", "served"), ("Worker", "refreshed")):
        lines = cloud.hear(function, partial(logged, correlation_id))
        assert [line["message"] for line in lines] == [message]
    found = tenant.post("/v1/kb/search", {"query": "how long do quinces keep"})
    record = tenant.get("/v1/memory/firewall/evaluations").json()["items"]
    assert {one["trace_id"] for one in record} == {found.headers["X-Correlation-Id"]}


def logged(correlation_id: str, log: str) -> list[dict[str, Any]]:
    """Lines of a log that bear the id."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith('{"level"')]
    return [line for line in lines if line.get("correlation_id") == correlation_id]


def test_metrics_go_out_under_the_stacks_name(cloud: PrivateCloud, site: Site) -> None:
    cloud.learn(cloud.tenant(), site.publish("/medlars", "Medlars are eaten when they are soft."))
    worker = cloud.hear("Worker", lambda log: [point for point in emf.read(log) if point.name == "FetchTime"])
    ticked = cloud.hear("Tick", lambda log: [point for point in emf.read(log) if point.name == "EventsDispatched"])
    for point in (*worker, *ticked):
        assert (point.namespace, point.dimensions) == ("Larder", {("service", "larder-local")})
    assert sum(point.value for point in ticked) >= 1


def test_alarms_watch_what_is_there_and_the_dashboard_shows_it(cloud: PrivateCloud) -> None:
    watching = cloud.client("cloudwatch")
    alarms = {alarm["AlarmArn"]: alarm for alarm in watching.describe_alarms(MaxRecords=100)["MetricAlarms"]}
    assert len(alarms) == len(ALARMS)
    there = {cloud.outputs[f"{function}Name"] for function in ALLOWED}
    there |= {cloud.outputs[f"{queue}Url"].rpartition("/")[2] for queue in ("RefreshQueue", "RefreshDeadLetters")}
    (api,) = cloud.client("apigateway").get_rest_apis()["items"]
    there |= {"larder-local", api["name"], cloud.outputs["APIStage"]}
    for alarm in alarms.values():
        assert {dimension["Value"] for dimension in alarm["Dimensions"]} <= there, alarm["AlarmName"]
    body = watching.get_dashboard(DashboardName="larder-local")["DashboardBody"]
    assert "${" not in body
    widgets = json.loads(body)["widgets"]
    assert set(widgets[0]["properties"]["alarms"]) == set(alarms)


def test_as_many_workers_run_at_once_as_aws_starts_with(cloud: PrivateCloud) -> None:
    (mapping,) = cloud.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 5}


def test_a_message_that_is_no_event_fails_alone_and_stays_for_redelivery(cloud: PrivateCloud) -> None:
    cloud.cloud.account.sqs().send_message(QueueUrl=cloud.outputs["RefreshQueueUrl"], MessageBody="no event id")
    until(lambda: "a message failed" in cloud.log("Worker"), what="the worker's log")
    assert cloud.queued() == 1


def test_a_message_that_failed_five_times_is_kept_as_a_dead_letter(cloud: PrivateCloud) -> None:
    queue = cloud.outputs["RefreshQueueUrl"]
    sqs = cloud.cloud.account.sqs()
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "0"})
    try:
        sqs.send_message(QueueUrl=queue, MessageBody="no event id either")
        until(lambda: cloud.queued("RefreshDeadLetters"), what="a dead letter")
    finally:
        sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "2520"})
    assert (cloud.queued(), cloud.queued("RefreshDeadLetters")) == (0, 1)


@pytest.mark.parametrize("function", list(ALLOWED))
def test_a_function_may_do_what_it_needs_and_nothing_more(cloud: PrivateCloud, function: str) -> None:
    role = cloud.client("lambda").get_function_configuration(FunctionName=cloud.outputs[f"{function}Name"])["Role"]
    actions = sorted(set().union(*ALLOWED.values()) | {"sqs:PurgeQueue", "sqs:DeleteQueue"})
    assert allowed(cloud, role, QUEUE, *actions) == ALLOWED[function]


@pytest.mark.parametrize("function", list(ALLOWED))
def test_a_function_reads_its_own_stacks_keys_if_it_signs_its_own_database_and_no_other_secret(
    cloud: PrivateCloud, function: str
) -> None:
    role = cloud.client("lambda").get_function_configuration(FunctionName=cloud.outputs[f"{function}Name"])["Role"]
    actions = ("secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue")
    secrets = "arn:aws:secretsmanager:us-east-1:000000000000:secret:"
    signs = function != "Worker"
    assert allowed(cloud, role, f"{secrets}larder-local/keys-AbCdEf", *actions) == ({actions[0]} if signs else set())
    for database in ("app", "worker", "owner"):
        own = database == {"APIHandler": "app", "Ops": "owner"}.get(function, "worker")
        url = f"{secrets}larder-local/database/{database}-AbCdEf"
        assert allowed(cloud, role, url, *actions) == ({actions[0]} if own else set())
        parameter = f"arn:aws:ssm:us-east-1:000000000000:parameter/larder-local/database/{database}"
        assert allowed(cloud, role, parameter, "ssm:GetParameter") == ({"ssm:GetParameter"} if own else set())
    assert allowed(cloud, role, f"{secrets}larder-prod/keys-AbCdEf", *actions) == set()


def allowed(cloud: PrivateCloud, role: str, resource: str, *actions: str) -> set[str]:
    """Those of ``actions`` on ``resource`` that the policies of ``role`` allow."""
    decisions = cloud.client("iam").simulate_principal_policy(
        PolicySourceArn=role, ActionNames=list(actions), ResourceArns=[resource]
    )["EvaluationResults"]
    return {d["EvalActionName"] for d in decisions if d["EvalDecision"] == "allowed"}


def test_each_function_reaches_the_database_with_its_own_role_alone(cloud: PrivateCloud) -> None:
    functions = cloud.client("lambda")
    roles = {
        name: functions.get_function_configuration(FunctionName=cloud.outputs[f"{name}Name"])["Environment"][
            "Variables"
        ]["DATABASE_URL"].split("@")[0]
        for name in ALLOWED
    }
    assert roles == {
        "APIHandler": "postgresql://larder_app",
        "Tick": "postgresql://larder_worker",
        "Worker": "postgresql://larder_worker",
        "Ops": "postgresql://larder_owner",
    }


def test_logs_are_kept_for_a_time_that_was_chosen(cloud: PrivateCloud) -> None:
    groups = cloud.client("logs").describe_log_groups(logGroupNamePrefix="/aws/lambda/larder-local-")["logGroups"]
    assert len(groups) == 4
    assert {group.get("retentionInDays") for group in groups} == {30}
