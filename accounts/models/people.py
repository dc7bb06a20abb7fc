"""Tenants, people, memberships, invitations."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _

from accounts.ids import new_id
from accounts.models.base import TenantRow


class Role(models.TextChoices):
    """What a member may do in a tenant."""

    SUBMITTER = "submitter", _("Submitter")
    APPROVER = "approver", _("Approver")
    ADMINISTRATOR = "administrator", _("Administrator")


class Tenant(models.Model):
    """A customer. ``mail_from`` and ``mail_reply_to`` are the sender of everything that leaves in its
    name. ``coverage_floor``: the percent of reversible coverage below which a person is asked before an effect, null for
    none. ``escalation_owner`` gets what nobody else can decide."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    mail_from = models.EmailField(max_length=254)
    mail_reply_to = models.EmailField(max_length=254, blank=True)
    language = models.CharField(max_length=10, default="en")
    time_zone = models.CharField(max_length=60, default="UTC")
    active = models.BooleanField(default=True)
    coverage_floor = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MaxValueValidator(100)]
    )
    escalation_owner = models.ForeignKey(
        "accounts.User", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(coverage_floor__lte=100), name="tenant_coverage_floor_percent"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class UserManager(BaseUserManager["User"]):
    """People are known by their e-mail address, compared without case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").lower())


class User(AbstractUser):
    """A person. Rights come from memberships, read at the moment of the act."""

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(_("E-mail address"), max_length=254, unique=True)
    name = models.CharField(_("Name"), max_length=200)
    language = models.CharField(max_length=10, blank=True)
    time_zone = models.CharField(max_length=60, blank=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]
    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_without_case")]

    def __str__(self) -> str:
        return self.name or self.email

    def get_full_name(self) -> str:
        return str(self)

    def get_short_name(self) -> str:
        return str(self)


class Membership(TenantRow):
    """A person in a tenant. ``disabled_at`` ends it without forgetting it."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    roles = ArrayField(models.CharField(max_length=20, choices=Role.choices))
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    disabled_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(roles__len__gt=0), name="membership_has_a_role"),
            models.CheckConstraint(
                condition=Q(roles__contained_by=list(Role.values)), name="membership_roles_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.tenant}"


class Invitation(TenantRow):
    """A person asked to join. Only the digest of the secret in the link is kept."""

    email = models.EmailField(max_length=254)
    name = models.CharField(max_length=200, blank=True)
    roles = ArrayField(models.CharField(max_length=20, choices=Role.choices))
    digest = models.BinaryField(max_length=32, unique=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                "tenant",
                Lower("email"),
                condition=Q(accepted_at__isnull=True, withdrawn_at__isnull=True),
                name="invitation_open_once",
            ),
            models.CheckConstraint(
                condition=Q(roles__contained_by=list(Role.values)), name="invitation_roles_known"
            ),
        ]
