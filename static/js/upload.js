// Several files, each with its own progress, each removable before the form is sent.
// The markup is components/drop.html; a row is components/file_row.html. XHR because fetch reports no progress.
import { size, word } from "./words.js";

const token = () => document.querySelector("input[name=csrfmiddlewaretoken]")?.value ?? "";

class Zone {
  constructor(zone) {
    this.zone = zone;
    this.list = zone.querySelector("[data-upload-list]");
    this.rows = this.list.querySelector("ul");
    this.status = zone.querySelector("[data-upload-status]");
    this.going = 0;
  }

  add(files) {
    for (const file of files) this.send(file, this.row(file));
  }

  row(file) {
    const row = this.zone.querySelector("template[data-upload-row]").content.firstElementChild.cloneNode(true);
    row.querySelector("[data-file-name]").textContent = file.name;
    row.querySelector("[data-file-remove]").setAttribute("aria-label", word("remove", file.name));
    this.rows.append(row);
    this.list.hidden = false;
    return row;
  }

  send(file, row) {
    const most = Number(this.zone.dataset.maxBytes || Infinity);
    if (file.size > most) return this.mark(row, "failed", word("tooBig", this.zone.dataset.maxWords));
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append("file", file);
    request.open("POST", this.zone.dataset.uploadUrl);
    request.setRequestHeader("X-CSRFToken", token());
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) this.progress(row, (100 * event.loaded) / event.total);
    });
    request.addEventListener("load", () => this.answered(row, request));
    request.addEventListener("error", () => this.finish(row, "failed", word("refused")));
    row.request = request;
    this.going += 1;
    this.announce();
    request.send(body);
  }

  progress(row, share) {
    const percent = Math.floor(share);
    row.querySelector("[data-file-note]").textContent = word("uploading", `${percent} %`);
    row.querySelector("[data-file-track] .fill").setAttribute("width", `${percent}%`);
  }

  answered(row, request) {
    const answer = request.response ?? {};
    if (request.status >= 400 || !answer.id) {
      return this.finish(row, "failed", answer.detail ?? answer.note ?? word("refused"));
    }
    row.dataset.fileId = answer.id;
    row.querySelector("[data-file-name]").textContent = answer.name;
    row.querySelector("[data-file-size]").textContent = Number.isInteger(answer.size) ? size(answer.size) : "";
    const kept = document.createElement("input");
    Object.assign(kept, { type: "hidden", name: this.zone.dataset.field, value: answer.id });
    row.append(kept);
    this.finish(row, answer.verdict ?? "done", answer.note ?? "");
  }

  finish(row, verdict, note) {
    this.going -= 1;
    this.mark(row, verdict, note);
    this.announce();
  }

  mark(row, verdict, note) {
    for (const mark of row.querySelectorAll("[data-mark]")) mark.hidden = mark.dataset.mark !== verdict;
    row.querySelector("[data-file-note]").textContent = note;
    row.querySelector("[data-file-track]").toggleAttribute("hidden", true);
    this.changed();
  }

  remove(row) {
    const name = row.querySelector("[data-file-name]").textContent;
    row.request?.abort();
    if (row.request && row.request.readyState !== XMLHttpRequest.DONE) this.going -= 1;
    if (row.dataset.fileId && this.zone.dataset.removeUrl) {
      const url = this.zone.dataset.removeUrl.replace(/[^/]*$/, "") + encodeURIComponent(row.dataset.fileId) + "/";
      fetch(url, { method: "DELETE", headers: { "X-CSRFToken": token() }, credentials: "same-origin" });
    }
    row.remove();
    this.list.hidden = !this.rows.children.length;
    this.status.textContent = word("removed", name);
    this.zone.querySelector("[data-upload-input]").focus();
    this.changed();
  }

  announce() {
    this.status.textContent = [...this.rows.querySelectorAll("[data-file-note]")].at(-1)?.textContent ?? "";
    this.zone.toggleAttribute("data-busy", this.going > 0);
  }

  changed() {
    this.zone.dispatchEvent(new CustomEvent("upload-changed", { bubbles: true, detail: { going: this.going } }));
  }
}

const wire = (zone) => {
  const uploads = new Zone(zone);
  const area = zone.querySelector("[data-drop-zone]");
  const input = zone.querySelector("[data-upload-input]");
  input.addEventListener("change", () => {
    uploads.add(input.files);
    input.value = "";
  });
  for (const name of ["dragenter", "dragover"]) {
    area.addEventListener(name, (event) => {
      event.preventDefault();
      area.toggleAttribute("data-over", true);
    });
  }
  area.addEventListener("dragleave", () => area.toggleAttribute("data-over", false));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.toggleAttribute("data-over", false);
    uploads.add(event.dataTransfer.files);
  });
  zone.addEventListener("click", (event) => {
    const row = event.target.closest("[data-file-remove]")?.closest("[data-file]");
    if (row) uploads.remove(row);
  });
  // A form must not leave while a file is under way: the task would start without it.
  zone.closest("form")?.addEventListener("submit", (event) => {
    if (uploads.going > 0) {
      event.preventDefault();
      zone.querySelector("[data-mark=running]:not([hidden])")?.scrollIntoView({ block: "center" });
    }
  });
};

export const start = () => document.querySelectorAll("[data-upload]").forEach(wire);
