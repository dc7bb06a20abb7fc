"""Addresses of the sockets."""

from django.urls import path

from runs import converters  # noqa: F401  registers run
from runs.consumers import InboxConsumer, NotesConsumer, RunConsumer, TasksConsumer

websocket_urlpatterns = [
    path("ws/runs/<run:run_id>/", RunConsumer.as_asgi()),
    path("ws/tasks/", TasksConsumer.as_asgi()),
    path("ws/inbox/", InboxConsumer.as_asgi()),
    path("ws/notes/", NotesConsumer.as_asgi()),
]
