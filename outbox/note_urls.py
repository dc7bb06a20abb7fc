"""Notes in the page, of the person who looks."""

from django.urls import path

from outbox.views import notes

app_name = "notes"
urlpatterns = [
    path("", notes.notes, name="list"),
    path("read/", notes.read_all, name="read_all"),
    path("<uuid:note_id>/open/", notes.open_note, name="open"),
]
