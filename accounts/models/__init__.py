"""Tables of the accounts room: fields, constraints and managers; no verbs."""

from accounts.models.audit import AuditEntry, AuditHead
from accounts.models.base import TenantRow
from accounts.models.groups import Absence, Group, GroupMember
from accounts.models.idempotent import IdempotentRequest
from accounts.models.origin import DatabaseOrigin
from accounts.models.people import Invitation, Membership, Role, Tenant, User
from accounts.models.tokens import ApiToken, RateWindow, TokenScope

__all__ = [
    "Absence",
    "ApiToken",
    "AuditEntry",
    "AuditHead",
    "DatabaseOrigin",
    "Group",
    "GroupMember",
    "IdempotentRequest",
    "Invitation",
    "Membership",
    "RateWindow",
    "Role",
    "Tenant",
    "TenantRow",
    "TokenScope",
    "User",
]
