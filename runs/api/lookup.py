"""Rows behind what a client sent, and the errors of the workshop as problems."""

import uuid
from collections.abc import Sequence

from accounts.ids import BadId, parse
from accounts.rest.problems import Problem, register
from runs import errors, uploads
from runs.agents.base import Agent
from runs.agents.registry import UnknownAgent, get
from runs.selectors.filters import is_drill
from runs.views import files

register(
    {
        errors.NotFound: 404,
        errors.AlreadyEnded: 409,
        errors.KeyReused: 422,
        errors.BadTask: 422,
        files.Damaged: 410,
        files.Away: 503,
    }
)


def upload_ids(texts: Sequence[str]) -> list[uuid.UUID]:
    """Ids of uploads; a malformed one is a 422 that names it."""
    try:
        return [parse("artifact", text) for text in texts]
    except BadId as error:
        raise Problem(422, "unknown_file", f"{error}. Nothing was done.") from error


def agent_named(name: str) -> Agent:
    """An agent that people may use."""
    try:
        agent = get(name)
    except UnknownAgent as error:
        raise Problem(422, "unknown_agent", f"{error} Nothing was done.") from error
    if is_drill(agent.name):
        raise Problem(422, "unknown_agent", "That agent is for benches and drills. Nothing was done.")
    return agent


def refused_upload(refused: uploads.Refused) -> Problem:
    """A file that was not kept."""
    return Problem(refused.status, refused.code, refused.text)
