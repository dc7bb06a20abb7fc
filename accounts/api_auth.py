"""The API's side of tokens: the middleware has read the header, these classes turn it into DRF's terms."""

from typing import TYPE_CHECKING, Any, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts import tokens
from accounts.models import ApiToken, TokenScope, User

if TYPE_CHECKING:
    # REST framework loads this module while it loads its views.
    from rest_framework.views import APIView


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer cst_…``. The tenant's scope was entered by the middleware, from the same
    token."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        plain = tokens.from_header(request.headers.get("Authorization", ""))
        if plain is None:
            return None
        token: ApiToken | None = getattr(cast(Any, request)._request, "api_token", None)
        if token is None:
            raise AuthenticationFailed("This token is unknown, revoked or expired. Nothing was done.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="countersign"'


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document names it."""

    target_class = "accounts.api_auth.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


def needs(scope: TokenScope | str) -> type[BasePermission]:
    """A permission class: the caller's token carries this scope."""

    class NeedsScope(BasePermission):
        message = f"This token does not have the scope '{scope}'. Nothing was done."

        def has_permission(self, request: Request, view: "APIView") -> bool:
            return isinstance(request.auth, ApiToken) and str(scope) in request.auth.scopes

    return NeedsScope
