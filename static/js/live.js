// Live pages. The socket only says "events up to n"; this module fetches the fragment and morphs it in.
//
// <div data-live-url="/ws/…" data-live-seq="63" data-fragment-url="/…" id="…"> … </div>
// On every connect it sends {"after": last}; the server answers {"seq": n} at once and whenever more is there.
// What was missed while asleep, hidden or offline is therefore caught up by the same path, never replayed twice.
import * as notes from "./notes.js";
import { word } from "./words.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const QUIET_LIMIT = 45000;

const sign = () => document.querySelector("[data-live-sign]");

class Live {
  constructor(region) {
    this.region = region;
    this.seen = Number(region.dataset.liveSeq ?? 0);
    this.wanted = this.seen;
    this.wait = FIRST_WAIT;
    this.fetching = false;
  }

  connect() {
    clearTimeout(this.timer);
    const url = new URL(this.region.dataset.liveUrl, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.addEventListener("open", () => this.opened(socket));
    socket.addEventListener("message", (event) => this.heard(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => { if (socket === this.socket) this.lost(event); });
  }

  opened(socket) {
    this.wait = FIRST_WAIT;
    this.lastHeard = Date.now();
    socket.send(JSON.stringify({ after: this.seen }));
    this.show("live");
  }

  heard(message) {
    this.lastHeard = Date.now();
    if (typeof message.inbox === "number") showInbox(message.inbox);
    notes.heard(message);
    if (message.gone) return location.assign(message.gone);
    if (typeof message.seq !== "number" || message.seq <= this.seen) return;
    this.wanted = Math.max(this.wanted, message.seq);
    this.refresh();
  }

  async refresh() {
    if (this.fetching) return;
    this.fetching = true;
    try {
      while (this.wanted > this.seen) {
        const upTo = this.wanted;
        this.seen = Math.max(upTo, await this.fetchFragment());
      }
    } catch {
      this.show("stale");
      this.timer = setTimeout(() => this.refresh(), this.nextWait());
    } finally {
      this.fetching = false;
    }
  }

  // Returns the sequence the server drew, if it says so: it may be ahead of what the socket asked for.
  async fetchFragment() {
    const url = new URL(this.region.dataset.fragmentUrl ?? location.href, location.href);
    url.searchParams.set("after", this.seen);
    const answer = await fetch(url, { headers: { "HX-Request": "true", "X-Live": "true" }, credentials: "same-origin" });
    // Signed out, or no longer allowed: the page itself tells what happened.
    if (answer.redirected || answer.headers.has("HX-Redirect") || answer.status === 403 || answer.status === 404) return location.reload() ?? 0;
    if (!answer.ok) throw new Error(`fragment: ${answer.status}`);
    const held = document.activeElement?.id;
    await htmx.swap({ target: this.region, text: await answer.text(), swap: "innerMorph", sourceElement: this.region });
    if (held && document.activeElement?.id !== held) document.getElementById(held)?.focus({ preventScroll: true });
    this.region.dispatchEvent(new CustomEvent("page:changed", { bubbles: true }));
    return Number(answer.headers.get("X-Live-Seq") ?? 0);
  }

  lost(event) {
    if (event.code === 4401 || event.code === 4403) return location.reload();
    this.show("reconnecting");
    this.timer = setTimeout(() => this.connect(), this.nextWait());
  }

  nextWait() {
    const wait = this.wait / 2 + Math.random() * (this.wait / 2);
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
    return wait;
  }

  // A laptop that slept keeps a socket that looks open. Ask again; a dead one is replaced.
  wake() {
    if (document.hidden) return;
    const open = this.socket?.readyState === WebSocket.OPEN;
    if (open && Date.now() - this.lastHeard < QUIET_LIMIT) return this.socket.send(JSON.stringify({ after: this.seen }));
    const old = this.socket;
    this.socket = null;
    old?.close();
    this.wait = FIRST_WAIT;
    this.connect();
  }

  show(state) {
    const shown = sign();
    if (!shown) return;
    shown.dataset.state = state;
    shown.querySelector("[data-live-word]").textContent = word(state);
  }
}

export const showInbox = (count) => {
  const badge = document.getElementById("inbox-count");
  if (!badge) return;
  badge.firstChild.nodeValue = String(count);
  badge.hidden = count === 0;
};

export const start = () => {
  const region = document.querySelector("[data-live-url]");
  if (!region) return;
  const live = new Live(region);
  live.connect();
  document.addEventListener("visibilitychange", () => live.wake());
  addEventListener("pageshow", (event) => { if (event.persisted) live.wake(); });
  addEventListener("online", () => live.wake());
};
