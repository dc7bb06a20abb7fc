"""A person says that a finding is wrong, or takes that back. The word stays, with name and time."""

import uuid

from django.db import transaction

from accounts import audit
from accounts.canonical import storable
from runs.models import FindingCorrection, Run
from runs.selectors import artifacts, reviews

NOTE_LENGTH = 1000


class NoSuchFinding(LookupError):
    """The run has no such finding; nothing was changed."""


def correct_finding(
    *,
    run: Run,
    user_id: uuid.UUID,
    document: str,
    finding: str,
    wrong: bool,
    note: str = "",
    channel: str = "web",
) -> FindingCorrection:
    """Append one word on a finding; the newest counts. Owns its transaction.

    ``document`` is the SHA-256 of the file, ``finding`` the id that the review gave it. Raises
    :class:`NoSuchFinding`.
    """
    known = {
        (str(review["sha256"]), str(one.get("id")))
        for review in reviews.of_files(artifacts.of_run(run.pk))
        for one in review["findings"]
    }
    if (document, finding) not in known:
        raise NoSuchFinding(finding)
    text = str(storable(note.strip())[0])[:NOTE_LENGTH]
    with transaction.atomic(durable=True):
        said: FindingCorrection = FindingCorrection.everywhere.create(
            tenant_id=run.tenant_id,
            run=run,
            document=document,
            finding=finding,
            wrong=wrong,
            note=text,
            by_id=user_id,
        )
        audit.append(
            tenant_id=run.tenant_id,
            act="finding.marked_wrong" if wrong else "finding.mark_taken_back",
            subject=("run", run.pk.hex),
            actor=user_id,
            channel=channel,
            run_id=run.pk,
            payload={"document": document, "finding": finding, "note": text},
        )
    return said
