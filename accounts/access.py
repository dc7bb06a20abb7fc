"""Who is asking, and for which tenant: read from the database at every request, never kept in the session.

Pages use the session, the API a bearer token. Both end in the same three attributes of the request,
``tenant``, ``membership`` and ``api_token``, and in one tenant scope around the view.
"""

import functools
import uuid
import zoneinfo
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone, translation

from accounts import rights, tokens
from accounts.models import ApiToken, Membership, Role, Tenant, User
from accounts.scope import tenant_scope

TENANT_KEY = "tenant"
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class MemberRequest(HttpRequest):
    """What a request has become behind :func:`member`; for type checking."""

    user: User
    tenant: Tenant
    membership: Membership
    api_token: ApiToken | None


class TenantMiddleware:
    """Sets ``tenant``, ``membership`` and ``api_token`` (or None), the person's language and time zone, and
    enters the tenant's scope for the view. A person without a live membership passes with None and no
    scope."""

    sync_capable = True
    async_capable = True

    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
    ) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self._later(request)
        tenant_id = recognise(request)
        with tenant_scope(tenant_id):
            settle_in(request)
            return cast(HttpResponseBase, self.get_response(request))

    async def _later(self, request: HttpRequest) -> HttpResponseBase:
        tenant_id = await sync_to_async(recognise)(request)
        with tenant_scope(tenant_id):
            settle_in(request)
            return await cast(Awaitable[HttpResponseBase], self.get_response(request))


def recognise(request: HttpRequest) -> uuid.UUID | None:
    """Read token or session, set the attributes, give the tenant. A token in the header hides the session."""
    asked = cast(Any, request)
    asked.tenant = asked.membership = asked.api_token = None
    plain = tokens.from_header(request.headers.get("Authorization", ""))
    if plain is not None:
        token = tokens.authenticate(plain)
        asked.user = AnonymousUser()
        if token is None:
            return None
        asked.api_token = token
        found = rights.membership(user_id=token.user_id, tenant_id=token.tenant_id)
    elif request.user.is_authenticated:
        found = current_membership(request)
    else:
        return None
    asked.membership = found
    asked.tenant = found.tenant if found else None
    return found.tenant_id if found else None


def current_membership(request: HttpRequest) -> Membership | None:
    """The membership that the person chose last, else the first live one."""
    mine = rights.memberships(user_id=cast(User, request.user).pk)
    chosen = request.session.get(TENANT_KEY)
    return next((one for one in mine if one.tenant_id.hex == chosen), mine[0] if mine else None)


def settle_in(request: HttpRequest) -> None:
    """Speak the language and show the times that the person's profile asks for; without any, those of the
    browser."""
    user = request.user
    if not isinstance(user, User):
        return
    if user.language in dict(settings.LANGUAGES):
        translation.activate(user.language)
        cast(Any, request).LANGUAGE_CODE = translation.get_language()
    if user.time_zone in zones():
        timezone.activate(zoneinfo.ZoneInfo(user.time_zone))


def zone_of(user: User) -> zoneinfo.ZoneInfo:
    """The zone of the person's profile, else UTC: for mails, where no browser tells."""
    return zoneinfo.ZoneInfo(user.time_zone if user.time_zone in zones() else "UTC")


@functools.cache
def zones() -> frozenset[str]:
    """The names of the time zone database."""
    return frozenset(zoneinfo.available_timezones())


def member(*roles: Role | str) -> Callable[[View], View]:
    """A page for members of the current tenant; with ``roles``, for those who hold one of them.

    Not signed in: to the sign-in page and back. No live membership, or none of the roles: 403 with the
    reason.
    """
    wanted = {str(role) for role in roles}

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _to_sign_in(request)
            found: Membership | None = cast(Any, request).membership
            if found is None or (wanted and not wanted & set(found.roles)):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return cast(View, guarded)

    return decorate


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """A fragment cannot hold the sign-in page: htmx is told to go there as a whole."""
    if request.headers.get("HX-Request"):
        back = request.headers.get("HX-Current-URL", "")
        path = (
            back.removeprefix(f"{request.scheme}://{request.get_host()}") if back else request.get_full_path()
        )
        target = redirect_to_login(path if path.startswith("/") else "/")
        return HttpResponse(status=204, headers={"HX-Redirect": target["Location"]})
    path = request.get_full_path() if request.method in {"GET", "HEAD"} else "/"
    return redirect_to_login(path)
