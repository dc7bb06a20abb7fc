"""Routes of the desk."""

from django.urls import path

from accounts.throttle import limited
from approvals.rates import DECIDE
from approvals.views import action, batch, handling, inbox

app_name = "approvals"
urlpatterns = [
    path("", inbox.inbox_page, name="inbox"),
    path("batch/", batch.batch_page, name="batch"),
    path(
        "batch/decide/",
        limited(batch.decide, DECIDE),
        name="decide_many",
    ),
    path("batch/<uuid:batch>/", batch.batch_done, name="batch_done"),
    path("<str:action_id>/", action.action_page, name="action"),
    path(
        "<str:action_id>/decide/",
        limited(action.decide, DECIDE),
        name="decide",
    ),
    path("<str:action_id>/seen/", handling.seen, name="seen"),
    path("<str:action_id>/take-back/", handling.take_back, name="take_back"),
    path("<str:action_id>/claim/", handling.claim, name="claim"),
    path("<str:action_id>/release/", handling.release, name="release"),
    path("<str:action_id>/delegate/", handling.delegate, name="delegate"),
    path("<str:action_id>/undelegate/", handling.undelegate, name="undelegate"),
    path("<str:action_id>/set-aside/", handling.set_aside, name="set_aside"),
    path("<str:action_id>/take-up/", handling.take_up, name="take_up"),
]
