// Words in the language of the page, written by the server into <template id="words">.
const source = document.getElementById("words")?.dataset ?? {};

// A size in bytes, decimal units. Mirrors config/ui/spans.py.
export const size = (bytes) => {
  if (bytes < 1000) return word("bytes", bytes);
  let amount = bytes;
  for (const unit of ["KB", "MB", "GB", "TB"]) {
    amount /= 1000;
    const digits = amount < 9.95 ? 1 : 0;
    if (Number(amount.toFixed(digits)) < 1000 || unit === "TB") return `${amount.toFixed(digits)} ${unit}`;
  }
  return "";
};

export const word = (name, value) => {
  const text = source[name] ?? "";
  return value === undefined ? text : text.replace("%s", value);
};
