// Words in the language of the page, written by the server into <template id="words">.
const source = document.getElementById("words")?.dataset ?? {};

export const word = (name, value) => {
  const text = source[name] ?? "";
  return value === undefined ? text : text.replace("%s", value);
};
