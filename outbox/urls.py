"""Pages of the post room, under the settings."""

from django.urls import path

from outbox.views import deliveries, notes, notifications, webhooks

app_name = "outbox"
urlpatterns = [
    path("webhooks/", webhooks.webhooks, name="webhooks"),
    path("webhooks/new/", webhooks.new, name="new_webhook"),
    path("webhooks/<uuid:endpoint_id>/", webhooks.webhook, name="webhook"),
    path("webhooks/<uuid:endpoint_id>/rotate/", webhooks.rotate, name="rotate_webhook_secret"),
    path("webhooks/<uuid:endpoint_id>/switch/", webhooks.switch, name="switch_webhook"),
    path("webhooks/<uuid:endpoint_id>/test/", webhooks.test, name="test_webhook"),
    path("webhooks/<uuid:endpoint_id>/delete/", webhooks.delete, name="delete_webhook"),
    path("webhooks/deliveries/<uuid:delivery_id>/", deliveries.delivery, name="delivery"),
    path("webhooks/deliveries/<uuid:delivery_id>/again/", deliveries.again, name="send_again"),
    path("notifications/", notifications.mine, name="notifications"),
    path("notifications/chat/", notifications.chat, name="chat"),
    path("notifications/everybody/", notifications.everybody, name="notifications_of_tenant"),
    path("notifications/everybody/chat/", notifications.chat_of_tenant, name="chat_of_tenant"),
    path("notes/", notes.of_tenant, name="notes_of_tenant"),
    path("notes/<uuid:note_id>/again/", notes.again, name="resend_note"),
    path("dead-letters/", deliveries.dead_letters, name="dead_letters"),
    path("dead-letters/<uuid:message_id>/again/", deliveries.redeliver_message, name="redeliver"),
]
