// The sections of the report, in reading order.
function importanceBars() {
  const all = data.importances;
  const top = Math.max(...all.values, 0) || 1, names = all.names;
  const list = (count) => names.slice(0, count).map((name, i) => {
    const bar = el("span", { class: "piece " + (name.includes(" × ") ? "pair" : "up") });
    bar.style.width = `${Math.max((100 * all.values[i]) / top, 0.3)}%`;
    return el("tr", null, el("th", { scope: "row", title: name }, el("span", { class: "name" }, name)), el("td", { class: "track", "aria-hidden": "true" }, bar),
      el("td", { class: "value" }, fmt(all.values[i]) + (all.se ? ` ± ${fmt(all.se[i], 2)}` : "")));
  });
  const first = Math.max(1, Math.min(20, all.values.filter((v) => v > 0).length));
  const body = el("tbody", null, list(first));
  const more = names.length > first ? el("button", { type: "button", onclick: () => { body.replaceChildren(...list(names.length)); more.remove(); } }, `Show all ${names.length}`) : null;
  return el("div", { class: "card" }, el("table", { class: "bars" }, el("caption", null, `Measured as: ${all.measure}` + (names.some((n) => n.includes(" × ")) ? "; pairs of features in a muted colour" : "")), body), more);
}

function termNumbers(term, outputs) {
  const names = outputs.length ? outputs : ["effect"];
  if (term.kind === "pair") {
    const rows = [];
    term.values[0].forEach((line, i) => line.forEach((_, j) => {
      if (term.shown[i][j]) rows.push([pointName(term.grids[0], i), pointName(term.grids[1], j), ...term.values.map((v) => fmt(v[i][j])), percent(term.density[i][j])]);
    }));
    return table([...term.grids.map((g) => g.feature), ...names, "rows"], rows);
  }
  return table([term.grids[0].feature, ...names.flatMap((n) => (term.se ? [n, "± (95 %)"] : [n])), "rows"], term.density.map((share, i) =>
    [pointName(term.grids[0], i), ...term.values.flatMap((v, k) => (term.se ? [fmt(v[i]), fmt(1.96 * term.se[k][i], 3)] : [fmt(v[i])])), percent(share)]));
}

function termCards() {
  const outputs = data.task.outputs, shown = { output: -1 };
  // the class that was asked for, or the one on which the map has most to show
  const classOfMap = (term) => {
    if (shown.output >= 0 || term.values.length < 2) return Math.max(Math.min(shown.output, term.values.length - 1), 0);
    const sizes = term.values.map((v) => v.reduce((s, line, i) => s + line.reduce((t, x, j) => t + term.density[i][j] * x * x, 0), 0));
    return sizes.indexOf(Math.max(...sizes));
  };
  const cards = data.terms.map((term) => {
    const several = term.values.length > 1 ? outputs : [];
    const badge = term.importance === null ? null : el("span", { class: "badge" }, `importance ${fmt(term.importance, 3)}`);
    return figure(term.name, term.caption, (readout) => term.kind === "pair" ? mapChart(term, classOfMap(term), several, readout)
      : term.kind === "levels" ? levelChart(term, several, readout) : curveChart(term, several, readout), () => termNumbers(term, several), { badge });
  });
  const first = 24, holder = el("div", { class: "cards", id: "cards" }, cards.slice(0, first));
  cards.slice(0, first).forEach(watch);
  const tools = el("div", { class: "controls" });
  const count = el("span", { class: "detail", "aria-live": "polite" }, cards.length > first ? `${first} of ${cards.length} terms, the most important ones` : `${cards.length} ${cards.length === 1 ? "term" : "terms"}`);
  const show = (list) => {
    holder.replaceChildren(...list);
    list.forEach(watch);
    count.textContent = `${list.length} of ${cards.length} terms`;
  };
  if (cards.length > 6) {
    const search = el("input", { type: "search", id: "find-term", "aria-label": "Find a term", placeholder: "Find a term", oninput: () => {
      const wanted = search.value.toLowerCase();
      const found = cards.filter((_, i) => data.terms[i].name.toLowerCase().includes(wanted));
      show(wanted ? found : cards.slice(0, first));
    } });
    tools.append(search);
  }
  if (cards.length > first) tools.append(el("button", { type: "button", id: "all-terms", onclick: () => show(cards) }, `Show all ${cards.length}`));
  if (outputs.length && data.terms.some((t) => t.kind === "pair")) {
    const chooser = el("select", { id: "map-output", onchange: () => { shown.output = chooser.selectedIndex - 1; cards.forEach((c, i) => { if (data.terms[i].kind === "pair" && c.rendered) c.render(); }); } }, el("option", null, "the class moved most"), outputs.map((name) => el("option", null, cut(name, 40))));
    tools.append(el("label", { for: "map-output" }, "Maps for"), chooser);
  }
  tools.append(count);
  return [tools, holder];
}

function confusionTable(chart) {
  const top = Math.max(...chart.counts.flat(), 1);
  return el("div", { class: "scroll" }, el("table", { class: "confusion" }, el("thead", null, el("tr", null, el("th", null, "observed ↓ predicted →"), chart.classes.map((c) => el("th", { scope: "col", title: c }, cut(c, 16))))),
    el("tbody", null, chart.counts.map((line, i) => el("tr", null, el("th", { scope: "row", title: chart.classes[i] }, cut(chart.classes[i], 24)), line.map((n, j) => {
      const level = n === 0 ? "h0" : `${i === j ? "p" : "n"}${Math.max(1, Math.round((5 * n) / top))}`;
      return el("td", { class: `cell ${level}` }, String(n));
    }))))));
}
function chartFigure(chart) {
  const draw = { scatter: scatterChart, path: pathChart }[chart.type];
  return watch(figure(chart.title, chart.caption, (readout) => (draw ? draw(chart, readout) : confusionTable(chart)),
    draw ? () => table([chart.xlabel, chart.ylabel], chart.x.map((v, i) => [fmt(v), fmt(chart.y[i])])) : null));
}

function sparkline(counts) {
  const top = Math.max(...counts, 1), each = 96 / counts.length;
  return svg("svg", { viewBox: "0 0 96 22", class: "spark", role: "img", "aria-label": "distribution" }, counts.map((n, i) =>
    svg("rect", { class: "density", x: (i * each).toFixed(2), width: Math.max(each - 0.6, 0.4).toFixed(2), y: (22 - (21 * n) / top).toFixed(2), height: ((21 * n) / top).toFixed(2) })));
}
function columnTable() {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Features of the data" }, el("table", { class: "columns" },
    el("thead", null, el("tr", null, ["feature", "distribution", "smallest", "median", "mean", "largest", "sd", "distinct", "missing"].map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", null, data.columns.map((c) => el("tr", null, el("th", { scope: "row", title: c.name }, el("span", { class: "name" }, c.name)),
      el("td", null, c.histogram ? sparkline(c.histogram) : ""),
      c.numbers ? c.numbers.map((v) => el("td", { class: "value" }, fmt(v))) : el("td", { colspan: 5, class: "levels" }, (c.levels || []).slice(0, 5).map(([n, k]) => `${cut(n, 24)} (${k})`).join(", ") + (c.distinct > 5 ? ", …" : "")),
      el("td", { class: "value" }, String(c.distinct)), el("td", { class: "value" }, c.missing ? String(c.missing) : "–"))))));
}

const READ = {
  terms: ["What each term does", "The prediction is the sum of these functions. Each picture shows what one term adds for every value of its features, zero being the average over the data. Shaded bands are 95 % intervals where the model has them; grey shapes show where the data are."],
  coefficients: ["What each feature does", "The prediction is a weighted sum of the features, so every effect is a straight line through zero at the mean of the feature. Shaded bands are 95 % intervals where the model has them; grey shapes show where the data are."],
  averages: ["Average predictions", "This model is not a sum of terms. Each picture shows how the prediction changes on average when one feature takes each of its values in every row, the others staying as they are. Where features hang together, such averages include rows that cannot exist."],
  nothing: ["What each term does", "The rows of this model are not features in columns, so there are no effects of features to draw."],
};

function sections() {
  const out = [], add = (id, title, lead, ...children) => out.push([id, title, el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), lead && el("p", { class: "lead" }, lead), ...children)]);
  const { fit, score, trust } = data;
  add("fit", "What was fitted on what", "The data are recognised by their digest: the same rows, names and values always give the same one.",
    el("div", { class: "columns-2" }, el("div", { class: "stack" }, facts(fit.model, "Model"), facts(fit.parameters, "Parameters as given")),
      el("div", { class: "stack" }, facts(fit.data, "Data"), facts(fit.versions, "Made with"))),
    el("div", { class: "card" }, facts(fit.edits, "Edits by hand") || el("p", null, "Edits by hand: none.")));
  add("score", "How good is it?", score.loo.length
    ? "Leave-one-out predicts each row with the model that was fitted without it, so it says what to expect of new rows like these. The scores on the rows given are for comparison; they are too good if the model was fitted on them."
    : score.held_out.length
      ? "Rows held out while the model was fitted say what to expect of new rows like these; where a strength was chosen by them, they are slightly too kind. The scores on the rows given are for comparison; they are too good if the model was fitted on them."
      : "The scores are on the rows given. If the model was fitted on them, it will do worse on new ones.",
    el("div", { class: "columns-2" }, facts(score.loo, "Leave-one-out"), facts(score.held_out, "On rows held out"), facts(score.given, "On the rows given")));
  const nothing = !trust.certificate.length && !trust.receipt.length;
  add("trust", trust.receipt.length && !trust.certificate.length ? "Receipt" : "How far can this reading be trusted?", nothing
    ? (data.reading === "terms" || data.reading === "coefficients"
      ? "The model is the sum of what is shown below. The pictures are the model itself, not a simplification of it, so there is nothing to certify."
      : "The pictures below are averages over the rows, not the model itself.")
    : trust.certificate.length ? (trust.own
      ? "The coefficients stand for a kernel model. The certificate tells how closely they follow it, on the rows fitted and on rows held out."
      : "Read as a linear model, this kernel model would have the certificate below: how much of it is linear, and how closely coefficients would follow it.")
      : "What the model says about its own fit.",
    nothing ? null : el("div", { class: "columns-2" }, facts(trust.certificate, "Certificate"), facts(trust.receipt, trust.certificate.length ? "Receipt" : null)));
  add("importance", "What matters", "Longer bars move the predictions more. Importance says nothing about cause and effect.", data.importances && data.importances.names.length ? importanceBars() : el("p", null, "There is nothing to compare."));
  add("terms", READ[data.reading][0], READ[data.reading][1], data.terms.length ? termCards() : null,
    data.left_out ? el("p", { class: "detail" }, `${data.left_out} terms of least importance are not drawn.`) : null,
    data.absent.length ? el("details", { class: "detail", open: data.absent.length <= 12 }, el("summary", null, `${data.absent.length} ${data.absent.length === 1 ? "feature" : "features"} without effect`), data.absent.map((n) => cut(n, 80)).join(", ")) : null);
  add("why", "Why this prediction?", null, whyPanel());
  add("diagnostics", "Is something wrong with the model?", null, el("div", { class: "cards" }, data.charts.map(chartFigure)));
  add("data", "The data", data.columns.length ? `${data.columns.length} features as they were given.` : "The rows are not a table of features.",
    data.notes.length ? el("ul", { class: "notes" }, data.notes.map((n) => el("li", null, n))) : el("p", null, "Nothing conspicuous was found."), data.columns.length ? columnTable() : null);
  return out;
}

// Light or dark as the system says, until somebody chooses; print is always light.
function themeButton() {
  const root = document.documentElement, order = ["auto", "light", "dark"], system = window.matchMedia("(prefers-color-scheme: dark)");
  let at = 0;
  const apply = () => { root.dataset.theme = order[at] === "auto" ? (system.matches ? "dark" : "light") : order[at]; };
  system.addEventListener("change", apply);
  apply();
  const button = el("button", { type: "button", id: "theme", onclick: () => {
    at = (at + 1) % 3;
    apply();
    button.textContent = `Colours: ${order[at]}`;
  } }, "Colours: auto");
  return button;
}

function build() {
  const parts = sections();
  const page = document.getElementById("page");
  page.replaceChildren(
    el("header", null, el("div", { class: "top" }, el("h1", null, data.title), el("div", { class: "buttons" }, themeButton(), el("button", { type: "button", onclick: () => window.print() }, "Print"))),
      el("p", { class: "detail" }, `Report of ${data.made}. This file is complete in itself: it asks nothing of the network.`),
      el("div", { class: "headline" }, data.headline.map(([value, label, detail]) => el("div", { class: "tile" }, el("strong", null, value), el("span", null, label), el("small", null, detail))))),
    el("nav", { "aria-label": "Sections" }, el("ol", null, parts.map(([id, title]) => el("li", null, el("a", { href: `#${id}` }, title))))),
    el("main", { id: "main" }, parts.map((part) => part[2])),
    el("footer", null, "Made with pellucid. In pictures that have the focus, arrow keys move the reading point, Home and End jump."));
}
build();
