"""Routes of the workbench's REST door."""

from django.urls import path

from tools.api import views

urlpatterns = [
    path("tools/", views.ToolsView.as_view(), name="tools"),
    path("tools/<str:name>/", views.ToolView.as_view(), name="tool"),
]
