// Ages that tick, and instants in the zone of this machine. Mirrors config/ui/spans.py and moments.py.
import { word } from "./words.js";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;

export const span = (seconds, fine = false) => {
  const total = Math.max(0, Math.floor(seconds));
  if (total < MINUTE) return word("s", total);
  if (total < HOUR) {
    const rest = fine && total < 10 * MINUTE ? total % MINUTE : 0;
    return word("min", Math.floor(total / MINUTE)) + (rest ? ` ${word("s", rest)}` : "");
  }
  if (total < DAY) {
    const minutes = Math.floor((total % HOUR) / MINUTE);
    return word("h", Math.floor(total / HOUR)) + (minutes ? ` ${word("min", minutes)}` : "");
  }
  const days = Math.floor(total / DAY);
  return days === 1 ? word("day") : word("days", days);
};

const texts = {
  age: (seconds) => (seconds < 5 ? word("now") : word("ago", span(seconds))),
  since: (seconds) => span(seconds),
  lasting: (seconds) => span(seconds, true),
  left: (seconds) => (seconds >= 0 ? word("over") : word("left", span(-seconds))),
};

// The server's clock is the truth; a machine whose clock is off still shows right ages.
const sent = Date.parse(document.querySelector("template#words")?.dataset.sent ?? "");
const drift = Number.isNaN(sent) ? 0 : sent - Date.now();

const tick = () => {
  const now = Date.now() + drift;
  for (const time of document.querySelectorAll("time[data-tick]")) {
    const text = texts[time.dataset.tick]?.((now - Date.parse(time.dateTime)) / 1000);
    if (text && text !== time.textContent) time.textContent = text;
  }
};

const styles = {
  clock: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  time: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  day: { day: "numeric", month: "short" },
  date: { day: "numeric", month: "long", year: "numeric" },
  stamp: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  full: {
    day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
    hourCycle: "h23", timeZoneName: "short",
  },
};

// Only the very first page can be in another zone than this machine: theme.js has told the server since.
const localise = (root) => {
  const page = document.documentElement;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!page.dataset.zone || page.dataset.zone === zone) return;
  const language = page.lang === "en" ? "en-GB" : page.lang;
  const show = (at, style) => new Intl.DateTimeFormat(language, styles[style]).format(at);
  for (const time of root.querySelectorAll("time[data-when], time[data-tick]")) {
    const at = new Date(time.dateTime);
    time.title = show(at, "full");
    const style = time.dataset.when;
    if (!style) continue;
    const today = new Date().toDateString() === at.toDateString();
    const auto = today ? "clock" : at.getFullYear() === new Date().getFullYear() ? "day" : "date";
    time.textContent = show(at, style === "auto" ? auto : style);
  }
};

export const start = () => {
  localise(document);
  tick();
  setInterval(tick, 1000);
  document.addEventListener("page:changed", (event) => {
    localise(event.target);
    tick();
  });
};
