"""Rows behind the ids of an address, or 404."""

import uuid

from django.http import Http404

from runs.models import Artifact, Run
from runs.selectors import artifacts, runs


def run_or_404(run_id: uuid.UUID) -> Run:
    """A run of the current tenant."""
    try:
        return runs.get(run_id)
    except Run.DoesNotExist:
        raise Http404 from None


def file_or_404(artifact_id: uuid.UUID, run_id: uuid.UUID) -> Artifact:
    """A file of a run of the current tenant."""
    try:
        return artifacts.get(artifact_id, run_id=run_id)
    except Artifact.DoesNotExist:
        raise Http404 from None
