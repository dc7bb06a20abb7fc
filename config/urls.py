from django.urls import URLPattern, URLResolver, include, path

from accounts.views.own import language
from config.health import healthz
from config.metrics import metrics
from config.ui.styleguide import parts

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("i18n/language/", language, name="set_language"),
    path("", include("accounts.door_urls")),
    path("", include("accounts.urls")),
    path("api/v1/", include("config.api")),
    path("inbox/", include("approvals.urls")),
    path("quality/", include("approvals.quality_urls")),
    path("settings/", include("outbox.urls")),
    path("notes/", include("outbox.note_urls")),
    path("tools/", include("tools.urls")),
    path("", include("runs.urls")),
    path("parts/", parts, name="styleguide"),
]

handler400 = "config.ui.faults.bad_request"
