// One row, typed in or picked, and its prediction taken apart; or a whole table.
const typed = { cells: null, row: null, output: -1, known: Object.create(null) };

function day(days) { return new Date(864e5 * days).toISOString().slice(0, 10); }
function shownCell(feature, value) {
  if (value === null || value === undefined) return "";
  return feature.kind === "date" && typeof value === "number" ? day(value) : String(value);
}
function readCell(feature, text) {
  const plain = text.trim();
  if (feature.kind === "category") return [text === "" ? null : text, null];
  if (plain === "") return [null, null];
  if (feature.kind === "date" && /^\d{4}-\d\d-\d\d/.test(plain)) return [plain, null];
  const number = Number(plain.replace("−", "-"));
  return Number.isFinite(number) ? [number, null] : [null, `${cut(feature.name, 40)} is not a number (a decimal point, no thousands separators)`];
}
function answersOf(one) {
  const parts = one.probabilities || one.scores;
  if (!parts) return [].concat(one.prediction);
  const values = Object.values(parts);
  return one.probabilities && values.length === 2 ? [values[1]] : values;
}
function verdictOf(one, observed) {
  const out = el("output", { id: "prediction", class: "prediction", "data-values": JSON.stringify(answersOf(one)) }), notes = [];
  out.append(typeof one.prediction === "number" ? fmt(one.prediction, 7) : cut([].concat(one.prediction).join(", "), 60));
  if (one.probabilities && Object.keys(one.probabilities).length === 2) notes.push(`probability of ${data.task.classes[1]}: ${fmt(one.probabilities[data.task.classes[1]], 5)}`);
  if (one.scores && Object.keys(one.scores).length === 1) notes.push(`score ${fmt(Object.values(one.scores)[0], 5)}; above 0 means ${data.task.classes[1]}`);
  if (one.outside) notes.push(`outside of what training saw: ${one.outside.map((n) => cut(n, 30)).join(", ")}`);
  if (observed !== null && observed !== undefined) notes.push(`observed: ${typeof observed === "number" ? fmt(observed, 7) : observed}`);
  return el("div", { class: "verdict" }, el("span", { class: "caption" }, data.task.classes ? "Predicted class" : `Prediction of ${cut(data.target, 40)}`), out, notes.map((text) => el("span", { class: "detail" }, text)));
}
function inputsOf(name, cells) {
  const one = data.features.find((f) => f.name === name), show = (f) => `${cut(cellText(cells[f.name]), 24)}`;
  if (one) return `= ${show(one)}`;
  const two = name.split(" × ").map((part) => data.features.find((f) => f.name === part));
  return two.length > 1 && two.every(Boolean) ? `= ${two.map(show).join(", ")}` : "";
}
function apart(one, cells) {
  const outputs = data.task.outputs;
  const top = outputs.length ? (typed.output >= 0 ? outputs[typed.output] : String(one.prediction)) : null;
  const pick = (value) => (value !== null && typeof value === "object" ? value[top ?? Object.keys(value)[0]] : value);
  if (one.contributions) {
    const items = Object.entries(one.contributions).map(([label, value]) => ({ label, detail: inputsOf(label, cells), value: pick(value) })).filter((item) => item.value !== 0);
    if (one.offset) items.push({ label: "offset and exposure", detail: "", value: one.offset });
    return rowsOfBars(largest(items), pick(one.intercept), pick(one.sum), data.scale + (top ? `, ${cut(top, 30)}` : ""));
  }
  if (one.moves && Object.keys(one.moves).length) {
    const items = Object.entries(one.moves).map(([label, value]) => ({ label, detail: inputsOf(label, cells), value: pick(value) })).filter((item) => item.value !== 0).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 20);
    if (!items.length) return el("p", { class: "detail" }, "Every value of this row is a usual one.");
    return sides(items, "What each value does here: how far the answer is from that of the same row with this value at a usual one. These numbers do not add up; features act together.");
  }
  return null;
}

function rowForm(changed) {
  const inputs = data.features.map((feature, j) => {
    const id = `value-${j}`, input = feature.kind === "category" && feature.levels.length
      ? el("select", { id, onchange: changed }, el("option", { value: "" }, MISSING), feature.levels.map((level) => el("option", { value: level }, cut(level, 60))))
      : el("input", { id, type: "text", inputmode: feature.kind === "number" ? "decimal" : null, autocomplete: "off", spellcheck: "false", oninput: changed });
    return input;
  });
  const hint = (f) => (f.kind === "category" ? counted(f.levels.length, "level") : f.low === null ? "" : f.kind === "date" ? `${day(f.low)} to ${day(f.high)}` : `${fmt(f.low, 3)} to ${fmt(f.high, 3)}`);
  const nodes = data.features.map((f, j) => el("div", { class: "field" + (f.used ? "" : " unused"), "data-name": f.name.toLowerCase() }, el("label", { for: `value-${j}`, title: f.name }, f.name), inputs[j], el("span", { class: "hint" }, f.used ? hint(f) : "not in the model")));
  const extra = data.known.map((name, k) => {
    const id = `known-${k}`, input = el("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", value: typed.known[name] ?? "", oninput: () => { typed.known[name] = input.value; changed(); } });
    return el("div", { class: "field" }, el("label", { for: id }, name), input, el("span", { class: "hint" }, "if there is one"));
  });
  const rank = new Map([...data.terms.flatMap((t) => t.columns.map((j) => data.features[j] && data.features[j].name)), ...data.features.map((f) => f.name)].reverse().map((name, i) => [name, -i]));
  const order = data.features.map((f, j) => [f.used ? 0 : 1, rank.get(f.name), nodes[j]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((entry) => entry[2]);
  const many = nodes.length > 24, first = new Set(many ? order.slice(0, 16) : order);
  let folded = many;
  if (many) nodes.forEach((node) => { node.hidden = !first.has(node); });
  const search = nodes.length > 12 ? el("input", { type: "search", id: "find-value", "aria-label": "Find a feature", placeholder: "Find a feature", oninput: () => {
    const wanted = search.value.toLowerCase();
    nodes.forEach((node) => { node.hidden = wanted ? !node.dataset.name.includes(wanted) : folded && !first.has(node); });
  } }) : null;
  const rest = many ? el("button", { type: "button", id: "all-values", onclick: () => { folded = false; nodes.forEach((node) => { node.hidden = false; }); rest.remove(); } }, `Show all ${nodes.length} features`) : null;
  return { inputs, form: el("form", { class: "form", onsubmit: (event) => event.preventDefault(), novalidate: true, "aria-label": "Values of the row" }, search, el("div", { class: "fields" }, many ? order : [...nodes.filter((_, j) => data.features[j].used), ...nodes.filter((_, j) => !data.features[j].used)], extra), rest) };
}

function rowsView() {
  const result = el("div", { id: "result", class: "result" }), message = el("p", { id: "problem", class: "problem", role: "status" });
  let turn = 0, timer = null, last = null;
  const update = () => { clearTimeout(timer); timer = setTimeout(send, 120); };
  const { inputs, form } = rowForm(update);
  const enter = (cells) => inputs.forEach((input, j) => { input.value = shownCell(data.features[j], cells[j]); });
  const show = () => {
    if (!last) return;
    const { one, cells, observed } = last;
    result.replaceChildren(verdictOf(one, observed), apart(one, cells) || "", shares(answersOf(one)) || "");
  };
  async function send() {
    const cells = Object.create(null), wrong = []; // a feature may be called __proto__
    data.features.forEach((f, j) => {
      const [value, problem] = readCell(f, inputs[j].value);
      inputs[j].setAttribute("aria-invalid", problem ? "true" : "false");
      if (problem) wrong.push(problem);
      cells[f.name] = value;
    });
    typed.cells = inputs.map((input) => input.value);
    const row = Object.assign(Object.create(null), cells);
    for (const name of data.known) {
      const text = (typed.known[name] || "").trim();
      if (text && !Number.isFinite(Number(text))) wrong.push(`${name} is not a number`);
      else if (text) row[name] = Number(text);
    }
    if (wrong.length) { message.textContent = `Nothing to compute: ${wrong.slice(0, 3).join("; ")}.`; result.replaceChildren(); return; }
    const mine = ++turn;
    try {
      const made = await ask("predict", { rows: [row], moves: true });
      if (mine !== turn) return;
      message.textContent = made.warnings.join(" ");
      const picked = typed.row !== null && data.rows.cells[typed.row].every((v, j) => shownCell(data.features[j], v) === inputs[j].value);
      last = { one: made.predictions[0], cells, observed: picked ? data.rows.observed[typed.row] : null };
      if (data.no_parts && !result.dataset.noted) { result.before(el("p", { class: "detail", id: "note" }, data.no_parts)); result.dataset.noted = "yes"; }
      show();
    } catch (error) { if (mine === turn) { message.textContent = error.message; result.replaceChildren(); } }
  }
  const pick = (i) => {
    if (i < 0 || i >= data.rows.index.length) return;
    typed.row = i;
    if (picker) picker.selectedIndex = i;
    enter(data.rows.cells[i]);
    send();
  };
  const picker = data.rows.index.length ? el("select", { id: "row", onchange: () => pick(picker.selectedIndex) }, data.rows.index.map((index, i) => el("option", null, `row ${index}, observed ${typeof data.rows.observed[i] === "number" ? fmt(data.rows.observed[i]) : cut(data.rows.observed[i], 24)}`))) : null;
  const step = (by) => el("button", { type: "button", onclick: () => pick((typed.row ?? 0) + by) }, by < 0 ? "Previous" : "Next");
  const controls = el("div", { class: "controls" }, picker && el("div", { class: "pick" }, el("label", { for: "row" }, "Row"), picker, step(-1), step(1)),
    data.task.outputs.length ? choose("output", "Explain", ["the predicted class", ...data.task.outputs], typed.output + 1, (i) => { typed.output = i - 1; show(); }) : null);
  if (typed.cells && typed.cells.length === inputs.length) inputs.forEach((input, j) => { input.value = typed.cells[j]; });
  else if (picker) { typed.row = 0; enter(data.rows.cells[0]); }
  else enter(data.features.map((f) => f.middle));
  send();
  return [el("section", { id: "one" }, el("h2", null, "One prediction"), el("p", { class: "lead" }, "Type values in, or pick a row. The server computes with the model as it is edited now."), controls,
    el("div", { class: "split" }, form, el("div", null, message, result))), tableSection()];
}

function csvCell(value) {
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`; // a spreadsheet would compute it
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function tableSection() {
  const out = el("div", { id: "table" });
  const use = async (file, text) => {
    const made = await working(`Predicting ${cut(file.name, 60)}.`, () => ask("predict", text, "text/csv"));
    if (!made) return;
    const rows = made.predictions, parts = rows[0].probabilities ? Object.keys(rows[0].probabilities) : [];
    const flat = rows[0].contributions && !made.outputs ? Object.keys(rows[0].contributions) : [];
    const strongest = (one) => Object.entries(one.contributions).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 3).map(([name, value]) => `${cut(name, 30)} ${signed(value)}`).join(", ");
    const csv = () => [["prediction", ...parts.map((c) => `p_${c}`), ...flat].map(csvCell).join(","),
      ...rows.map((one) => [one.prediction, ...parts.map((c) => one.probabilities[c]), ...flat.map((n) => one.contributions[n])].map(csvCell).join(","))].join("\n") + "\n";
    out.replaceChildren(el("div", { class: "controls" }, el("span", { class: "detail" }, `${counted(rows.length, "row")} of ${cut(file.name, 60)}`), el("button", { type: "button", id: "save-table", onclick: () => keep(new Blob([csv()], { type: "text/csv" }), "predictions.csv") }, "Save all as CSV")),
      el("div", { class: "card wide" }, table(["row", "prediction", ...(parts.length === 2 ? [`p of ${cut(parts[1], 20)}`] : []), ...(flat.length ? ["strongest contributions"] : [])],
        rows.map((one, i) => [String(i + 1), typeof one.prediction === "number" ? fmt(one.prediction, 6) : cut(one.prediction, 30), ...(parts.length === 2 ? [fmt(one.probabilities[parts[1]])] : []), ...(flat.length ? [strongest(one)] : [])]))));
  };
  return el("section", { id: "many" }, el("h2", null, "A table"), el("p", { class: "lead" }, "A CSV file with a line of names, in any order; other columns are left out. It is predicted and forgotten."),
    el("div", { class: "controls" }, upload("table-file", "Table", use)), out);
}
