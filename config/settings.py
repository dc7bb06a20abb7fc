"""The one settings file. Every value that differs between installations comes from `config.env`."""

from __future__ import annotations

from typing import Any

from config import env as _env
from config.connections import artifact_storage, database, mail
from config.env import BASE_DIR
from config.logs import logging_config
from config.wiring import WAKE_UPS, beat_schedule

ENV, COUNTERSIGN = _env.load()

DEBUG = ENV.debug
SECRET_KEY = _env.secret_key(ENV)
# Credentials of tools are encrypted with the first; each of them opens.
VAULT_KEYS = ENV.vault_key_list or [SECRET_KEY]
# Entries of the audit chain are hashed with the first; each of them verifies. Who has SECRET_KEY does not have these.
AUDIT_KEYS = ENV.audit_key_list
AUDIT_HEADS = ENV.audit_heads
ALLOWED_HOSTS = ENV.hosts
CSRF_TRUSTED_ORIGINS = ENV.trusted_origins
PUBLIC_URL = ENV.origin
DATA_DIR = ENV.data_dir
# Servers of our own that nobody else reaches: only there sample accounts with known passwords may exist.
EMBEDDED = ENV.embedded
# Who may read /metrics from elsewhere than this machine.
METRICS_TOKEN = ENV.metrics_token
# How many proxies of ours append to X-Forwarded-For; with 0 the header is not believed.
TRUSTED_PROXIES = ENV.trusted_proxies

INSTALLED_APPS = [
    "config.apps.ConfigConfig",
    "config.ui",
    "runs",
    "approvals",
    "tools",
    "outbox",
    "accounts",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "channels",
    "csp",
    "django_filters",
    "django_fsm",
    "django_htmx",
    "drf_spectacular",
    "rest_framework",
    "template_partials",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "config.ui.zone.ReaderZone",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.access.TenantMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.template.context_processors.tz",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.ui.context.frame",
                "approvals.context.inbox_count",
                "outbox.context.notes_count",
            ],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

DATABASES = {"default": database(ENV.database_url, ENV.database_pool if ENV.configured else 0)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [ENV.channels], "prefix": "countersign"},
    }
}

# Files: uploads and results go to `artifacts`, pages take theirs from `static`.
STORAGES: dict[str, dict[str, Any]] = {
    "default": artifact_storage(ENV.artifact_url, DATA_DIR),
    "artifacts": artifact_storage(ENV.artifact_url, DATA_DIR),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Served straight from the source folders: nothing to collect before the first start, nothing to go stale.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_MAX_AGE = 0 if DEBUG else 60
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
# An imported interface may have thousands of operations, each with a box to tick.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
DATA_UPLOAD_MAX_NUMBER_FILES = COUNTERSIGN.max_uploads
FILE_UPLOAD_MAX_MEMORY_SIZE = 2_500_000

# Mail that the product itself writes, like invitations; the mails of agents go through an adapter of `tools`.
_MAIL = mail(ENV.email_url)
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _MAIL.tls, _MAIL.ssl
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = ENV.email_from

# People
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "/sign-in/"
PASSWORD_RESET_TIMEOUT = 3600
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_ENABLED = False
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_ADAPTER = "accounts.door.AccountAdapter"
ACCOUNT_FORMS = {"login": "accounts.forms.SignInForm", "reset_password": "accounts.forms.ResetForm"}
# Counted by accounts.limits instead: allauth's counters live in the cache of one process.
ACCOUNT_RATE_LIMITS = False
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
MFA_ADAPTER = "accounts.door.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "accounts.forms.SecondFactorForm",
    "reauthenticate": "accounts.forms.SecondFactorAgainForm",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Countersign"
# Letters of the accounts room (invitations, password resets) are handed to the post room above it.
POST_ROOM = "outbox.letters.post"

# Security
_HTTPS = PUBLIC_URL.startswith("https://")
_PREFIX = "__Host-" if _HTTPS else ""
SESSION_COOKIE_NAME = f"{_PREFIX}countersign_session"
CSRF_COOKIE_NAME = f"{_PREFIX}countersign_csrf"
LANGUAGE_COOKIE_NAME = f"{_PREFIX}countersign_language"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
SECURE_SSL_REDIRECT = _HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if _HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _HTTPS
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        # 'self' covers ws: and wss: of the same host (CSP level 3).
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}

# Language and time
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = USE_TZ = True
TIME_ZONE = "UTC"

# REST
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.api_auth.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["accounts.rest.parsers.StrictJSONParser"],
    "EXCEPTION_HANDLER": "accounts.rest.problems.handler",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "COERCE_DECIMAL_TO_STRING": True,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Countersign",
    "DESCRIPTION": "Long-running agent tasks with a human hand on everything irreversible.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "RunStatus": "runs.models.run.Run.Status",
        "StepStatus": "runs.models.step.Step.Status",
        "StepKind": "runs.models.step.Step.Kind",
        "FileKind": "runs.models.artifact.Artifact.Kind",
        "ActionStatus": "approvals.models.action.PendingAction.Status",
        "ActionKind": "approvals.models.action.PendingAction.Kind",
    },
}

# Celery carries wake-ups and periodic rings; PostgreSQL holds the work, so no result is kept.
CELERY_BROKER_URL = ENV.broker_url
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": "countersign:",
    "socket_keepalive": True,
    # A broker that does not answer must not hang the relay; longer than the second for which a consumer polls.
    "socket_connect_timeout": 3,
    "socket_timeout": 5,
}
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "coordination"
CELERY_TASK_CREATE_MISSING_QUEUES = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ROUTES = {name: {"queue": "execution"} for name in WAKE_UPS}
CELERY_BEAT_SCHEDULE = beat_schedule()

LOGGING_CONFIG = "config.logs.configure"
LOGGING = logging_config(ENV.log_format, ENV.log_level)
