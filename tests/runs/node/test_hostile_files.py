"""A file that was made to keep its reader busy for ever."""

from __future__ import annotations

import io

import pytest

from runs import uploads
from runs.engine.submit import submit
from runs.models import Run, Step
from tests.make.runs import CONTRACT
from tests.runs.documents.make import endless_pdf
from tests.runs.node import real

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]


@pytest.fixture
def little_time(settings) -> None:
    """Before the contracts are published, which hold the limit."""
    settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update={"parse_seconds": 12.0})


def test_b83_a_pdf_that_loops_is_killed_and_the_rest_is_read(little_time, start, who):
    """Guards runs/node/pump.py `_scan`: a child that reads longer than its contract allows is killed; its step fails with
    the reason, the other document is read, and the node goes on."""
    node = start()
    files = {"loop.pdf": endless_pdf(), "halden.txt": CONTRACT.encode()}
    kept = [
        uploads.keep(tenant_id=who[0].pk, user_id=who[1].pk, name=name, stream=io.BytesIO(data))
        for name, data in files.items()
    ]
    run, _ = submit(
        tenant_id=who[0].pk,
        submitter_id=who[1].pk,
        agent="contract-review",
        goal="Review two files",
        input={},
        submit_key="two",
        uploads=[file.pk for file in kept],
    )
    real.until(
        lambda: Run.everywhere.get(pk=run.pk).status in ("SUCCEEDED", "FAILED", "WAITING_APPROVAL"),
        seconds=200,
        what="the run comes to its end",
    )
    reads = Step.everywhere.filter(run=run, tool="contracts.review").order_by("seq")
    assert sorted((step.status, step.error_code) for step in reads) == [
        ("FAILED", "timeout"),
        ("SUCCEEDED", ""),
    ]
    assert reads.get(status="FAILED").error_text == "It took longer than 12 s and was ended."
    assert Run.everywhere.get(pk=run.pk).status == "SUCCEEDED"
    assert node.process.poll() is None
    more = real.run_of(who, tool="drill.noop")
    real.ended(more)
    assert real.status(more) == "SUCCEEDED"
