"""Pages of people, access and one's own settings."""

from django.urls import path

from accounts.throttle import Rate, limited
from accounts.views import absence, audit, escalation, groups, invitation, own, people, person, tokens

app_name = "accounts"
urlpatterns = [
    path("people/", people.people, name="people"),
    path("people/escalation/", escalation.escalation, name="escalation"),
    path("people/invite/", people.invite_person, name="invite"),
    path("people/add/", people.add, name="add_person"),
    path("people/<uuid:membership_id>/", person.person, name="person"),
    path("people/<uuid:membership_id>/disable/", person.disable, name="disable_person"),
    path("people/<uuid:membership_id>/enable/", person.enable, name="enable_person"),
    path("people/<uuid:membership_id>/password/", person.password_link, name="send_password_link"),
    path("people/invitations/<uuid:invitation_id>/withdraw/", people.withdraw, name="withdraw_invitation"),
    path("people/groups/", groups.groups, name="groups"),
    path("people/groups/<uuid:group_id>/", groups.group, name="group"),
    path("people/groups/<uuid:group_id>/close/", groups.close, name="close_group"),
    path("people/<uuid:membership_id>/away/", absence.away_of, name="away_of"),
    path("settings/away/", absence.away, name="away"),
    path("settings/away/<uuid:absence_id>/back/", absence.back, name="back"),
    path("settings/profile/", own.profile, name="profile"),
    path("settings/tenant/<uuid:tenant_id>/", own.switch, name="switch"),
    path("settings/tokens/", tokens.tokens, name="tokens"),
    path("settings/tokens/<uuid:token_id>/revoke/", tokens.revoke, name="revoke_token"),
    path("audit/", audit.audit, name="audit"),
    path("audit/export.jsonl", audit.audit_jsonl, name="audit_jsonl"),
    path("audit/export.csv", audit.audit_csv, name="audit_csv"),
    path(
        "invitation/<str:secret>/",
        limited(invitation.invitation, Rate("invitation", per_address=30)),
        name="invitation",
    ),
]
