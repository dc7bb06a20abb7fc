// Keys: / search · g then a letter · j k rows · enter · x select · n new · a r the decision bar · ? help.
// No key decides anything: a and r only bring the person to the bar.
import { open } from "./dialog.js";

const typing = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable], dialog[open]");
const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent);
const rowLink = (row) => (row.matches("a") ? row : row.querySelector("a[data-row-link]") ?? row.querySelector("a"));
let waitingForGo = 0;

const move = (step) => {
  const all = rows();
  if (!all.length) return;
  const here = all.findIndex((row) => row.contains(document.activeElement));
  const shown = all.findIndex((row) => row.matches("[aria-current]"));
  const from = here >= 0 ? here : shown;
  const next = all[Math.min(all.length - 1, Math.max(0, from + step))];
  rowLink(next)?.focus();
};

const focusOn = (selector) => {
  const target = document.querySelector(selector);
  target?.focus();
  return Boolean(target);
};

const press = (key) => {
  switch (key) {
    case "/": return focusOn("#find");
    case "?": return open("help");
    case "j": return move(1), true;
    case "k": return move(-1), true;
    case "n": return follow("[data-key=n]");
    case "a": return focusOn("[data-key=a]");
    case "r": return pressButton("[data-key=r]");
    case "x": return toggle();
    case "g": waitingForGo = Date.now(); return true;
    default: return false;
  }
};

const follow = (selector) => {
  const link = document.querySelector(selector);
  if (link) location.assign(link.href);
  return Boolean(link);
};

const pressButton = (selector) => {
  const button = document.querySelector(selector);
  button?.focus();
  if (button?.dataset.dialogOpen) open(button.dataset.dialogOpen);
  return Boolean(button);
};

const toggle = () => {
  const row = document.activeElement?.closest("[data-pick]") ?? document.activeElement?.closest("[data-row]");
  const box = row?.querySelector("input[type=checkbox]");
  box?.click();
  return Boolean(box);
};

export const start = () => {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (typing(event.target)) {
      if (event.key === "Escape" && event.target.id === "find") event.target.blur();
      return;
    }
    const going = Date.now() - waitingForGo < 1500;
    waitingForGo = 0;
    if (going ? follow(`[data-go="${CSS.escape(event.key)}"]`) : press(event.key)) event.preventDefault();
  });
};
