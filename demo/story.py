"""The story itself: upload, preview, submit, follow, read, approve, sent once, checked."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx

from demo import chain, papers
from demo.houses import House
from demo.rest import Rest, why
from demo.trouble import Trouble
from demo.words import _, chapter, fact, ngettext, quote, say

ADA, BEN, OTTO = "ada@linden.example", "ben@linden.example", "otto@aldergate.example"
PATIENCE = 180.0
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


def tell(house: House) -> None:
    """All chapters in order; raises Trouble at the first thing that is not as it should be."""
    began = time.monotonic()
    ada, ben, otto = _cast(house)
    # An address that nobody wrote to before: what arrives there is this letter and nothing else.
    address = f"notices-{uuid.uuid4().hex[:8]}@morrow-pike.example"
    try:
        task = _submit(ada, address)
        told = _work(ada, task["id"])
        action, tag = _read(ben, otto, task["id"])
        _approve(ada, ben, action, tag)
        _follow(ada, task["id"], ("SUCCEEDED",), after=told)
        _sent_once(house, ada, task["id"], action, address)
        _results(ada, task["id"])
    finally:
        for client in (ada, ben, otto):
            client.close()
    print(flush=True)
    say(
        _("That is the story: {seconds} s from the first upload to the last check.").format(
            seconds=round(time.monotonic() - began)
        )
    )


def _cast(house: House) -> tuple[Rest, Rest, Rest]:
    chapter(1, _("Three people, three tokens"))
    paths = Rest(house.url, "").get("openapi.json")["paths"]
    fact(
        _("Described at"),
        _("{url} ({count} addresses)").format(url=f"{house.url}/api/v1/openapi.json", count=len(paths)),
    )
    clients = []
    for email, note, scopes in (
        (ADA, _("may submit"), ("read", "submit")),
        (BEN, _("may decide"), ("read", "decide", "decide_high_risk")),
        (OTTO, _("belongs to another tenant"), ("read", "submit", "decide")),
    ):
        clients.append(Rest(house.url, house.token(email, *scopes)))
        fact(email, note)
    return clients[0], clients[1], clients[2]


def _submit(ada: Rest, address: str) -> Any:
    chapter(2, _("Ada hands in two contracts"))
    today = datetime.now(UTC).date()
    files = []
    for name, content in (
        ("Morrow-Pike-cleaning.txt", papers.cleaning(today)),
        ("Verity-calibration.docx", papers.calibration(today)),
    ):
        kept = ada.upload(name, content)
        fact(name, _("{size} bytes, sha256 {start}…").format(size=kept["size"], start=kept["sha256"][:16]))
        files.append(kept["id"])
    wanted = {"agent": "contract-review", "input": {"notify": address}, "files": files}
    say(_("Before anything runs she asks what would happen:"), indent=3)
    for step in ada.post("tasks/preview/", wanted)["steps"]:
        path = _("asks a person first. {why}") if step["path"] == "approval" else "{why}"
        say(f"- {step['title']}: {path.format(why=step['why'])}", indent=3)
    body = {**wanted, "goal": _("Review two service contracts")}
    key = uuid.uuid4().hex
    task = _submitted(ada, body, key)
    if _submitted(ada, body, key)["id"] != task["id"]:
        raise Trouble(_("The same request under the same key made a second task."))
    fact(_("Submitted, twice under one key, and it is one task"), task["id"])
    return task


def _submitted(ada: Rest, body: Any, key: str) -> Any:
    return ada.ask("POST", "tasks/", json=body, headers={"Idempotency-Key": key}, expect=202).json()


def _follow(ada: Rest, task: str, until: tuple[str, ...], *, after: int = 0) -> int:
    """Tells the history as it grows until the task is in one of the states; the number of the last line told."""
    names: dict[str, str] = {}
    deadline = time.monotonic() + PATIENCE
    while True:
        now = ada.get(f"tasks/{task}/")
        for event in ada.get(f"tasks/{task}/events/", after=after)["results"]:
            if event["step"] and event["step"] not in names:
                steps = ada.get(f"tasks/{task}/steps/")["results"]
                names = {step["id"]: step["title"] or step["key"] for step in steps}
            after = event["sequence"]
            words = event["type"].replace(".", " ").replace("_", " ")
            name = names.get(event["step"]) or event["payload"].get("key", "")
            print(f"   {after:>3}  {words:<20} {name}".rstrip(), flush=True)
        if now["status"] in until:
            return after
        if now["status"] in ENDED:
            raise Trouble(
                _("The task ended as {status}: {why}").format(
                    status=now["status"], why=json.dumps(now["failure"] or now["result"])
                )
            )
        if time.monotonic() > deadline:
            raise Trouble(
                _("After {seconds} s the task is still {status}.").format(
                    seconds=round(PATIENCE), status=now["status"]
                )
            )
        time.sleep(0.3)


def _work(ada: Rest, task: str) -> int:
    chapter(3, _("The agent works; then it waits for a person"))
    return _follow(ada, task, ("WAITING_APPROVAL",))


def _read(ben: Rest, otto: Rest, task: str) -> tuple[Any, str]:
    chapter(4, _("Ben reads what would be sent"))
    rows = [row for row in ben.get("inbox/")["results"] if row["task"] == task]
    if len(rows) != 1:
        raise Trouble(
            _("The inbox shows {count} actions of this task instead of one.").format(count=len(rows))
        )
    answer = ben.ask("GET", f"actions/{rows[0]['id']}/")
    action = answer.json()
    mail = json.loads(action["shown"])["preview"]
    fact(_("In the inbox"), action["sentence"])
    fact(_("Can it be undone?"), _("no") if action["irreversible"] else _("yes"))
    for label, name in ((_("From"), "from"), (_("To"), "to"), (_("Subject"), "subject")):
        fact(label, mail[name])
    quote(mail["text"])
    for file in mail["attachments"]:
        fact(_("Attached"), f"{file['name']}, {file['size']} B, sha256 {file['sha256'][:16]}…")
    due = papers.last_day(datetime.now(UTC).date())
    if due.isoformat() not in mail["text"]:
        raise Trouble(_("The letter does not name {day}, the last day for the notice.").format(day=due))
    fact(_("The last day, worked out by the demo itself, stands in the letter"), due)
    otto.ask("GET", f"actions/{rows[0]['id']}/", expect=404)
    otto.ask("GET", f"tasks/{task}/", expect=404)
    fact(_("Otto, of another tenant, asks for the same"), _("nothing there (404)"))
    return action, answer.headers["ETag"]


def _approve(ada: Rest, ben: Rest, action: Any, tag: str) -> None:
    chapter(5, _("Ben approves; nobody else can"))
    path = f"actions/{action['id']}/decide/"
    yes = {"verdict": "approve", "gesture": action["second_gesture"]}
    refused = ada.ask("POST", path, json=yes, headers={"If-Match": tag}, expect=403)
    fact(_("Ada tries it with her token"), why(refused))
    stale = ben.ask("POST", path, json=yes, headers={"If-Match": f'"{"0" * 64}.1"'}, expect=412)
    fact(_("Ben tries it without having read this version"), why(stale))
    decided = ben.ask("POST", path, json=yes, headers={"If-Match": tag}).json()
    last = decided["decisions"][-1]
    fact(_("Ben, with what he read"), f"{decided['status']}, {last['by']}, {last['at']}")
    fact(_("Digest of what he saw"), last["digest_seen"])


def _sent_once(house: House, ada: Rest, task: str, action: Any, address: str) -> None:
    chapter(6, _("The letter arrives, one time"))
    mine = _until(
        lambda: _arrived(house, address), _("No mail arrived for {address}.").format(address=address)
    )
    if len(mine) != 1:
        raise Trouble(
            _("{count} mails arrived for {address}, not one.").format(count=len(mine), address=address)
        )
    letter, shown = mine[0], json.loads(action["shown"])["preview"]
    for name in ("subject", "text"):
        if letter[name].strip() != str(shown[name]).strip():
            raise Trouble(_("The {part} that arrived is not the one that was approved.").format(part=name))
    sums = {file["sha256"] for file in shown["attachments"]}
    if {file["sha256"] for file in letter["attachments"]} != sums:
        raise Trouble(_("The attachments that arrived are not those that were approved."))
    fact(_("At the mail sink"), f"{house.sink}/{letter['number']}")
    fact(_("Arrivals of this letter"), letter["times_by_content"])
    fact(_("Word for word what was approved, attachments too"), _("yes"))
    history = _events(ada, task)
    wrong = chain.problems(task, history)
    if wrong:
        raise Trouble(_("The history is not whole: {why}.").format(why="; ".join(wrong)))
    text = ngettext(
        "{count} line of history, no gap, every hash computed again by the demo",
        "{count} lines of history, no gap, every hash computed again by the demo",
        len(history),
    )
    fact(_("The chain holds"), text.format(count=len(history)))


def _arrived(house: House, address: str) -> list[Any]:
    """The demo is an outside observer: the product itself never asks the sink."""
    answer = httpx.get(f"{house.sink}/messages.json", timeout=30, trust_env=False)
    return [message for message in answer.raise_for_status().json()["messages"] if address in message["to"]]


def _until(found: Callable[[], list[Any]], otherwise: str) -> list[Any]:
    deadline = time.monotonic() + PATIENCE
    while not (seen := found()):
        if time.monotonic() > deadline:
            raise Trouble(otherwise)
        time.sleep(0.2)
    return seen


def _events(ada: Rest, task: str) -> list[Any]:
    events: list[Any] = []
    while True:
        page = ada.get(f"tasks/{task}/events/", after=len(events))
        events += page["results"]
        if not page["results"] or len(events) >= page["newest"]:
            return events


def _results(ada: Rest, task: str) -> None:
    chapter(7, _("What is left"))
    done = ada.get(f"tasks/{task}/")
    summary = done["result"]["summary"]
    text = _("{documents} documents read, {findings} findings, {high} high risks; the notice: {notice}")
    fact(_("The task"), text.format(**summary, notice=done["result"]["notice"]))
    files = ada.get(f"tasks/{task}/results/")["results"]
    for file in files:
        fact(file["kind"], f"{file['name']}, {file['size']} B, sha256 {file['sha256'][:16]}…")
    report = next((file for file in files if file["name"].endswith(".md")), None)
    if report is None:
        raise Trouble(_("The report is missing."))
    text = ada.ask("GET", f"tasks/{task}/results/{report['id']}/").text
    say(_("The report begins:"), indent=3)
    quote("\n".join(text.splitlines()[:12]))
