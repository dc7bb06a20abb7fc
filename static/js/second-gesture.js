// The second gesture: Approve opens when the text that names the target has been typed and every folded
// parameter has been opened. Comfort only; the service checks the same again.
import { word } from "./words.js";

const normal = (text) => text.trim().normalize("NFC");

const judge = (form) => {
  const input = form.querySelector("[data-expected]");
  const button = form.querySelector("[data-armed]");
  if (!button) return;
  const typed = !input || normal(input.value) === normal(input.dataset.expected);
  const folded = [...document.querySelectorAll("details[data-must-open]")].some((part) => !part.dataset.seen);
  input?.setCustomValidity(typed ? "" : word("mismatch"));
  button.disabled = !typed || folded;
  const everything = form.querySelector("[name=everything]");
  if (everything) everything.value = folded ? "" : "on";
  form.toggleAttribute("data-ready", typed && !folded);
  const note = form.querySelector("[data-folded-note]");
  if (note) note.hidden = !folded;
};

const judgeAll = () => document.querySelectorAll("form[data-gesture]").forEach(judge);

export const start = () => {
  judgeAll();
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-gesture]");
    if (form) judge(form);
  });
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.("details[data-must-open]") || !event.target.open) return;
    event.target.dataset.seen = "yes";
    judgeAll();
    document.dispatchEvent(new Event("page:unfolded"));
  }, true);
  document.addEventListener("page:changed", judgeAll);
};
