"""The models keep to the rooms, and the migrations keep to the models."""

from __future__ import annotations

import io

import pytest
from django.apps import apps
from django.core.management import call_command

from tests.house.tree import ROOMS


def test_foreign_keys_point_down_or_stay_in_the_room() -> None:
    height = {room: len(ROOMS) - position for position, room in enumerate(ROOMS)}
    upward = [
        f"{model._meta.label}.{field.name} → {there.label}"
        for room in ROOMS
        for model in apps.get_app_config(room).get_models()
        for field in model._meta.get_fields()
        if field.is_relation
        and field.concrete
        and (there := getattr(field.related_model, "_meta", None)) is not None
        and height.get(there.app_label, 0) > height[room]
    ]
    assert upward == []


def test_every_constraint_and_index_has_a_name_of_its_own() -> None:
    names = [
        constraint.name
        for room in ROOMS
        for model in apps.get_app_config(room).get_models()
        for constraint in (*model._meta.constraints, *model._meta.indexes)
    ]
    assert all(names)
    assert len(names) == len(set(names))


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    said = io.StringIO()
    try:
        call_command("makemigrations", "--check", "--dry-run", stdout=said)
    except SystemExit:
        pytest.fail(f"models and migrations differ; run manage.py makemigrations\n{said.getvalue()}")
