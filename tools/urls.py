"""Routes of the workbench."""

from django.urls import path

from tools.views import drifting, editor, history, importing, register, reviewing, secrets

app_name = "tools"
urlpatterns = [
    path("", register.tools, name="tools"),
    path("new/", register.new_tool, name="new_tool"),
    path("import/", importing.import_tools, name="import"),
    path("secrets/", secrets.secrets, name="secrets"),
    path("secrets/delete/", secrets.delete, name="delete_secret"),
    path("two-people/", reviewing.two_people, name="two_people"),
    path("<str:name>/", editor.tool, name="tool"),
    path("<str:name>/consequences/", editor.consequences, name="consequences"),
    path("<str:name>/changes/", reviewing.changes, name="changes"),
    path("<str:name>/review/", reviewing.ask, name="ask_review"),
    path("<str:name>/review/send-back/", reviewing.send_back, name="send_back"),
    path("<str:name>/review/take-back/", reviewing.take_back, name="take_back_review"),
    path("<str:name>/changed/", drifting.changed, name="changed"),
    path("<str:name>/history/", history.history, name="history"),
    path("<str:name>/discard/", editor.discard, name="discard"),
    path("<str:name>/pause/", register.pause, name="pause"),
    path("<str:name>/go-on/", register.go_on, name="go_on"),
]
