// The bell: its number is kept live by the socket of the page, or by one of its own where the page has none.
// A note that may ring on the desktop does so in one tab, if this browser was asked to (settings, "This browser").
import { showInbox } from "./live.js";
import { word } from "./words.js";

const CHOICE = "desktop-notes";
const HEARD = "desktop-notes-heard";
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;

const may = () => "Notification" in window && Notification.permission === "granted" && localStorage.getItem(CHOICE) === "on";

const showBell = (count) => {
  const badge = document.getElementById("notes-count");
  if (!badge) return;
  badge.firstChild.nodeValue = String(count);
  badge.hidden = count === 0;
};

// The first look only remembers: what came before this browser listened rings nowhere.
const ring = (newest) => {
  const heard = Number(localStorage.getItem(HEARD) ?? -1);
  if (newest <= heard) return;
  localStorage.setItem(HEARD, String(newest));
  if (heard >= 0 && newest > 0 && may()) new Notification("Countersign", { body: word("note"), tag: `note-${newest}` });
};

export const heard = (message) => {
  if (typeof message.notes === "number") showBell(message.notes);
  if (typeof message.loud === "number") ring(message.loud);
};

class Bell {
  constructor(url) {
    this.url = new URL(url, location.href);
    this.url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.wait = FIRST_WAIT;
  }

  connect() {
    const socket = new WebSocket(this.url);
    socket.addEventListener("open", () => { this.wait = FIRST_WAIT; });
    socket.addEventListener("message", (event) => {
      const message = JSON.parse(event.data);
      if (typeof message.inbox === "number") showInbox(message.inbox);
      heard(message);
    });
    socket.addEventListener("close", (event) => {
      if (event.code === 4401 || event.code === 4403) return;
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
    });
  }
}

const startDesktop = (card) => {
  const button = card.querySelector("[data-desktop-switch]");
  const text = card.querySelector("[data-desktop-word]");
  const show = () => {
    const denied = "Notification" in window && Notification.permission === "denied";
    button.hidden = denied || !("Notification" in window);
    button.textContent = word(may() ? "desktopOff" : "desktopOn");
    text.textContent = word(button.hidden ? "desktopDenied" : may() ? "desktopIsOn" : "desktopIsOff");
  };
  button.addEventListener("click", async () => {
    if (may()) localStorage.setItem(CHOICE, "off");
    else if (await Notification.requestPermission() === "granted") localStorage.setItem(CHOICE, "on");
    show();
  });
  show();
  card.hidden = false;
};

export const start = () => {
  const card = document.querySelector("[data-desktop]");
  if (card) startDesktop(card);
  const bell = document.querySelector("[data-bell-url]");
  if (bell && !document.querySelector("[data-live-url]")) new Bell(bell.dataset.bellUrl).connect();
};
