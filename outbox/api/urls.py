"""Routes of the post room's REST door."""

from django.urls import path, register_converter

from outbox.api import notes, views
from outbox.api.converters import DeliveryId, WebhookId

register_converter(WebhookId, "webhook")
register_converter(DeliveryId, "delivery")

urlpatterns = [
    path("me/notifications/", notes.NotesView.as_view(), name="notifications"),
    path("me/notifications/read/", notes.ReadView.as_view(), name="notifications_read"),
    path("me/notifications/preferences/", notes.PreferencesView.as_view(), name="notification_preferences"),
    path("me/notifications/chat/", notes.ChatView.as_view(), name="notification_chat"),
    path("me/notifications/chat/test/", notes.ChatTestView.as_view(), name="notification_chat_test"),
    path("webhook-events/", views.EventTypesView.as_view(), name="webhook_events"),
    path("webhooks/", views.WebhooksView.as_view(), name="webhooks"),
    path("webhooks/<webhook:endpoint_id>/", views.WebhookView.as_view(), name="webhook"),
    path("webhooks/<webhook:endpoint_id>/rotate/", views.RotateView.as_view(), name="rotate_webhook"),
    path("webhooks/<webhook:endpoint_id>/test/", views.TestView.as_view(), name="test_webhook"),
    path("webhooks/<webhook:endpoint_id>/deliveries/", views.DeliveriesView.as_view(), name="deliveries"),
    path("webhooks/deliveries/<delivery:delivery_id>/", views.DeliveryView.as_view(), name="delivery"),
    path("webhooks/deliveries/<delivery:delivery_id>/again/", views.AgainView.as_view(), name="send_again"),
]
