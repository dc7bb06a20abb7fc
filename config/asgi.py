"""The web process: HTTP to Django, WebSockets to the read-only consumers of live progress."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application

from config.env import require

require(settings.ENV)
http = get_asgi_application()

# These import models: only after Django is set up.
from accounts.socket_access import OwnOriginOnly
from runs.routing import websocket_urlpatterns
from runs.upload_gate import FORM_BYTES, UploadGate

application = ProtocolTypeRouter(
    {
        "http": UploadGate(http, limit=settings.COUNTERSIGN.max_upload_mb * 1_000_000 + FORM_BYTES),
        "websocket": OwnOriginOnly(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
