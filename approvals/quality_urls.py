"""Routes of the pages about how people decide."""

from django.urls import path

from approvals.views import quality

app_name = "quality"
urlpatterns = [
    path("", quality.page, name="page"),
    path("export.csv", quality.export, name="export"),
]
