// Choosing rows of the inbox for one decision: only those that are alike. Comfort only; the service checks the same again.
const chosen = new Set();
const boxes = () => [...document.querySelectorAll("input[data-alike]")];

const draw = () => {
  const form = document.getElementById("together");
  if (!form) return;
  const all = boxes();
  const first = all.find((box) => box.checked);
  let unlike = 0;
  for (const box of all) {
    const other = Boolean(first) && box.dataset.alike !== first.dataset.alike;
    box.disabled = other;
    unlike += other;
  }
  const count = all.filter((box) => box.checked).length;
  form.toggleAttribute("data-some", count > 0);
  form.querySelector("[data-together-count]").textContent = count ? String(count) : "";
  form.querySelector("[data-together-unlike]").hidden = unlike === 0;
};

export const start = () => {
  for (const box of boxes()) if (box.checked) chosen.add(box.value);
  draw();
  document.addEventListener("change", (event) => {
    if (!event.target.matches?.("input[data-alike]")) return;
    chosen[event.target.checked ? "add" : "delete"](event.target.value);
    draw();
  });
  // A live list is drawn anew: what was chosen stays chosen.
  document.addEventListener("page:changed", () => {
    for (const box of boxes()) box.checked = chosen.has(box.value);
    draw();
  });
};
