"""Routes of the pages about how people decide."""

from django.urls import path

from approvals.views import quality, samples

app_name = "quality"
urlpatterns = [
    path("", quality.page, name="page"),
    path("export.csv", quality.export, name="export"),
    path("samples/", samples.listed, name="samples"),
    path("samples/<str:sample_id>/", samples.sample, name="sample"),
]
