// One term: choose a part of it, set, move or smooth it, or take the term out.
const SMOOTH = [["a little", 0.1], ["clearly", 0.3], ["a lot", 1], ["almost straight", 3]];
const editor = { name: null, detail: null, chosen: [], output: -1, shift: 0, refit: false };

function nothingChosen(axis) { return { low: null, high: null, levels: new Set(), missing: false, only_missing: false, axis }; }
function editView(name) {
  if (!data.can.edit) return [el("section", null, el("h2", null, "Edit"), el("p", { class: "lead" }, "This model has no tables that could be changed. Additive kernel machines have: their predictions are look-ups in the curves that are shown."))];
  const names = data.terms.map((t) => t.name);
  const section = el("section", { id: "editor" }, el("h2", null, "Edit a term"),
    el("p", { class: "lead" }, "Choose a part of the function: drag across the picture, or type its ends. Then drag it up or down, or set, move or smooth it. Predictions change with it at once; the dashed line is the function as it was before this session."));
  if (!names.length) return [section];
  const wanted = name || names[0], listed = names.includes(wanted) ? names : [wanted, ...names];
  section.append(el("div", { class: "controls" }, choose("edit-term", "Term", listed, listed.indexOf(wanted), (i) => { location.hash = `#edit/${encodeURIComponent(listed[i])}`; })));
  const holder = el("div", { class: "editor", id: "editor-body" });
  section.append(holder);
  const fresh = editor.name !== wanted;
  working(`Fetching ${cut(wanted, 60)}.`, () => ask("api/term", { term: wanted })).then((detail) => {
    if (!detail) return;
    editor.name = wanted; editor.detail = detail; editor.shift = 0;
    if (fresh) { editor.chosen = detail.axes.map(nothingChosen); editor.output = -1; }
    drawEditor(holder);
  });
  return [section];
}

// The segments as the server takes them; null for the whole term.
function whereOf() {
  const where = Object.create(null);
  for (const c of editor.chosen) {
    const part = {};
    if (c.axis.levels) {
      if (!c.levels.size && !c.missing) continue;
      if (c.levels.size) part.levels = [...c.levels];
      else part.only_missing = true;
      if (c.levels.size && c.missing) part.missing = true;
    } else {
      if (c.low === null && c.high === null && !c.missing && !c.only_missing) continue;
      if (c.only_missing) part.only_missing = true;
      else { part.low = c.low; part.high = c.high; if (c.missing) part.missing = true; }
    }
    where[c.axis.feature] = part;
  }
  return Object.keys(where).length ? where : null;
}
// What has the focus keeps it when the page is drawn anew.
function keepFocus() {
  const at = document.activeElement;
  editor.focus = at && at.id ? `#${at.id}` : at && at.closest(".drawing") ? "#editor-body svg.chart" : null;
}
async function change(wish, what) {
  keepFocus();
  const body = { version: data.version, term: editor.name, ...wish };
  if (editor.output >= 0) body.output = data.task.outputs[editor.output];
  if (editor.refit && data.can.refit) body.refit = true;
  const made = await working(body.refit ? "Fitting the other terms again. This may take a while." : "Changing.", () => ask("api/edit", body));
  editor.shift = 0;
  if (made) { take(made); draw(); say(`${what} Version ${data.version}.`); } else redraw();
}
async function undo() {
  keepFocus();
  const made = await working("Going back.", () => ask("api/undo", { version: data.version }));
  if (made) { take(made); draw(); say(`Undone. Version ${data.version}.`); }
}

let redraw = () => {};
function drawEditor(holder) {
  const { detail, chosen } = editor, several = detail.values.length > 1, pair = detail.kind === "pair", levels = detail.kind === "levels";
  const readout = el("output", { class: "readout", id: "edit-readout", "aria-live": "polite" }), drawing = el("div", { class: "drawing" });
  const act = {
    choose: (low, high) => { chosen[0] = { ...chosen[0], low, high, only_missing: false }; fields(); redraw(); },
    toggle: (i) => {
      const point = detail.grids[0].points[i];
      if (i === detail.grids[0].points.length) chosen[0].missing = !chosen[0].missing;
      else if (!chosen[0].levels.delete(point)) chosen[0].levels.add(point);
      fields(); redraw();
    },
    preview: (shift) => { editor.shift = shift; readout.textContent = `Moving by ${signed(shift)}`; redraw(true); },
    move: (shift) => change({ by: shift, where: whereOf() }, "Moved."),
    nudge: (step) => { editor.shift += step; readout.textContent = `Moving by ${signed(editor.shift)}; Enter keeps it, Escape forgets it.`; redraw(true); },
    settle: () => { if (editor.shift) act.move(editor.shift); },
    forget: () => { editor.shift = 0; readout.textContent = ""; redraw(); },
  };
  redraw = (quick = false) => {
    const focused = drawing.contains(document.activeElement);
    drawing.replaceChildren(pair ? mapChart(detail, Math.max(editor.output, 0), several ? data.task.outputs : [], readout)
      : levels ? levelEditor(detail, editor.output, chosen[0], editor.shift, act, readout) : curveEditor(detail, editor.output, chosen[0], editor.shift, act, readout));
    if (focused && drawing.querySelector("svg")) drawing.querySelector("svg").focus({ preventScroll: true });
    return quick;
  };
  const places = el("div", { class: "places" });
  const fields = () => places.replaceChildren(...chosen.map((c, a) => segmentField(c, a, () => redraw())));
  fields();
  const amount = (id, label, button, send) => {
    const input = el("input", { id, type: "text", inputmode: "decimal", autocomplete: "off" });
    return el("form", { class: "act", onsubmit: (event) => {
      event.preventDefault();
      const value = Number(input.value.trim().replace("−", "-"));
      const wrong = input.value.trim() === "" || !Number.isFinite(value);
      input.setAttribute("aria-invalid", wrong ? "true" : "false");
      if (wrong) say(`${label} needs a number.`, true);
      else send(value);
    } }, el("label", { for: id }, label), input, el("button", { type: "submit" }, button));
  };
  const smooth = el("select", { id: "smooth-by" }, SMOOTH.map(([text]) => el("option", null, text)));
  smooth.selectedIndex = 1;
  const numeric = detail.axes.some((axis) => !axis.levels);
  const tools = el("div", { class: "card tools" }, el("h3", null, "Which part"), places,
    several ? choose("edit-output", "Class", ["all classes", ...data.task.outputs], editor.output + 1, (i) => { editor.output = i - 1; redraw(); }) : null,
    el("h3", null, "What to do"),
    amount("set-to", "Set to", "Set", (value) => change({ to: value, where: whereOf() }, "Set.")),
    amount("move-by", "Move by", "Move", (value) => change({ by: value, where: whereOf() }, "Moved.")),
    numeric ? el("form", { class: "act", onsubmit: (event) => { event.preventDefault(); change({ smooth: SMOOTH[smooth.selectedIndex][1] }, "Smoothed."); } },
      el("label", { for: "smooth-by" }, "Smooth all of it"), smooth, el("button", { type: "submit", id: "smooth" }, "Smooth")) : null,
    el("div", { class: "act" }, el("span", null, "Take the term out"), el("button", { type: "button", id: "remove", onclick: () => change({ remove: true }, "Removed.") }, "Remove")),
    data.can.refit ? el("label", { class: "tick" }, el("input", { type: "checkbox", id: "refit", checked: editor.refit, onchange: (event) => { editor.refit = event.target.checked; } }), "then fit the other terms again to the data")
      : el("p", { class: "detail" }, "The other terms stay as they are: there are no data to fit them to."));
  const before = detail.before && !pair ? el("div", { class: "legend" }, el("span", null, el("i", { class: "key dashed" }), "before this session")) : null;
  holder.replaceChildren(
    el("figure", { class: "card wideedit" }, el("div", { class: "heading" }, el("h3", null, editor.name)), drawing, several && !pair ? legend(data.task.outputs) : null, before, readout, el("figcaption", null, detail.caption)),
    el("div", { class: "stack" }, tools, el("div", { class: "card" }, el("div", { class: "heading" }, el("h3", null, "Log of edits"),
      el("button", { type: "button", id: "undo", onclick: undo, disabled: !data.can.undo }, "Undo")), logList())));
  redraw();
  const again = editor.focus && document.querySelector(editor.focus);
  if (again) again.focus({ preventScroll: true });
  editor.focus = null;
}

function segmentField(c, a, changed) {
  const { axis } = c;
  if (axis.levels) {
    const box = (text, on, flip) => el("label", { class: "tick" }, el("input", { type: "checkbox", checked: on, onchange: flip }), cut(text, 40));
    const boxes = axis.levels.slice(0, 255).map((level) => box(level, c.levels.has(level), () => { if (!c.levels.delete(level)) c.levels.add(level); changed(); }));
    if (axis.missing) boxes.push(box(MISSING, c.missing, () => { c.missing = !c.missing; changed(); }));
    return el("fieldset", null, el("legend", null, `Levels of ${cut(axis.feature, 40)}; none means all`), el("div", { class: "ticks" }, boxes));
  }
  const end = (key, label) => {
    const id = `${key}-${a}`;
    const input = el("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", placeholder: fmt(axis[key], 5), value: c[key] === null ? "" : String(Number(c[key].toPrecision(8))), onchange: () => {
      const text = input.value.trim().replace("−", "-"), value = Number(text), wrong = text !== "" && !Number.isFinite(value);
      input.setAttribute("aria-invalid", wrong ? "true" : "false");
      if (!wrong) { c[key] = text === "" ? null : value; changed(); }
    } });
    return el("div", { class: "field" }, el("label", { for: id }, label), input);
  };
  const gap = axis.missing ? el("label", { class: "tick" }, el("input", { type: "checkbox", id: `gap-${a}`, checked: c.only_missing, onchange: (event) => { c.only_missing = event.target.checked; changed(); } }), "only where the value is missing") : null;
  return el("fieldset", null, el("legend", null, cut(axis.feature, 50)), el("div", { class: "ends" }, end("low", "From"), end("high", "To")), gap);
}
