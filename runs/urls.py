"""Pages of tasks."""

from django.urls import path

from accounts.throttle import limited
from runs import converters  # noqa: F401  registers run, artifact and sha256
from runs.rates import EDIT, START, UPLOAD
from runs.views import (
    cancel,
    check_again,
    duplicates,
    edit_proposal,
    files,
    findings,
    history,
    import_mcp,
    new_task,
    stops,
    task,
    tasks,
    test_call,
    uploads,
)

app_name = "runs"
urlpatterns = [
    path("", tasks.home, name="home"),
    path("stops/", stops.stops, name="stops"),
    path("stops/everything/", stops.stop_everything, name="stop_everything"),
    path("stops/everything/lift/", stops.lift_everything, name="lift_everything"),
    path("tasks/", tasks.task_list, name="task_list"),
    path("tasks/export.csv", tasks.export, name="export"),
    path("tasks/new/", limited(new_task.new_task, START), name="new_task"),
    path("tasks/preview/", new_task.preview, name="plan_preview"),
    path("tasks/uploads/", limited(uploads.upload, UPLOAD, refuse=uploads.too_many), name="upload"),
    path("tasks/uploads/<artifact:artifact_id>/", uploads.remove, name="remove_upload"),
    path("tasks/cancel/", cancel.several, name="cancel_several"),
    path("tasks/test-calls/<str:name>/", limited(test_call.start, START), name="test_call"),
    path("tasks/<run:run_id>/test-call/", test_call.state, name="test_call_state"),
    path("tasks/duplicates/", duplicates.all_reports, name="duplicates"),
    path("tasks/duplicates/<uuid:report_id>/", duplicates.answer, name="answer_duplicate"),
    path("mcp/import/", limited(import_mcp.import_mcp, START), name="import_mcp"),
    path("mcp/import/<run:run_id>/", import_mcp.import_mcp_list, name="import_mcp_list"),
    path("tasks/<run:run_id>/effects/<intent:intent_id>/", duplicates.duplicate, name="duplicate"),
    path("tasks/<run:run_id>/", task.task_detail, name="task_detail"),
    path("tasks/<run:run_id>/steps/", task.all_steps, name="steps"),
    path("tasks/<run:run_id>/history/", history.history, name="history"),
    path("tasks/<run:run_id>/history.json", history.export, name="history_export"),
    path("tasks/<run:run_id>/cancel/", cancel.one, name="cancel"),
    path("inbox/<str:action_id>/edit/", limited(edit_proposal.edit, EDIT), name="edit_proposal"),
    path("inbox/<str:action_id>/check-again/", check_again.ask, name="check_again"),
    path("tasks/<run:run_id>/stop/", stops.stop_run, name="stop_run"),
    path("tasks/<run:run_id>/go-on/", stops.go_on, name="go_on"),
    path("tasks/<run:run_id>/files/<artifact:artifact_id>/", files.download, name="download"),
    path("tasks/<run:run_id>/files/<sha256:sha256>/", files.by_checksum, name="file"),
    path("tasks/<run:run_id>/files/<artifact:artifact_id>/printable/", files.printable, name="printable"),
    path(
        "tasks/<run:run_id>/findings/<sha256:document>/<slug:finding>/", findings.mark_wrong, name="correct"
    ),
    path(
        "tasks/<run:run_id>/findings/<sha256:document>/<slug:finding>/take-back/",
        findings.take_back,
        name="take_back",
    ),
]
