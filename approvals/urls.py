"""Routes of the desk."""

from django.urls import path

from accounts.throttle import limited
from approvals import views

app_name = "approvals"
urlpatterns = [
    path("", views.inbox_page, name="inbox"),
    path("<str:action_id>/", views.action_page, name="action"),
    path(
        "<str:action_id>/decide/",
        limited(views.decide, "decide", per_address=600, per_person=120, seconds=60),
        name="decide",
    ),
    path("<str:action_id>/take-back/", views.take_back, name="take_back"),
    path("<str:action_id>/claim/", views.claim, name="claim"),
    path("<str:action_id>/release/", views.release, name="release"),
]
