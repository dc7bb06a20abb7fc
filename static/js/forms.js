// Forms: one click sends once; what the button says while it works; copy buttons; the choice that names itself; long forms
// whose entries would be lost ask before they are left.
import { word } from "./words.js";

const once = (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method === "dialog") return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "yes";
  // The button keeps its name and value in the request, so it is only marked, never disabled before that.
  event.submitter?.setAttribute("aria-busy", "true");
  setTimeout(() => { delete form.dataset.sent; }, 4000);
};

const copy = async (button) => {
  const source = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(source.textContent.trim());
  button.querySelector("[data-copy-word]").textContent = word("copied");
};

// A submit button that repeats the chosen answer: <button data-names-choice="answer">, <input data-submit-words="…">.
const nameChoice = (input) => {
  const button = input.form?.querySelector(`[data-names-choice="${CSS.escape(input.name)}"]`);
  if (button && input.dataset.submitWords) button.textContent = input.dataset.submitWords;
  for (const part of input.form?.querySelectorAll(`[data-only-for^="${CSS.escape(input.name)}="]`) ?? []) {
    const on = part.dataset.onlyFor === `${input.name}=${input.value}`;
    for (const field of part.querySelectorAll("input, textarea, select")) field.disabled = !on;
  }
};

// <form data-keep>: what was typed and not sent. A field with data-aside is only tried out.
let unsaved = false;
const typed = (event) => {
  if (event.target.form?.hasAttribute("data-keep") && !event.target.hasAttribute("data-aside")) unsaved = true;
};

// <textarea data-as-file="file">: a long text travels as the file of that name, because a form's own part of a request is small.
// A chosen file counts more than the text.
const LONG = 500_000;
const asFile = (event) => {
  for (const area of event.target.querySelectorAll("textarea[data-as-file]")) {
    const name = area.dataset.asFile;
    const chosen = event.formData.get(name)?.size > 0;
    if (!chosen && area.value.length < LONG) continue;
    event.formData.set(area.name, "");
    if (!chosen) event.formData.set(name, new File([area.value], "pasted.txt"));
  }
};

export const start = () => {
  unsaved = document.querySelector("form[data-keep=unsaved]") !== null;
  document.addEventListener("input", typed);
  document.addEventListener("submit", () => { unsaved = false; });
  addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
  document.addEventListener("submit", once);
  document.addEventListener("formdata", asFile);
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
    for (const button of document.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
    if (event.target.closest("[data-print]")) print();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[type=radio]")) nameChoice(event.target);
  });
  document.querySelectorAll("input[type=radio]:checked").forEach(nameChoice);
};
