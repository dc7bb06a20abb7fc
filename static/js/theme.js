// Light, dark, or as the system says; and the zone of this machine. Both live in cookies, so that the server
// writes the page in the right colours and times from its first byte. Loaded in the head, without defer.
(() => {
  const root = document.documentElement;
  const year = 60 * 60 * 24 * 365;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const remember = (name, value) => {
    document.cookie = `${name}=${value}; Path=/; Max-Age=${value ? year : 0}; SameSite=Lax${secure}`;
  };

  const choose = (theme) => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    remember("theme", theme);
    for (const radio of document.querySelectorAll('input[name="theme"]')) radio.checked = radio.value === theme;
  };

  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && zone !== root.dataset.zone) remember("zone", zone);

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-switch]")) return;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    choose(dark ? "light" : "dark");
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches('input[name="theme"]')) choose(event.target.value);
  });
})();
