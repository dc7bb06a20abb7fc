"""Routes of the workshop's REST door."""

from django.urls import path

import runs.converters  # noqa: F401  registers <run:…> and <art:…>
from runs.api import files, signals, tasks

urlpatterns = [
    path("agents/", tasks.AgentsView.as_view(), name="agents"),
    path("uploads/", files.UploadsView.as_view(), name="uploads"),
    path("uploads/<artifact:artifact_id>/", files.UploadView.as_view(), name="upload"),
    path("tasks/", tasks.TasksView.as_view(), name="tasks"),
    path("tasks/preview/", tasks.PreviewView.as_view(), name="preview"),
    path("tasks/<run:run_id>/", tasks.TaskView.as_view(), name="task"),
    path("tasks/<run:run_id>/steps/", tasks.StepsView.as_view(), name="steps"),
    path("tasks/<run:run_id>/events/", tasks.EventsView.as_view(), name="events"),
    path("tasks/<run:run_id>/cancel/", tasks.CancelView.as_view(), name="cancel"),
    path("tasks/<run:run_id>/signals/", signals.SignalsView.as_view(), name="signals"),
    path("tasks/<run:run_id>/results/", files.ResultsView.as_view(), name="results"),
    path("tasks/<run:run_id>/results/<artifact:artifact_id>/", files.ContentView.as_view(), name="content"),
]
