"""Registers the template tags of ``config.ui`` with Django."""

from django.apps import AppConfig


class UiConfig(AppConfig):
    """No models, no start-up work: only tags, a context processor and a middleware."""

    name = "config.ui"
    label = "ui"
