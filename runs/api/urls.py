"""Routes of the workshop's REST door."""

from django.urls import path

import approvals.api.urls  # noqa: F401  registers <action:…>
import runs.converters  # noqa: F401  registers <run:…> and <art:…>
from runs.api import bounces, check_again, duplicates, edit_proposal, files, signals, stops, tasks

urlpatterns = [
    path("agents/", tasks.AgentsView.as_view(), name="agents"),
    path("uploads/", files.UploadsView.as_view(), name="uploads"),
    path("uploads/<artifact:artifact_id>/", files.UploadView.as_view(), name="upload"),
    path("stops/", stops.StopsView.as_view(), name="stops"),
    path("stops/lift/", stops.LiftView.as_view(), name="lift"),
    path("tasks/", tasks.TasksView.as_view(), name="tasks"),
    path("tasks/preview/", tasks.PreviewView.as_view(), name="preview"),
    path("tasks/<run:run_id>/", tasks.TaskView.as_view(), name="task"),
    path("tasks/<run:run_id>/steps/", tasks.StepsView.as_view(), name="steps"),
    path("tasks/<run:run_id>/events/", tasks.EventsView.as_view(), name="events"),
    path("tasks/<run:run_id>/cancel/", tasks.CancelView.as_view(), name="cancel"),
    path("tasks/<run:run_id>/effects/", duplicates.EffectsView.as_view(), name="effects"),
    path(
        "tasks/<run:run_id>/effects/<intent:intent_id>/duplicates/",
        duplicates.ReportView.as_view(),
        name="report_duplicate",
    ),
    path("bounces/", bounces.BouncesView.as_view(), name="bounces"),
    path("duplicates/", duplicates.ReportsView.as_view(), name="duplicates"),
    path("duplicates/<uuid:report_id>/answer/", duplicates.AnswerView.as_view(), name="answer_duplicate"),
    path("tasks/<run:run_id>/signals/", signals.SignalsView.as_view(), name="signals"),
    path("actions/<action:action_id>/edit/", edit_proposal.EditView.as_view(), name="edit"),
    path("actions/<action:action_id>/check-again/", check_again.CheckAgainView.as_view(), name="check_again"),
    path("tasks/<run:run_id>/results/", files.ResultsView.as_view(), name="results"),
    path("tasks/<run:run_id>/results/<artifact:artifact_id>/", files.ContentView.as_view(), name="content"),
]
