"""Keeps the files that people give as evidence, among the files of the task that they are about."""

import uuid
from collections.abc import Mapping
from typing import IO, Any

from approvals.evidence import NotKept
from runs import uploads
from runs.documents.identify import READABLE
from runs.models import Artifact

#: What shows that something happened: documents, and pictures of a screen.
ACCEPTED = (*READABLE, "image")


def keep(
    *, tenant_id: uuid.UUID, run_id: uuid.UUID, user_id: uuid.UUID, name: str, stream: IO[bytes]
) -> Mapping[str, Any]:
    """Owns its transaction. Raises :class:`approvals.evidence.NotKept`."""
    try:
        kept = uploads.keep(
            tenant_id=tenant_id,
            user_id=user_id,
            name=name,
            stream=stream,
            accepts=ACCEPTED,
            kind=Artifact.Kind.EVIDENCE,
            run_id=run_id,
        )
    except uploads.Refused as refused:
        raise NotKept(refused.text) from refused
    return {"name": kept.name, "sha256": kept.sha256, "size": kept.size}
