// Why this prediction: pick a row or type one in; contributions and prediction follow.
const MOST = 12;

function rowsOfBars(items, start, total, unit) {
  let low = Math.min(start, total), high = Math.max(start, total), at = start;
  for (const item of items) { at += item.value; low = Math.min(low, at); high = Math.max(high, at); }
  const span = high - low || 1, side = (v) => (100 * (v - low)) / span;
  const line = (label, detail, from, to, text, kind) => {
    const bar = el("span", { class: `piece ${kind}` });
    bar.style.left = `${Math.min(side(from), side(to))}%`;
    bar.style.width = `${Math.max(Math.abs(side(to) - side(from)), 0.4)}%`;
    return el("tr", { class: kind }, el("th", { scope: "row", title: label }, el("span", { class: "name" }, label), detail && el("span", { class: "detail" }, detail)),
      el("td", { class: "track", "aria-hidden": "true" }, bar), el("td", { class: "value" }, text));
  };
  at = start;
  const body = [line("start", "before any term is added", start, start, fmt(start, 5), "end")];
  for (const item of items) {
    body.push(line(item.label, item.detail, at, at + item.value, signed(item.value, 4), item.value >= 0 ? "up" : "down"));
    at += item.value;
  }
  body.push(line("sum", unit, total, total, fmt(total, 6), "end"));
  return el("table", { class: "waterfall" }, el("caption", { class: "hidden" }, "Contributions to this prediction"), el("tbody", null, body));
}
// Bars to both sides of zero.
function sides(items, caption) {
  const top = Math.max(...items.map((i) => Math.abs(i.value)), 1e-300);
  return el("table", { class: "waterfall" }, el("caption", null, caption),
    el("tbody", null, items.map((item) => {
      const bar = el("span", { class: `piece ${item.value >= 0 ? "up" : "down"}` }), width = (50 * Math.abs(item.value)) / top;
      bar.style.left = `${item.value >= 0 ? 50 : 50 - width}%`;
      bar.style.width = `${Math.max(width, 0.4)}%`;
      return el("tr", null, el("th", { scope: "row", title: item.label }, el("span", { class: "name" }, item.label), item.detail && el("span", { class: "detail" }, item.detail)), el("td", { class: "track", "aria-hidden": "true" }, bar), el("td", { class: "value" }, signed(item.value, 4)));
    })));
}
function largest(items, what = "terms") {
  const sorted = [...items].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const whole = sorted.reduce((sum, item) => sum + Math.abs(item.value), 0);
  let kept = Math.min(MOST, sorted.filter((item) => Math.abs(item.value) >= 1e-3 * whole).length);
  if (kept + 1 >= sorted.length) kept = sorted.length; // one line for one term: the term itself
  if (kept === sorted.length) return sorted;
  const rest = sorted.slice(kept);
  return [...sorted.slice(0, kept), { label: `${rest.length} other ${what}`, detail: "", value: rest.reduce((s, i) => s + i.value, 0) }];
}
function cellText(value) { return value === null ? MISSING : typeof value === "number" ? fmt(value, 6) : String(value); }

function verdict(answers, observed, loo, exposure) {
  const task = data.task, parts = [];
  const out = el("output", { id: "prediction", class: "prediction", "data-value": String(answers[0]), "data-values": JSON.stringify(answers) });
  if (task.kind === "number") out.append(answers.map((v) => fmt(v, 7)).join(", "));
  else {
    out.append(classOf(answers));
    if (answers.length === 1) parts.push(task.kind === "probability" ? `probability of ${task.classes[1]}: ${fmt(answers[0], 5)}` : `score ${fmt(answers[0], 5)}; above 0 means ${task.classes[1]}`);
  }
  if (observed !== null && observed !== undefined) parts.push(`observed: ${typeof observed === "number" ? fmt(observed, 7) : observed}` +
    (exposure ? ` at exposure ${fmt(exposure)}, that is ${fmt(observed / exposure)} per 1` : ""));
  if (loo !== null && loo !== undefined) parts.push(`predicted without this row: ${fmt(loo, 6)}`);
  return el("div", { class: "verdict" }, el("span", { class: "caption" }, task.kind === "number" ? "Prediction" : "Predicted class"), out,
    parts.map((text) => el("span", { class: "detail" }, text)));
}
function shares(answers) {
  if (answers.length < 2 || data.task.kind === "number") return null;
  const order = [...answers.keys()].sort((a, b) => answers[b] - answers[a]).slice(0, 12);
  return el("table", { class: "shares" }, el("caption", null, data.task.kind === "probability" ? "Probabilities" : "Scores"), el("tbody", null, order.map((k) => {
    const bar = el("span", { class: "piece up" });
    bar.style.width = data.task.kind === "probability" ? `${100 * answers[k]}%` : "0";
    return el("tr", null, el("th", { scope: "row" }, cut(data.task.classes[k], 40)), el("td", { class: "track" }, bar), el("td", { class: "value" }, fmt(answers[k], 4)));
  })));
}

function whyPanel() {
  const { rows, page_model: model, features } = data;
  const result = el("div", { id: "result", class: "result" }), message = el("p", { id: "problem", class: "problem", role: "status" });
  const state = { row: rows.index.length ? 0 : null, cells: rows.index.length ? [...rows.cells[0]] : features.map((f) => (f.numeric ? f.low : f.text ? "" : f.levels[0])), output: null };
  const inputs = [];

  const picker = rows.index.length ? el("select", { id: "row", onchange: () => pick(picker.selectedIndex) }, rows.index.map((index, i) => {
    const said = data.task.kind === "number" ? fmt(rows.answers[i][0]) : cut(classOf(rows.answers[i]), 24);
    const seen = rows.observed[i] === null ? "" : `, observed ${typeof rows.observed[i] === "number" ? fmt(rows.observed[i]) : cut(rows.observed[i], 24)}`;
    return el("option", { value: String(i) }, `row ${index}: predicted ${said}${seen}`);
  })) : null;
  const several = model ? model.intercept.length > 1 : rows.why && rows.why.start && rows.why.start.length > 1;
  const names = data.task.outputs.length ? data.task.outputs : several ? (model ? model.intercept : rows.why.start).map((_, k) => `output ${k}`) : [];
  const chooser = several ? el("select", { id: "output", onchange: () => { state.output = chooser.selectedIndex - 1; update(); } },
    el("option", null, data.task.classes ? "the predicted class" : "the first"), names.map((name) => el("option", null, cut(name, 40)))) : null;

  function pick(i) {
    if (i < 0 || i >= rows.index.length) return;
    state.row = i;
    state.cells = [...rows.cells[i]];
    picker.selectedIndex = i;
    inputs.forEach((input, j) => { input.value = features[j].numeric ? (state.cells[j] === null ? "" : String(state.cells[j])) : state.cells[j] === null ? "" : state.cells[j]; });
    update();
  }
  function read() {
    const problems = [], far = [];
    features.forEach((feature, j) => {
      const input = inputs[j], text = input.value.trim();
      let wrong = null;
      if (feature.numeric) {
        if (text === "") { state.cells[j] = null; if (!feature.missing && feature.used) wrong = "needs a number"; }
        else {
          const number = feature.date && /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text.length > 10 ? text + "Z" : text) / 864e5 : Number(text);
          if (!Number.isFinite(number)) wrong = "is not a number (a decimal point, no thousands separators)";
          else { state.cells[j] = number; if (feature.low !== null && feature.used && (number < feature.low || number > feature.high)) far.push(feature.name); }
        }
      } else if (feature.text) {
        const { alphabet } = feature.text;
        state.cells[j] = alphabet ? text.replace(/\s+/g, "") : input.value;
        const strange = alphabet ? [...new Set(state.cells[j])].filter((letter) => !alphabet.includes(letter)) : [];
        if (strange.length) wrong = `has letters that are not in the alphabet ${alphabet}: ${strange.slice(0, 5).join(" ")}`;
      } else { state.cells[j] = input.value === "" ? null : input.value; if (state.cells[j] === null && !feature.missing && feature.used) wrong = "needs a level"; }
      input.setAttribute("aria-invalid", wrong ? "true" : "false");
      if (wrong) problems.push(`${cut(feature.name, 40)} ${wrong}`);
    });
    return { problems, far };
  }
  function update() {
    const { problems, far } = model ? read() : { problems: [], far: [] };
    if (problems.length) {
      message.textContent = `Nothing to compute: ${problems.slice(0, 3).join("; ")}.`;
      result.replaceChildren();
      return;
    }
    message.textContent = far.length ? `Outside the range of the data: ${far.slice(0, 5).map((n) => cut(n, 40)).join(", ")}. The model has seen nothing like it.` : "";
    const same = state.row !== null && state.cells.every((v, j) => v === rows.cells[state.row][j]);
    const observed = same ? rows.observed[state.row] : null, loo = same && rows.loo ? rows.loo[state.row] : null;
    const verdictNow = (answers) => verdict(answers, observed, loo, same && rows.exposure ? rows.exposure[state.row] : null);
    if (model && model.parts) showParts(verdictNow, same);
    else if (model && model.kernel) showKernel(verdictNow, same);
    else if (model) showTerms(verdictNow, same);
    else showStored(verdictNow);
  }
  function outputOf(answers) {
    if (state.output !== null && state.output >= 0) return state.output;
    return answers.length > 1 && data.task.classes ? answers.indexOf(Math.max(...answers)) : 0;
  }
  function carriers(i) {
    return sides(rows.why.values[i].map((value, t) => ({ label: rows.why.names[i][t], value })), "Training rows that carry this prediction: what would be missing from it if the model had been fitted without the row");
  }
  // Without terms, one feature after the other is put at its mean, to see what its value does here.
  function showKernel(verdictNow, same) {
    const { eta, answers } = evaluate(state.cells), k = outputOf(answers);
    const items = features.map((feature, j) => {
      const moved = [...state.cells];
      moved[j] = data.means[j];
      return { label: feature.name, detail: "= " + cellText(state.cells[j]), value: eta[k] - evaluate(moved).eta[k] };
    }).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 20);
    const what = data.task.kind === "number" ? "prediction" : "score" + (names.length ? ` of ${cut(names[k], 30)}` : "");
    result.replaceChildren(verdictNow(answers), same ? "" : el("p", { class: "typed" }, state.row === null ? "" : `Changed from row ${rows.index[state.row]}.`),
      sides(items, `What each value does here: how far the ${what} is from that of the same row with this feature at its mean. These numbers do not add up; features act together.`),
      shares(answers) || "", same && rows.why && rows.why.what === "rows" ? carriers(state.row) : "");
  }
  // The sum over words, fragments or subtrees, and where in the object they are.
  function sumOfParts(items, maps, start, total, name) {
    const unit = data.scale + (name ? `, ${cut(name, 30)}` : "");
    return [pictures(maps), rowsOfBars(items, start, total, unit)].flat(Infinity).filter(Boolean);
  }
  // Kernels that read the same column are drawn on one text.
  function together(maps) {
    const found = new Map();
    for (const map of maps) {
      const before = found.get(map.column);
      found.set(map.column, before ? { ...before, kernel: `${before.kernel} + ${map.kernel}`, values: before.values.map((v, i) => v + map.values[i]) } : map);
    }
    return [...found.values()];
  }
  function showParts(verdictNow, same) {
    const { parts, eta, answers } = evaluate(state.cells), k = outputOf(answers);
    const items = largest(parts.flatMap((part) => part.items(k)), "parts"), maps = together(parts.filter((part) => part.map).map((part) => part.map(k)));
    result.replaceChildren(verdictNow(answers), same || state.row === null ? "" : el("p", { class: "typed" }, `Changed from row ${rows.index[state.row]}.`),
      ...sumOfParts(items, maps, model.intercept[k], eta[k], names.length ? names[k] : ""), shares(answers) || "");
  }
  function showTerms(verdictNow, same) {
    const { contributions, eta, answers } = evaluate(state.cells), k = outputOf(answers);
    const items = contributions.map((values, t) => ({ label: data.terms[t] ? data.terms[t].name : model.terms[t].features.map((j) => features[j].name).join(" × "),
      detail: "= " + model.terms[t].features.map((j) => cut(cellText(state.cells[j]), 24)).join(", "), value: values[k] }));
    const unit = data.scale + (names.length ? `, ${cut(names[k], 30)}` : "");
    result.replaceChildren(verdictNow(answers), same ? "" : el("p", { class: "typed" }, state.row === null ? "" : `Changed from row ${rows.index[state.row]}.`),
      rowsOfBars(largest(items), model.intercept[k], eta[k], unit), shares(answers) || "");
  }
  function showStored(verdictNow) {
    const i = state.row, answers = rows.answers[i], why = rows.why, parts = [verdictNow(answers)];
    if (why && why.what === "rows") parts.push(carriers(i));
    else if (why && why.what === "parts") {
      const told = why.rows[i];
      parts.push(...sumOfParts(told.items.map(([label, detail, value]) => ({ label, detail, value })), told.maps, told.start, told.total, told.output));
    } else if (why) {
      const k = Math.min(outputOf(answers), why.start.length - 1);
      const items = why.values[i][k].map((value, t) => ({ label: why.names[t], detail: "", value }));
      parts.push(rowsOfBars(largest(items), why.start[k], items.reduce((s, item) => s + item.value, why.start[k]), data.scale));
    }
    parts.push(shares(answers) || "");
    if (features.length) parts.push(el("details", { open: features.length <= 12 }, el("summary", null, "Values of the row"), facts(features.map((f, j) => [f.name, cellText(rows.cells[i][j])]))));
    result.replaceChildren(...parts);
  }

  function field(feature, j) {
    const id = `value-${j}`;
    const input = feature.text
      ? el("textarea", { id, rows: 4, autocomplete: "off", autocapitalize: "off", spellcheck: "false", oninput: update })
      : feature.numeric
      ? el("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", oninput: update })
      : el("select", { id, onchange: update }, feature.missing && el("option", { value: "" }, MISSING), feature.levels.map((level) => el("option", { value: level }, cut(level, 60))));
    inputs.push(input);
    const day = (days) => new Date(864e5 * days).toISOString().slice(0, 10);
    const hint = feature.hint ? feature.hint + (feature.text && feature.text.alphabet ? ` out of ${feature.text.alphabet}` : "") : !feature.numeric ? counted(feature.levels.length, "level") : feature.low === null ? "" : feature.date ? `a date, or days since 1970; ${day(feature.low)} to ${day(feature.high)}` : `${fmt(feature.low, 3)} to ${fmt(feature.high, 3)}`;
    return el("div", { class: "field" + (feature.used ? "" : " unused") + (feature.text ? " long" : ""), "data-name": feature.name.toLowerCase() },
      el("label", { for: id, title: feature.name }, feature.name), input, el("span", { class: "hint" }, feature.used ? hint : "not in the model"));
  }
  const fields = model ? features.map(field) : [];
  // many features: those of the most important terms come first, the others on demand
  const rank = new Map([...data.terms.flatMap((t) => t.columns), ...features.keys()].reverse().map((j, i) => [j, -i]));
  const ordered = fields.map((f, j) => [features[j].used ? 0 : 1, rank.get(j), f]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((entry) => entry[2]);
  const first = new Set(fields.length > 24 ? ordered.slice(0, 16) : fields);
  let folded = first.size < fields.length;
  const search = fields.length > 12 ? el("input", { type: "search", id: "find-value", "aria-label": "Find a feature", placeholder: "Find a feature", oninput: () => {
    const wanted = search.value.toLowerCase();
    fields.forEach((f) => { f.hidden = wanted ? !f.dataset.name.includes(wanted) : folded && !first.has(f); });
  } }) : null;
  const rest = first.size < fields.length ? el("button", { type: "button", id: "all-values", onclick: () => {
    folded = false;
    fields.forEach((f) => { f.hidden = false; });
    rest.remove();
  } }, `Show all ${fields.length} features`) : null;
  if (folded) fields.forEach((f) => { f.hidden = !first.has(f); });
  const step = (by) => el("button", { type: "button", onclick: () => pick((state.row === null ? 0 : state.row) + by) }, by < 0 ? "Previous" : "Next");
  const controls = el("div", { class: "controls" },
    picker && el("div", { class: "pick" }, el("label", { for: "row" }, "Row"), picker, step(-1), step(1)),
    chooser && el("div", { class: "pick" }, el("label", { for: "output" }, "Explain"), chooser),
    model && rows.index.length ? el("button", { type: "button", id: "reset", onclick: () => pick(state.row || 0) }, "Undo changes") : null);
  const form = model ? el("form", { class: "form", onsubmit: (event) => event.preventDefault(), novalidate: true, "aria-label": "Values of the row" },
    search, el("div", { class: "fields" }, fields.length > 24 ? ordered : [...fields.filter((_, j) => features[j].used), ...fields.filter((_, j) => !features[j].used)]), rest) : null;
  const text = model
    ? "Pick a row or type values in. The page computes the prediction itself, from the numbers of the model that are stored in it" +
      (data.check === null ? "." : `; on the rows tried, it differs from the model by at most ${data.check === 0 ? "0" : data.check.toExponential(1)} of the size of the predictions.`) +
      (data.task.known.length ? " Predictions here are for exposure 1 and offset 0." : "") +
      (model.parts ? " It counts the words of what is typed, and has a weight for each word of the training rows; words that it has never seen count in the size of a text and add nothing." : "") +
      (model.kernel ? " A kernel model compares a row with its training rows, which are therefore stored in this file." : "")
    : rows.why && rows.why.what === "parts" ? "Rows can be picked. To compute this kernel for something new takes more than a page can carry, so nothing can be typed in: use predict and part_contributions, or the command line."
    : "This model has no formula short enough for a page, so rows of the data can be looked at, but no values typed in. " +
      (rows.why && rows.why.what === "rows" ? "A kernel model predicts from the training rows that resemble the row: those that matter most are shown." : "");
  const panel = el("div", { class: "why" }, el("p", { class: "lead" }, text), controls, el("div", { class: model && features.some((f) => f.text) ? "split stacked" : "split" }, form, el("div", null, message, result)));
  if (rows.index.length) pick(0);
  else if (model) {
    inputs.forEach((input, j) => { input.value = state.cells[j] === null ? "" : String(state.cells[j]); });
    update();
  } else result.append(el("p", null, "No rows were put into this page."));
  return panel;
}
