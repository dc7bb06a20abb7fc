"""The form of a new task, made from the agent's JSON Schema into plain Django fields.

The schema stays the judge: each field checks its own type, and the whole input is validated once more
against the schema before anything is created. ``files`` is no field: the files come from the drop zone and
are added by submit.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.canonical import BadInput, check_storable
from accounts.ids import BadId, parse
from accounts.schema_fields import field_of, words
from runs.agents.base import Agent
from runs.call_fields import CallsField, Choice
from runs.limit_fields import limit_fields, limits_of
from runs.samples import SAMPLES

FILES = "files"
PREFIX = "in_"


class TaskForm(forms.Form):
    """Goal, key and the fields of one agent."""

    agent = forms.CharField(widget=forms.HiddenInput)
    submit_key = forms.UUIDField(widget=forms.HiddenInput)
    goal = forms.CharField(
        label=gettext_lazy("Goal"),
        max_length=500,
        strip=True,
        help_text=gettext_lazy("What the task is called, in your words."),
        error_messages={
            "required": gettext_lazy("Give the task a goal, so that everybody knows what it is for.")
        },
    )

    def __init__(
        self, agent_: Agent, *args: Any, most_files: int, tools: Sequence[Choice] = (), **kwargs: Any
    ) -> None:
        """``tools``: what an agent that is told its calls may be told."""
        super().__init__(*args, **kwargs)
        self.of, self.most_files = agent_, most_files
        self.properties: dict[str, Mapping[str, Any]] = {
            name: schema
            for name, schema in dict(agent_.input_schema.get("properties") or {}).items()
            if name != FILES
        }
        required = set(agent_.input_schema.get("required") or ())
        for name, schema in self.properties.items():
            self.fields[PREFIX + name] = _field(name, schema, name in required, tools)
        self._limits = limit_fields(agent_)
        self.fields.update(self._limits)

    @property
    def input_fields(self) -> list[forms.BoundField]:
        """The fields that come from the schema, in its order."""
        return [self[PREFIX + name] for name in self.properties]

    @property
    def limit_fields(self) -> list[forms.BoundField]:
        """What the task may use at most, and until when."""
        return [self[name] for name in self._limits]

    @property
    def wants_files(self) -> bool:
        """Whether the agent takes files at all."""
        return FILES in dict(self.of.input_schema.get("properties") or {})

    def clean_goal(self) -> str:
        goal: str = self.cleaned_data["goal"]
        try:
            check_storable(goal)
        except BadInput as error:
            raise forms.ValidationError(error.text) from error
        return " ".join(goal.split())

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        cleaned["input"] = {
            name: cleaned[PREFIX + name]
            for name in self.properties
            if cleaned.get(PREFIX + name) not in (None, "", [])
        }
        cleaned["limits"] = limits_of(cleaned)
        for problem in problems(self.of, cleaned["input"]):
            name = str(next(iter(problem.absolute_path), ""))
            target = PREFIX + name if name in self.properties else None
            if target is None or target not in self.errors:
                self.add_error(target, words(problem))
        return cleaned

    def check_files(self, count: int) -> None:
        """Whether the number of files fits. The errors stand at the drop zone, under ``files``."""
        if not self.wants_files:
            return
        least = int(dict(self.of.input_schema["properties"])[FILES].get("minItems") or 0)
        if FILES in set(self.of.input_schema.get("required") or ()):
            least = max(1, least)
        if count < least:
            self.add_error(None, _("Add at least one file. Nothing was started."))
        elif count > self.most_files:
            self.add_error(
                None,
                _("These are too many files: %(most)s at most. Nothing was started.")
                % {"most": self.most_files},
            )


def _field(name: str, schema: Mapping[str, Any], required: bool, tools: Sequence[Choice]) -> forms.Field:
    if schema.get("x-form") != "calls":
        return field_of(name, schema, required=required)
    words = {
        "label": _(str(schema.get("title") or name)),
        "help_text": _(str(schema.get("description") or "")),
    }
    return CallsField(choices=tools, required=required, **words)


def problems(agent: Agent, given: Mapping[str, Any]) -> list[jsonschema.ValidationError]:
    """What of an input does not fit the agent's schema, files aside."""
    schema = dict(agent.input_schema)
    schema["properties"] = {k: v for k, v in dict(schema.get("properties") or {}).items() if k != FILES}
    schema["required"] = [name for name in schema.get("required") or () if name != FILES]
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return list(validator.iter_errors(dict(given)))


def chosen_files(values: Sequence[str]) -> tuple[list[uuid.UUID], list[tuple[str, int]]]:
    """What the drop zone sent: ids of uploads, and places in samples (``sample-<name>-<place>``). Others
    are dropped."""
    ids: list[uuid.UUID] = []
    samples: list[tuple[str, int]] = []
    for value in values:
        head, _dash, place = value.rpartition("-")
        name = head.removeprefix("sample-")
        if value.startswith("sample-") and name in SAMPLES and place.isdecimal():
            if int(place) < len(SAMPLES[name].files):
                samples.append((name, int(place)))
            continue
        try:
            ids.append(parse("artifact", value))
        except BadId:
            continue
    return ids, samples
