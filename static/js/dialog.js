// Native dialogs: data-dialog-open="<id>" opens one, data-dialog-close closes the one around it.
// A dialog that the server wrote with data-dialog-shown opens at once (a form that came back with an error).
// <a href data-sheet> lifts the sheet of another page over this one; without script it is simply that page.
export const open = (id) => {
  const dialog = document.getElementById(id);
  if (dialog && !dialog.open) dialog.showModal();
  return Boolean(dialog);
};

const lift = async (link) => {
  const answer = await fetch(link.href, { credentials: "same-origin" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const sheet = page.querySelector("dialog.sheet");
  if (!answer.ok || !sheet) return location.assign(link.href);
  sheet.removeAttribute("open");
  sheet.dataset.lifted = "yes";
  sheet.addEventListener("close", () => { sheet.remove(); link.focus(); });
  document.querySelector("[data-sheet-place]").replaceChildren(document.adoptNode(sheet));
  sheet.showModal();
};

const close = (event, closer) => {
  const dialog = closer.closest("dialog");
  // A link that closes is the way back when its sheet is a page of its own.
  if (closer.matches("a") && !dialog?.dataset.lifted) return;
  event.preventDefault();
  dialog?.close();
};

export const start = () => {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog-open]");
    const closer = event.target.closest("[data-dialog-close]");
    const link = event.target.closest("a[data-sheet]");
    if (opener) {
      opener.closest("[popover]")?.hidePopover();
      if (open(opener.dataset.dialogOpen)) event.preventDefault();
    } else if (closer) {
      close(event, closer);
    } else if (link && document.querySelector("[data-sheet-place]") && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      lift(link);
    }
  });
  document.querySelector("dialog[data-dialog-shown]")?.showModal();
};
