"""One person in one browser profile."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Response, expect

from tests.browser.place import PASSWORD, Place

# A busy machine may need this long for a step of the agent; a page that does not come fails sooner.
PATIENCE = 60_000
RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }
}
THEMES = ("light", "dark")


class Visitor:
    """`email` is empty for somebody who has not signed in. `complaints` is what their browser objected to."""

    def __init__(
        self,
        browser: Browser,
        place: Place,
        email: str,
        passes: dict[str, Any],
        *,
        width: int = 1440,
        height: int = 900,
        language: str = "en-GB",
        touch: bool = False,
    ) -> None:
        self.place, self.email, self.passes = place, email, passes
        self.complaints: list[str] = []
        self.missing: set[str] = set()
        self.context = browser.new_context(
            base_url=place.url,
            viewport={"width": width, "height": height},
            locale=language,
            has_touch=touch,
            timezone_id="Europe/Berlin",
            color_scheme="light",
            reduced_motion="reduce",
            storage_state=passes.get(email),
        )
        self.context.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        self.page = self.new_page()

    def new_page(self) -> Page:
        """One more tab of the same person."""
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))
        page.on("response", self._answered)
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        where = str(message.location.get("url", ""))
        if message.type in {"error", "warning"} and where not in self.missing:
            self.complaints.append(f"{where}: {message.text}")

    def _answered(self, response: Response) -> None:
        if response.status >= 500:
            self.complaints.append(f"{response.url} was answered with {response.status}")

    def sign_in(self) -> None:
        """Through the form, as anybody would; kept for the visitors to come."""
        self.page.goto("/sign-in/")
        self.page.get_by_label("E-mail").fill(self.email)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("navigation", name="Main")).to_be_visible()
        self.passes[self.email] = self.context.storage_state()

    def go(self, path: str, *, status: int = 200) -> Page:
        """Open a page and look at its status; one that is expected to be missing is no complaint."""
        address = path if path.startswith("http") else self.place.url + path
        if status >= 400:
            self.missing.add(address)
        answer = self.page.goto(path)
        assert answer is not None
        assert answer.status == status, f"{path}: {answer.status}"
        return self.page

    def theme(self, name: str) -> None:
        """Show this page in light or dark, without touching what the person chose."""
        self.page.evaluate("name => { document.documentElement.dataset.theme = name; }", name)

    def axe(self) -> None:
        """Nothing that axe knows is wrong with the page as it stands, in both themes."""
        chosen = self.page.evaluate("() => document.documentElement.dataset.theme ?? ''")
        found = []
        for name in THEMES:
            self.theme(name)
            found += [
                f"{name}: {row['id']}: {row['help']}: {[node['html'][:200] for node in row['nodes'][:3]]}"
                for row in Axe().run(self.page, options=RULES).response["violations"]
            ]
        self.page.evaluate(
            "name => { if (name) document.documentElement.dataset.theme = name; "
            "else delete document.documentElement.dataset.theme; }",
            chosen,
        )
        assert found == [], "\n".join([self.page.url, *found])

    def fits(self) -> None:
        """Nothing sticks out at the right, on a wide screen or on a phone."""
        size = self.page.viewport_size
        for width in (1440, 1024, 390):
            self.page.set_viewport_size({"width": width, "height": 900})
            wide = self.page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= width, f"{self.page.url}: {wide} px wide at {width}"
        if size:
            self.page.set_viewport_size(size)

    def leave(self) -> None:
        self.context.close()
