"""What ``make package`` builds, deployed: the layer with every dependency and the model, and no virtual environment."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from infra import build_layer
from tests.e2e.cloud import packaged, private_cloud
from tests.e2e.site import Site

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
"""The emulator runs functions with its own Python, which is this one: the layer is built for it."""


def test_the_worker_embeds_with_what_the_built_layer_brings(tmp_path: Path, site: Site) -> None:
    layer = build_layer.build(tmp_path / "build", version=HERE, made=packaged())
    settings = {"KB_ALLOW_PRIVATE_NETWORKS": "true", "KB_ALLOWED_PORTS": str(site.port)}
    model = unpack_model(layer, tmp_path)
    with private_cloud(tmp_path, settings=settings, tick=False, layer=layer, model=model) as cloud:
        tenant = cloud.tenant()
        cloud.learn(tenant, site.publish("/", "Gooseberries are topped and tailed.\n\nCurrants are stripped."))
        (hit, *_) = tenant.post("/v1/kb/search", {"query": "how are gooseberries made ready", "mode": "vector"}).json()[
            "hits"
        ]
        assert "topped and tailed" in hit["text"]
        with cloud.connect("postgres") as connection:
            ((vectors,),) = connection.execute("select count(embedding) from kb_chunks").fetchall()
        assert vectors == 1


def unpack_model(layer: Path, folder: Path) -> Path:
    """The layer's own model. AWS unpacks a layer below /opt, the emulator into a folder that nobody knows before."""
    with zipfile.ZipFile(layer) as archive:
        for name in archive.namelist():
            if name.startswith("model/"):
                archive.extract(name, folder)
    return folder / "model"
