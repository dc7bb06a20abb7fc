"""Routes of the desk's REST door."""

from django.urls import path, register_converter

from approvals.api import batch, views
from approvals.api.converters import ActionId

register_converter(ActionId, "action")

urlpatterns = [
    path("inbox/", views.InboxView.as_view(), name="inbox"),
    path("inbox/decide/", batch.BatchView.as_view(), name="decide-many"),
    path("actions/<action:action_id>/", views.ActionView.as_view(), name="action"),
    path("actions/<action:action_id>/decide/", views.DecideView.as_view(), name="decide"),
    path("actions/<action:action_id>/take-back/", views.TakeBackView.as_view(), name="take-back"),
]
