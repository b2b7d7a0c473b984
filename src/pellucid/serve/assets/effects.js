// What the model has learned: importances and the functions of all terms.
function editLink(term) {
  return data.can.edit ? el("a", { class: "badge", href: `#edit/${encodeURIComponent(term.name)}` }, "Edit") : null;
}
function logList() {
  if (!data.edits.length) return el("p", { class: "detail" }, "No edits yet.");
  return el("ol", { class: "log", id: "log" }, data.edits.map((text, i) => el("li", { class: i < data.edits_before ? "earlier" : null }, text)));
}
function effectsView() {
  const [title, lead] = READ[data.reading];
  return [
    el("section", { id: "importance" }, el("h2", null, "What matters"),
      data.no_parts && el("p", { class: "lead", id: "no-parts" }, data.no_parts),
      data.importances && data.importances.names.length ? importanceBars() : el("p", null, "There is nothing to compare.")),
    el("section", { id: "terms" }, el("h2", null, title), el("p", { class: "lead" }, lead),
      data.terms.length ? termCards(editLink) : null,
      data.left_out ? el("p", { class: "detail" }, `${counted(data.left_out, "term")} of least importance not drawn.`) : null,
      data.absent.length ? el("details", { class: "detail", open: data.absent.length <= 12 }, el("summary", null, `${counted(data.absent.length, "feature")} without effect`), data.absent.map((n) => cut(n, 80)).join(", ")) : null),
  ];
}
function aboutView() {
  return [el("section", null, el("h2", null, "The model"),
    el("p", { class: "lead" }, "Numbers of the fit. After a change by hand without a new fit, those that speak of data are still of the fit before it; Before and after has new ones."),
    el("div", { class: "columns-2" }, facts(data.facts, "Model"), facts(data.parameters, "Parameters as given")))];
}
