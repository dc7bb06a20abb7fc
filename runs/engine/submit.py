"""Submit: a task becomes a run. The same key with the same task is the same run, whatever became of it (B27)."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import jsonschema
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts import audit
from accounts.canonical import BadInput, check_storable, digest
from accounts.failpoints import fp
from accounts.ids import new_id
from outbox.append import append
from runs import tallies
from runs.agents.base import Agent
from runs.agents.registry import UnknownAgent, get
from runs.engine import ceilings
from runs.engine.workspace import NewStep, locked_one
from runs.errors import BadTask, KeyReused
from runs.models import Artifact, Run
from tools.selectors import contracts_for

FORMATS = jsonschema.FormatChecker(formats=())


@FORMATS.checks("email", raises=ValidationError)
def _is_address(value: object) -> bool:
    """As the pages check it."""
    if isinstance(value, str) and value:
        validate_email(value)
    return True


def submit(
    *,
    tenant_id: uuid.UUID,
    submitter_id: uuid.UUID,
    agent: str,
    goal: str,
    input: Mapping[str, Any],
    submit_key: str,
    uploads: Sequence[uuid.UUID] = (),
    limits: Mapping[str, Any] | None = None,
    deadline: datetime | None = None,
    channel: str = "web",
) -> tuple[Run, bool]:
    """Creates the run, its input files and its first step in one transaction; ``(run, created)``.

    ``input`` is validated against the agent's JSON Schema; the files are added to it as ``files`` (name, sha256, size,
    media_type). ``limits`` lower the agent's budget, by its names; ``deadline`` is an instant to come. Raises
    :class:`BadTask` (nothing was created) and :class:`KeyReused` (another task has that key).
    """
    chosen, files, given = _checked(tenant_id, submitter_id, agent, goal, input, submit_key, uploads)
    ceilings.check_deadline(deadline)
    budget = ceilings.budget_of(chosen.budget, limits or {})
    input_digest = digest({"agent": agent, "goal": goal, "input": given, **_bounds(limits, deadline)})
    try:
        with transaction.atomic(durable=True):
            run = _create(
                chosen,
                tenant_id,
                submitter_id,
                goal,
                given,
                input_digest,
                submit_key,
                files,
                budget,
                deadline,
            )
            audit.append(
                tenant_id=tenant_id,
                act="run.submitted",
                subject=("run", run.pk.hex),
                run_id=run.pk,
                actor=submitter_id,
                channel=channel,
                payload={
                    "agent": chosen.name,
                    "version": chosen.version,
                    "goal": goal,
                    "input_digest": input_digest,
                },
            )
            fp("run.created.before_commit")
    except IntegrityError as error:
        if "run_submit_key_once" not in str(error):
            raise
        first = _first(tenant_id, submit_key, input_digest)
        tallies.add("dedup_hits", "submit")
        return first, False
    fp("run.created.after_commit")
    return Run.everywhere.get(pk=run.pk), True


def _bounds(limits: Mapping[str, Any] | None, deadline: datetime | None) -> dict[str, Any]:
    """What else makes two tasks different: only where it was given, so that older digests stand."""
    given: dict[str, Any] = {"limits": {name: str(limits[name]) for name in limits}} if limits else {}
    return given | ({"deadline": deadline.isoformat()} if deadline else {})


def _first(tenant_id: uuid.UUID, submit_key: str, input_digest: str) -> Run:
    run: Run = Run.everywhere.get(tenant_id=tenant_id, submit_key=submit_key)
    if run.input_digest != input_digest:
        raise KeyReused(_("This key was used for another task. Nothing was created. Use a new key."))
    return run


def _checked(
    tenant_id: uuid.UUID,
    submitter_id: uuid.UUID,
    agent: str,
    goal: str,
    input: Mapping[str, Any],
    submit_key: str,
    uploads: Sequence[uuid.UUID],
) -> tuple[Agent, list[Artifact], dict[str, Any]]:
    try:
        chosen = get(agent)
    except UnknownAgent as error:
        raise BadTask(_("There is no such agent. Nothing was created."), "agent") from error
    if not goal.strip() or len(goal) > 500:
        raise BadTask(_("Give the task a title of at most 500 characters. Nothing was created."), "goal")
    if not submit_key or len(submit_key) > 120:
        raise BadTask(
            _("The key of the task must have 1 to 120 characters. Nothing was created."), "submit_key"
        )
    files = _files(tenant_id, submitter_id, uploads)
    given = dict(input)
    if "files" in given:
        # A checksum is no key: whoever may name a stored file could read another tenant's.
        raise BadTask(_("Give files as uploads of yours, not in the input. Nothing was created."), "files")
    if uploads:
        given["files"] = [
            {"name": f.name, "sha256": f.sha256, "size": f.size, "media_type": f.media_type, "uri": f.uri}
            for f in files
        ]
    try:
        check_storable({"goal": goal, "input": given})
        jsonschema.validate(
            given,
            dict(chosen.input_schema),
            cls=jsonschema.Draft202012Validator,
            format_checker=FORMATS,
        )
    except BadInput as error:
        raise BadTask(error.text, "input") from error
    except jsonschema.ValidationError as error:
        field = ".".join(str(part) for part in error.absolute_path) or "input"
        raise BadTask(
            _("%(field)s: %(why)s. Nothing was created.") % {"field": field, "why": error.message}, field
        ) from error
    if chosen.any_tool:
        _in_force(tenant_id, chosen.tools_for(given))
    return chosen, files, given


def _in_force(tenant_id: uuid.UUID, tools: Sequence[str]) -> None:
    known = contracts_for({(tenant_id, tool) for tool in tools})
    for tool in tools:
        if (tenant_id, tool) not in known:
            raise BadTask(
                _("No contract of the tool %(tool)s is in force. Nothing was created.") % {"tool": tool},
                "steps",
            )


def _files(tenant_id: uuid.UUID, submitter_id: uuid.UUID, uploads: Sequence[uuid.UUID]) -> list[Artifact]:
    found = {
        file.pk: file
        for file in Artifact.everywhere.filter(
            pk__in=uploads,
            tenant_id=tenant_id,
            created_by_id=submitter_id,
            kind="upload",
            removed_at__isnull=True,
        )
    }
    if len(found) != len(set(uploads)):
        raise BadTask(
            _("One of the files is no longer there. Nothing was created. Upload it again."), "files"
        )
    return [found[pk] for pk in uploads]


def _create(
    agent: Agent,
    tenant_id: uuid.UUID,
    submitter_id: uuid.UUID,
    goal: str,
    given: dict[str, Any],
    input_digest: str,
    submit_key: str,
    files: Sequence[Artifact],
    budget: dict[str, Any],
    deadline: datetime | None,
) -> Run:
    pinned = contracts_for({(tenant_id, tool) for tool in agent.tools_for(given)})
    run_id = new_id()
    run: Run = Run.everywhere.create(
        id=run_id,
        tenant_id=tenant_id,
        agent=agent.name,
        agent_version=agent.version,
        agent_digest=type(agent).digest(),
        submitter_id=submitter_id,
        goal=goal,
        input=given,
        input_digest=input_digest,
        submit_key=submit_key,
        contracts={tool: contract.pk.hex for (_tenant, tool), contract in pinned.items()},
        budget=budget,
        lineage=run_id,
        deadline=deadline,
    )
    Artifact.everywhere.bulk_create(
        Artifact(
            tenant_id=tenant_id,
            run=run,
            kind="input",
            name=file.name,
            sha256=file.sha256,
            size=file.size,
            media_type=file.media_type,
            uri=file.uri,
            metadata=file.metadata,
            created_by_id=submitter_id,
        )
        for file in files
    )
    workspace, locked = locked_one(run_id)
    if locked is None:
        raise RuntimeError("the run that was just made is not there")
    locked.event(
        "run.submitted",
        actor=f"user:{submitter_id.hex}",
        input_digest=input_digest,
        artifacts=[file.sha256 for file in files],
        payload={"agent": agent.name, "version": agent.version},
    )
    first = NewStep(new_id(), "plan/1", "plan", timeout=settings.COUNTERSIGN.plan_seconds)
    locked.steps.append(first)
    workspace.insert_steps()
    workspace.write()
    append(topic="run.submitted", key=run_id.hex, tenant_id=tenant_id, payload={"run_id": run_id.hex})
    wake = {"run_id": run_id.hex, "step_id": first.id.hex, "attempt": 0}
    append(topic="step.ready", tenant_id=tenant_id, payload=wake)
    return run
