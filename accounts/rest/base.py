"""The base of REST views: who is asking, by token, with rights read now."""

from typing import Any, cast

from django.http import Http404
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access import MemberRequest
from accounts.models import ApiToken, Role
from accounts.rest.problems import Problem


class IsMember(BasePermission):
    """The person behind the token is a member of its tenant at this moment."""

    message = "This person is no member of this tenant any more. Nothing was done."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, ApiToken) and asked(request).membership is not None


def asked(request: Request) -> MemberRequest:
    """The request as the tenant middleware has left it."""
    return cast(MemberRequest, cast(Any, request)._request)


def token_of(request: Request) -> ApiToken:
    """The token that came with the request."""
    if not isinstance(request.auth, ApiToken):
        raise Problem(401, "not_signed_in", "Send a bearer token. Nothing was done.")
    return request.auth


def need_role(request: Request, *roles: Role) -> None:
    """Raises a 403 problem unless the person has one of the roles now."""
    if not {str(role) for role in roles} & set(asked(request).membership.roles):
        words = ", ".join(str(role.label) for role in roles)
        raise Problem(403, "role_missing", f"This needs the role {words}. Nothing was done.")


def found_or_404(value: Any) -> Any:
    """The value, or 404."""
    if value is None:
        raise Http404
    return value


class NewestFirst(CursorPagination):
    """Pages by time-ordered id; rows keep their place while others change."""

    ordering = "-id"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
