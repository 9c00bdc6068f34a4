"""Tags on everything in the template that can have some, so that a bill can be told apart by stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TAGS: dict[str, Any] = {"application": "larder", "stack": {"Ref": "AWS::StackName"}}

AS_MAP = ("AWS::Serverless::Api", "AWS::Serverless::Function")
AS_LIST = ("AWS::CloudWatch::Alarm", "AWS::IAM::Role", "AWS::Logs::LogGroup", "AWS::SQS::Queue")


def write(template: Path) -> None:
    """Add them to the resources of ``template``, in place; tags that are there stay."""
    found = json.loads(template.read_text(encoding="utf-8"))
    for resource in found["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] in AS_MAP:
            properties["Tags"] = {**properties.get("Tags", {}), **TAGS}
        elif resource["Type"] in AS_LIST:
            properties["Tags"] = [*properties.get("Tags", []), *({"Key": k, "Value": v} for k, v in TAGS.items())]
    template.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
