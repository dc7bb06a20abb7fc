"""Routes of the desk's REST door."""

from django.urls import path, register_converter

from approvals.api import batch, handling, views
from approvals.api.converters import ActionId

register_converter(ActionId, "action")

urlpatterns = [
    path("inbox/", views.InboxView.as_view(), name="inbox"),
    path("inbox/decide/", batch.BatchView.as_view(), name="decide-many"),
    path("actions/<action:action_id>/", views.ActionView.as_view(), name="action"),
    path("actions/<action:action_id>/decide/", views.DecideView.as_view(), name="decide"),
    path("actions/<action:action_id>/take-back/", views.TakeBackView.as_view(), name="take-back"),
    path("actions/<action:action_id>/deciders/", handling.DecidersView.as_view(), name="deciders"),
    path("actions/<action:action_id>/claim/", handling.ClaimView.as_view(), name="claim"),
    path("actions/<action:action_id>/release/", handling.ReleaseView.as_view(), name="release"),
    path("actions/<action:action_id>/delegate/", handling.DelegateView.as_view(), name="delegate"),
    path("actions/<action:action_id>/undelegate/", handling.UndelegateView.as_view(), name="undelegate"),
    path("actions/<action:action_id>/set-aside/", handling.SetAsideView.as_view(), name="set-aside"),
    path("actions/<action:action_id>/take-up/", handling.TakeUpView.as_view(), name="take-up"),
]
