// Native dialogs: data-dialog-open="<id>" opens one, data-dialog-close closes the one around it.
// A dialog that the server wrote with data-dialog-shown opens at once (a form that came back with an error).
export const open = (id) => {
  const dialog = document.getElementById(id);
  if (dialog && !dialog.open) dialog.showModal();
  return Boolean(dialog);
};

export const start = () => {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog-open]");
    if (opener) {
      opener.closest("[popover]")?.hidePopover();
      if (open(opener.dataset.dialogOpen)) event.preventDefault();
      return;
    }
    if (event.target.closest("[data-dialog-close]")) event.target.closest("dialog")?.close();
    // A click on the scrim is a click on the dialog itself, outside its box.
    if (event.target.matches("dialog[closedby=any]") && !event.target.matches(":focus-within")) event.target.close();
  });
  document.querySelector("dialog[data-dialog-shown]")?.showModal();
};
