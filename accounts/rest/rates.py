"""Limits in front of a REST view: the same counters as the pages', asked after the rights and before the body is read."""

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from accounts.addresses import client_address
from accounts.throttle import Rate


def limited(rate: Rate) -> type[BaseThrottle]:
    """A throttle class: so many POSTs by the person behind the token, and from one address."""

    class Limited(BaseThrottle):
        def allow_request(self, request: Request, view: APIView) -> bool:
            if request.method != "POST":
                return True
            return rate.allow(rate.keys(client_address(request.META), request.user.pk))

        def wait(self) -> float:
            return rate.seconds

    return Limited
