// Talking to the server. The token comes behind the # of the address and stays in this tab.
let token = null;
function takeToken() {
  const given = /^#token=(.+)$/.exec(location.hash);
  if (given) {
    token = decodeURIComponent(given[1]);
    sessionStorage.setItem("pellucid-token", token);
    history.replaceState(null, "", location.pathname);
  } else token = sessionStorage.getItem("pellucid-token");
}

class Refusal extends Error {
  constructor(status, message) { super(message); this.status = status; }
}
async function fetched(address, body, type = "application/json") {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { headers, cache: "no-store" };
  if (body !== undefined) {
    options.method = "POST";
    headers["Content-Type"] = type;
    options.body = type === "application/json" ? JSON.stringify(body) : body;
  }
  let answer;
  try { answer = await fetch(address, options); } catch { throw new Refusal(0, "The server does not answer. Is it still running?"); }
  if (answer.ok) return answer;
  let message = `The server answers ${answer.status}.`;
  try { message = (await answer.json()).error || message; } catch { /* no JSON: the number has to do */ }
  throw new Refusal(answer.status, message);
}
async function ask(address, body, type) { return (await fetched(address, body, type)).json(); }

// What is going on, read out by screen readers too.
const status = el("p", { class: "status", id: "status", role: "status" });
function say(text, wrong = false) {
  status.textContent = text;
  status.className = wrong ? "status problem" : "status";
}
async function working(what, job) {
  say(what);
  document.body.setAttribute("aria-busy", "true");
  try {
    const result = await job();
    say("");
    return result;
  } catch (error) {
    say(error.message, true);
    return null;
  } finally { document.body.removeAttribute("aria-busy"); }
}

// The state of the model, as the report's functions read it.
function take(payload) {
  for (const key of Object.keys(data)) delete data[key];
  Object.assign(data, payload);
}
function keep(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
function choose(id, label, names, at, change) {
  const node = el("select", { id, onchange: () => change(node.selectedIndex) }, names.map((name) => el("option", null, cut(name, 60))));
  node.selectedIndex = at;
  return el("div", { class: "pick" }, el("label", { for: id }, label), node);
}
function upload(id, label, use) {
  const input = el("input", { type: "file", id, accept: ".csv,.tsv,.txt,text/csv", onchange: async () => {
    const file = input.files[0];
    if (file) await use(file, await file.text());
    input.value = "";
  } });
  return el("div", { class: "pick" }, el("label", { for: id }, label), input);
}
