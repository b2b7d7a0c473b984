// The sections of the report, in reading order.
function sizeText(value, se = null) {
  const share = data.importances && data.importances.share;
  if (!share) return fmt(value, 3) + (se === null ? "" : ` ± ${fmt(se, 2)}`);
  return `${(100 * value).toFixed(1)}${se === null ? "" : ` ± ${(100 * se).toFixed(1)}`} %`;
}
// Terms below 0.1 % stand behind one line that opens.
function fold(count, what, children) {
  const node = el("details", { class: "fold" }, el("summary", null, `${counted(count, what)} below 0.1 %`));
  node.addEventListener("toggle", () => {
    if (node.open && node.children.length === 1) node.append(...children());
  });
  return node;
}
function importanceBars() {
  const all = data.importances, names = all.names, top = Math.max(...all.values, 0) || 1;
  const columns = [[all.edf, "edf"], [all.p, "p"], [all.most_for, "most for"]].filter(([values]) => values);
  const rows = (from, to) => names.slice(from, to).map((name, n) => {
    const i = from + n, bar = el("span", { class: "piece " + (name.includes(" × ") ? "pair" : "up") });
    bar.style.width = `${Math.max((100 * all.values[i]) / top, 0.3)}%`;
    return el("tr", null, el("th", { scope: "row", title: name }, el("span", { class: "name" }, name)), el("td", { class: "track", "aria-hidden": "true" }, bar),
      el("td", { class: "value" }, sizeText(all.values[i], all.se ? all.se[i] : null)), columns.map(([values]) => el("td", { class: "value more" }, cut(values[i], 20))));
  });
  const head = () => el("thead", null, el("tr", null, ["term", "", all.share ? "share" : "size", ...columns.map(([, label]) => label)].map((h, i) => el("th", { scope: "col", class: i > 2 ? "value more" : i === 2 ? "value" : null }, h))));
  const major = names.length - all.minor, first = Math.max(1, Math.min(20, major)), body = el("tbody", null, rows(0, first));
  const more = major > first ? el("button", { type: "button", onclick: () => { body.append(...rows(first, major)); more.remove(); } }, `Show all ${major}`) : null;
  const explained = [`Measured as: ${all.measure}`, names.some((n) => n.includes(" × ")) && "pairs of features in a muted colour",
    all.p && "p is for the hypothesis that the term is zero, with so many effective degrees of freedom (edf)", all.most_for && `the ${data.task.classes ? "class" : "output"} that a term moves most is named`].filter(Boolean);
  return el("div", { class: "card" }, el("table", { class: "bars" }, el("caption", null, explained.join("; ") + "."), head(), body), more,
    all.minor ? fold(all.minor, data.reading === "terms" ? "term" : "feature", () => [el("table", { class: "bars" }, head(), el("tbody", null, rows(major, names.length)))]) : null);
}

function termNumbers(term, outputs) {
  const names = outputs.length ? outputs : ["effect"];
  if (term.kind === "pair") {
    const cells = [];
    term.values[0].forEach((line, i) => line.forEach((_, j) => { if (term.shown[i][j]) cells.push([i, j]); }));
    cells.sort(([i, j], [a, b]) => term.density[a][b] - term.density[i][j]);
    return table([...term.grids.map((g) => g.feature), ...names, "rows"], cells.map(([i, j]) =>
      [pointName(term.grids[0], i), pointName(term.grids[1], j), ...term.values.map((v) => fmt(v[i][j])), percent(term.density[i][j])]), cells.length > MOST_ROWS ? `The ${MOST_ROWS} of ${cells.length} cells with the most rows` : "");
  }
  const outside = (above) => (term.beyond || []).filter((b) => b.above === above).map((b) =>
    [`${above ? "above, up" : "below, down"} to ${fmt(b.to, 5)}`, ...b.values.flatMap((v) => (term.se ? [fmt(v), ""] : [fmt(v)])), percent(b.share)]);
  return table([term.grids[0].feature, ...names.flatMap((n) => (term.se ? [n, "± (95 %)"] : [n])), "rows"], [...outside(false), ...outside(true), ...term.density.map((share, i) =>
    [pointName(term.grids[0], i), ...term.values.flatMap((v, k) => (term.se ? [fmt(v[i]), fmt(1.96 * term.se[k][i], 3)] : [fmt(v[i])])), percent(share)])]);
}

// ``more`` may put something beside the name of a term.
function termCards(more = null) {
  const outputs = data.task.outputs, shown = { output: -1 };
  // the class that was asked for, or the one on which the map has most to show
  const classOfMap = (term) => {
    if (shown.output >= 0 || term.values.length < 2) return Math.max(Math.min(shown.output, term.values.length - 1), 0);
    const sizes = term.values.map((v) => v.reduce((s, line, i) => s + line.reduce((t, x, j) => t + term.density[i][j] * x * x, 0), 0));
    return sizes.indexOf(Math.max(...sizes));
  };
  const cards = data.terms.map((term) => {
    const several = term.values.length > 1 ? outputs : [];
    const badge = term.importance === null ? null : el("span", { class: "badge" }, `importance ${sizeText(term.importance)}`);
    return figure(term.name, term.caption, (readout) => term.kind === "pair" ? mapChart(term, classOfMap(term), several, readout)
      : term.kind === "levels" ? levelChart(term, several, readout) : curveChart(term, several, readout), () => termNumbers(term, several), { badge: more ? [badge, more(term)] : badge });
  });
  const major = cards.filter((_, i) => !data.terms[i].minor), minor = cards.filter((_, i) => data.terms[i].minor);
  const first = 24, holder = el("div", { class: "cards", id: "cards" }, major.slice(0, first));
  major.slice(0, first).forEach(watch);
  const folded = minor.length ? fold(minor.length, "term", () => [el("div", { class: "cards" }, minor.map(watch))]) : null;
  const tools = el("div", { class: "controls" });
  const count = el("span", { class: "detail", "aria-live": "polite" }, major.length > first ? `${first} of ${cards.length} terms, the most important ones` : counted(major.length, "term"));
  const show = (list, all) => {
    holder.replaceChildren(...list);
    list.forEach(watch);
    if (folded) folded.hidden = all;
    count.textContent = `${list.length} of ${cards.length} terms`;
  };
  if (cards.length > 6) {
    const search = el("input", { type: "search", id: "find-term", "aria-label": "Find a term", placeholder: "Find a term", oninput: () => {
      const wanted = search.value.toLowerCase();
      const found = cards.filter((_, i) => data.terms[i].name.toLowerCase().includes(wanted));
      show(wanted ? found : major.slice(0, first), Boolean(wanted));
    } });
    tools.append(search);
  }
  if (major.length > first) tools.append(el("button", { type: "button", id: "all-terms", onclick: () => show(cards, true) }, `Show all ${cards.length}`));
  if (outputs.length && data.terms.some((t) => t.kind === "pair")) {
    const chooser = el("select", { id: "map-output", onchange: () => { shown.output = chooser.selectedIndex - 1; cards.forEach((c, i) => { if (data.terms[i].kind === "pair" && c.rendered) c.render(); }); } }, el("option", null, `the ${data.task.classes ? "class" : "output"} moved most`), outputs.map((name) => el("option", null, cut(name, 40))));
    tools.append(el("label", { for: "map-output" }, "Maps for"), chooser);
  }
  tools.append(count);
  return [tools, holder, folded];
}

function confusionTable(chart) {
  const top = Math.max(...chart.counts.flat(), 1);
  return el("div", { class: "wide" }, el("table", { class: "confusion" }, el("thead", null, el("tr", null, el("th", null, "observed ↓ predicted →"), chart.classes.map((c) => el("th", { scope: "col", title: c }, cut(c, 16))))),
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
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Features of the data" }, el("table", { class: "columns" },
    el("thead", null, el("tr", null, ["feature", "distribution", "smallest", "median", "mean", "largest", "sd", "distinct", "missing"].map((h, i) => el("th", { scope: "col", class: i < 2 ? null : i === 3 || i === 8 ? "value" : "value more" }, h)))),
    el("tbody", null, data.columns.map((c) => el("tr", null, el("th", { scope: "row", title: c.name }, el("span", { class: "name" }, c.name)),
      el("td", null, c.histogram ? sparkline(c.histogram) : ""),
      c.text ? el("td", { colspan: 5, class: "levels" }, c.text) : c.numbers ? c.numbers.map((v, i) => el("td", { class: i === 1 ? "value" : "value more" }, fmt(v))) : el("td", { colspan: 5, class: "levels" }, (c.levels || []).slice(0, 5).map(([n, k]) => `${cut(n, 24)} (${k})`).join(", ") + (c.distinct > 5 ? ", …" : "")),
      el("td", { class: "value more" }, String(c.distinct)), el("td", { class: "value" }, c.missing ? String(c.missing) : "–"))))));
}

const READ = {
  terms: ["What each term does", "The prediction is the sum of these functions. Each picture shows what one term adds for every value of its features, zero being the average over the data. Shaded bands are 95 % intervals where the model has them; grey shapes show where the data are."],
  coefficients: ["What each feature does", "The prediction is a weighted sum of the features, so every effect is a straight line through zero at the mean of the feature. Shaded bands are 95 % intervals where the model has them; grey shapes show where the data are."],
  averages: ["Average predictions", "This model is not a sum of terms. Each picture shows how the prediction changes on average when one feature takes each of its values in every row, the others staying as they are. Where features hang together, such averages include rows that cannot exist."],
  parts: ["Average predictions", "The features beside the sequences, molecules or graphs. Each picture shows how the prediction changes on average when one feature takes each of its values in every row, the others staying as they are."],
  nothing: ["What each term does", "The rows of this model are not features in columns, so there are no effects of features to draw."],
};

function classTable({ rows, loo }) {
  return el("div", { class: "card" }, table(["class", "rows", "found", "right when predicted"], rows,
    `Class by class: how many of its rows are predicted to be in it, and how often a prediction of it is right${loo ? "; each row is predicted by the model fitted without it" : ", on the rows given"}.`));
}

const EVIDENCE = {
  loo: "Leave-one-out predicts each row with the model that was fitted without it. What was chosen on all rows, such as the terms and the strength of smoothing, is not chosen again: with few rows and many candidates, leave-one-out is optimistic about new rows. The scores on the rows given are for comparison; they are too good if the model was fitted on them.",
  held_out: "Rows held out while the model was fitted say what to expect of new rows like these; where a strength was chosen by them, they are slightly too kind. The scores on the rows given are for comparison; they are too good if the model was fitted on them.",
  given: "The scores are on the rows given. If the model was fitted on them, it will do worse on new ones.",
};
function trustText() {
  const { trust, reading } = data;
  if (trust.certificate.length) return trust.own
    ? "The coefficients stand for a kernel model. The certificate tells how closely they follow it, on the rows fitted and on rows held out."
    : "Read as a linear model, this kernel model would have the certificate below: how much of it is linear, and how closely coefficients would follow it.";
  if (reading === "parts") return "Each prediction is an exact sum over the parts of its object, given the size of the object. What would happen without a part can differ, as parts overlap: see deletion_fidelity.";
  return reading === "terms" || reading === "coefficients"
    ? "The model is the sum of what is shown above. The pictures are the model itself, not a simplification of it."
    : "The pictures above are averages over the rows, not the model itself.";
}

// What matters to a reader comes first; how it was made, last.
function sections() {
  const out = [], add = (id, title, lead, ...children) => out.push([id, title, el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), lead && el("p", { class: "lead" }, lead), ...children)]);
  const { fit, score, trust } = data, list = (notes) => el("ul", { class: "notes" }, notes.map((n) => el("li", null, n)));
  add("score", "How good is it?", EVIDENCE[score.loo.length ? "loo" : score.held_out.length ? "held_out" : "given"],
    data.cautions.length ? list(data.cautions) : null,
    el("div", { class: "columns-2" }, facts(score.loo.map(([label, value]) => [label.replace(/^leave-one-out /, ""), value]), "Leave-one-out"), facts(score.held_out, "On rows held out"), facts(score.given, "On the rows given")),
    score.classes && classTable(score.classes));
  add("importance", "What matters", "Longer bars move the predictions more. Importance says nothing about cause and effect.", data.motifs ? motifTable() : data.importances && data.importances.names.length ? importanceBars() : el("p", null, "There is nothing to compare."));
  if (data.reading !== "parts" || data.terms.length) add("terms", READ[data.reading][0], READ[data.reading][1], data.terms.length ? termCards() : null,
    data.left_out ? el("p", { class: "detail" }, `${counted(data.left_out, "term")} of least importance not drawn.`) : null,
    data.absent.length ? el("details", { class: "detail", open: data.absent.length <= 12 }, el("summary", null, `${counted(data.absent.length, "feature")} without effect`), data.absent.map((n) => cut(n, 80)).join(", ")) : null);
  add("why", "Why this prediction?", null, whyPanel());
  for (const s of data.extra) add(s.id, s.title, s.lead, s.notes.length ? list(s.notes) : null,
    s.tables.map((t) => el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": t.title || s.title }, t.title && el("h3", null, t.title), table(t.head, t.rows))));
  add("diagnostics", "Is something wrong with the model?", null, el("div", { class: "cards" }, data.charts.map(chartFigure)));
  add("data", "The data", data.columns.length ? `${counted(data.columns.length, "feature")}, as given.` : "The rows are not a table of features.",
    data.notes.length ? list(data.notes) : el("p", null, "Nothing conspicuous was found."), data.columns.length ? columnTable() : null);
  add("card", "Model card", trustText(), el("div", { class: "columns-2" }, facts(fit.model, "Model"), facts(trust.receipt, "Receipt"), facts(trust.certificate, "Certificate"),
    facts(fit.edits.length ? fit.edits : [["", "none"]], "Edits by hand")));
  add("provenance", "Where it comes from", "The data are recognised by their digest: the same rows, names and values always give the same one.",
    el("div", { class: "columns-2" }, facts(fit.data, "Data"), facts(fit.parameters, "Parameters as given"), facts(fit.versions, "Made with")));
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
