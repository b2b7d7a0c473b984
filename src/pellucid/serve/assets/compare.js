// The model before the session and now, on data; what can be taken away; how programs use it.
function histogramChart(h, label, readout) {
  const n = h.counts.length, lo = h.edges[0], hi = h.edges[n] > lo ? h.edges[n] : lo + 1, most = Math.max(...h.counts, 1);
  const f = frame("Changes of the predictions", { x: [lo, hi], y: [0, most], xlabel: label, ylabel: "rows", height: 260 });
  h.counts.forEach((c, i) => f.root.append(svg("rect", { class: "density", x: f.x(h.edges[i]), width: Math.max(f.x(h.edges[i + 1] > h.edges[i] ? h.edges[i + 1] : hi) - f.x(h.edges[i]) - 1, 1), y: f.y(c), height: f.y(0) - f.y(c) })));
  readable(f.root, n, (x) => Math.min(Math.max(Math.floor(scale(f.left, f.right, 0, n)(x)), 0), n - 1), (i) => `${fmt(h.edges[i])} to ${fmt(h.edges[i + 1])}: ${counted(h.counts[i], "row")}`, readout);
  return f.root;
}
function comparison(made, where) {
  const kind = made.what === "probability" ? "probability" : made.what === "score" ? "score" : "prediction", several = data.task.outputs.length;
  const first = [["rows", String(made.rows)], ["rows with another prediction", `${made.changed} (${percent(made.changed / Math.max(made.rows, 1))})`],
    made.reclassified === null ? null : ["rows in another class", String(made.reclassified)],
    made.mean_change === null ? null : ["mean change", signed(made.mean_change, 4)], ["mean size of the change", fmt(made.mean_size)], ["largest change", fmt(made.largest)]].filter(Boolean);
  const parts = [el("div", { class: "columns-2" }, facts(first, `On ${where}`),
    made.scores.length ? el("div", { class: "card" }, table(["", "before", "now"], made.scores, "Scores. On the rows that the model was fitted to, they are too good, before and now.")) : el("div", { class: "card" }, el("p", { class: "detail" }, `Without a column ${cut(data.target, 40)} there are no scores.`)))];
  if (!made.changed) return [...parts, el("p", { class: "detail" }, "Every prediction is what it was.")];
  const cards = [];
  if (made.scatter) cards.push(watch(figure("Before and now", `Each point is a row; on the line nothing changed.`, (readout) => scatterChart({ title: "Before and now", caption: "", x: made.scatter.x, y: made.scatter.y, rows: made.scatter.rows, diagonal: true, xlabel: `${kind} before`, ylabel: `${kind} now` }, readout))));
  if (made.histogram) cards.push(watch(figure("How far they moved", "The rows whose prediction changed.", (readout) => histogramChart(made.histogram, `change of the ${kind}`, readout))));
  if (made.terms.length) cards.push(el("div", { class: "card" }, el("h3", null, "Terms that changed"), table(["term", "mean size before", "now", "mean difference"], made.terms.map((t) => [cut(t.name, 40), fmt(t.before, 3), fmt(t.after, 3), fmt(t.difference, 3)]))));
  cards.push(el("div", { class: "card" }, el("h3", null, "Rows that changed most"), table(["row", ...(several ? ["class"] : []), "before", "now", "change"], made.rows_changed.map((r) => [String(r.row), ...(several ? [cut(r.output, 24)] : []), fmt(r.before, 5), fmt(r.after, 5), signed(r.after - r.before)]))));
  return [...parts, el("div", { class: "cards", id: "compare-cards" }, cards)];
}
function compareView() {
  const out = el("div", { id: "comparison", class: "stack" });
  const show = async (job, where) => {
    const made = await working("Comparing.", job);
    if (made) out.replaceChildren(...comparison(made, where));
  };
  if (data.size) show(() => ask("api/compare", {}), data.source);
  return [el("section", null, el("h2", null, "Before and after"), el("p", { class: "lead" }, "The model as it was when this session began, and as it is now, on the same rows." + (data.size ? "" : ` Upload a table; with a column ${cut(data.target, 40)} there are scores as well.`)),
    el("div", { class: "controls" }, data.size ? el("button", { type: "button", onclick: () => show(() => ask("api/compare", {}), data.source) }, `On ${cut(data.source, 40)}`) : null,
      upload("compare-file", "On a table", (file, text) => show(() => ask("api/compare", text, "text/csv"), cut(file.name, 60)))),
    el("div", { class: "card" }, el("div", { class: "heading" }, el("h3", null, "Log of edits"), el("button", { type: "button", id: "undo", onclick: undo, disabled: !data.can.undo }, "Undo")), logList()), out)];
}

function exportView() {
  const get = async (d) => {
    const answer = await working(`Writing ${d.title}.`, () => fetched("api/download", { name: d.name }));
    if (answer) keep(await answer.blob(), `model.${d.ending}`);
  };
  return [el("section", { id: "exports" }, el("h2", null, "Take away"), el("p", { class: "lead" }, "The model as it is now, with its edits. The file that the server was started with stays as it is."),
    el("div", { class: "cards small" }, data.downloads.map((d) => el("div", { class: "card" }, el("h3", null, d.title), el("button", { type: "button", "data-download": d.name, onclick: () => get(d) }, `Save model.${d.ending}`)))))];
}

function programsView() {
  const out = el("div", { class: "stack" });
  working("Fetching the description.", () => ask("openapi.json")).then((made) => {
    if (!made) return;
    const post = made.paths["/predict"].post, rows = post.requestBody.content["application/json"], row = made.components.schemas.Row.properties;
    const key = made.security ? " -H 'Authorization: Bearer <token>'" : "", example = JSON.stringify(rows.example, null, 1);
    const curl = `curl ${location.origin}/predict -H 'Content-Type: application/json'${key} -d '${JSON.stringify(rows.example).replaceAll("'", "'\\''")}'`;
    const kind = (s) => [].concat(s.type).join(" or ");
    const schema = (name) => facts(Object.entries(made.components.schemas[name].properties).map(([n, s]) => [n, [kind(s.type ? s : { type: "number, or numbers by class" }), s.description].filter(Boolean).join(". ")]), name);
    const code = (text) => (data.features.length > 12 ? el("details", null, el("summary", null, "Example"), el("pre", null, text)) : el("pre", null, text));
    out.replaceChildren(el("div", { class: "card" }, el("h3", null, "POST /predict"), el("p", null, post.summary + ". JSON with rows, or a CSV table as text/csv."), code(example)),
      el("div", { class: "card" }, el("h3", null, "From a shell"), code(curl)),
      el("div", { class: "card" }, el("h3", null, "From Python"), code(`import httpx\nanswer = httpx.post(${JSON.stringify(location.origin + "/predict")}, json=${example.replaceAll("null", "None")}${made.security ? ', headers={"Authorization": "Bearer <token>"}' : ""})\nanswer.json()["predictions"][0]`)),
      el("div", { class: "columns-2" }, facts(Object.entries(row).map(([n, s]) => [cut(n, 60), [kind(s), s.description, s.examples && s.examples.slice(0, 8).join(", ")].filter(Boolean).join("; ")]), "A row"), schema("Prediction")),
      facts(Object.entries(post.responses).map(([code, r]) => [code, r.description]), "Answers"),
      el("p", null, el("button", { type: "button", onclick: () => keep(new Blob([JSON.stringify(made, null, 2)], { type: "application/json" }), "openapi.json") }, "Save openapi.json")));
  });
  return [el("section", { id: "programs" }, el("h2", null, "For programs"), el("p", { class: "lead" }, "The endpoint answers with the model as it is edited now. Its description is in OpenAPI 3.1, at /openapi.json."), out)];
}
