// The views, and which of them is shown: the part of the address behind the #.
const VIEWS = [["effects", "Effects", effectsView], ["edit", "Edit", editView], ["rows", "Predictions", rowsView], ["compare", "Before and after", compareView],
  ["export", "Take away", exportView], ["programs", "For programs", programsView], ["about", "The model", aboutView]];
const theme = themeButton();

function route() {
  const [view, rest] = location.hash.slice(1).split(/\/(.*)/s);
  let name = null;
  try { name = rest === undefined ? null : decodeURIComponent(rest); } catch { /* not a name of ours */ }
  const found = VIEWS.find(([id]) => id === view && (id !== "edit" || data.can.edit));
  return found ? [found, name] : [VIEWS[0], null];
}
function draw() {
  const [[id, , view], name] = route();
  document.title = `${data.title} – pellucid`;
  document.getElementById("page").replaceChildren(
    el("header", null, el("div", { class: "top" }, el("h1", null, data.title), el("div", { class: "buttons" }, theme)),
      id !== "effects" ? null : el("div", { class: "headline" }, data.headline.map(([value, label, detail]) => el("div", { class: "tile" }, el("strong", null, value), el("span", null, label), el("small", null, detail))))),
    el("nav", { "aria-label": "Views" }, el("ol", null, VIEWS.filter(([v]) => v !== "edit" || data.can.edit).map(([v, title]) => el("li", null, el("a", { href: `#${v}`, "aria-current": v === id ? "page" : null }, title))))),
    el("main", { id: "main", tabindex: -1 }, status, view(name)),
    el("footer", null, "Made with pellucid. In pictures that have the focus, arrow keys move the reading point, Home and End jump; while editing, up and down move what is chosen."));
}
function askToken(message) {
  const input = el("input", { id: "token", type: "password", autocomplete: "off" });
  document.getElementById("page").replaceChildren(el("main", { id: "main" }, el("h1", null, "Token"), el("p", { class: "lead" }, message),
    el("form", { class: "controls", onsubmit: (event) => { event.preventDefault(); token = input.value.trim(); sessionStorage.setItem("pellucid-token", token); begin(); } }, el("label", { for: "token" }, "Token"), input, el("button", { type: "submit" }, "Open"))));
}
async function begin() {
  try {
    take(await ask("api/page"));
    draw();
  } catch (error) {
    if (error.status === 401) askToken(token ? "This token is not the right one." : "The program that started this server told an address with the token.");
    else document.getElementById("page").replaceChildren(el("main", null, el("p", { class: "problem" }, error.message)));
  }
}
window.addEventListener("hashchange", () => {
  if (/^#token=/.test(location.hash)) { takeToken(); begin(); return; }
  if (location.hash === "#main") return;
  draw();
  say("");
  document.getElementById("main").focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
takeToken();
begin();
