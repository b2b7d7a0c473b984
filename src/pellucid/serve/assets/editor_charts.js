// Pictures in which a part of a function is chosen and moved: before the session, now, and what is being chosen.
function numberLine(detail, chosen) {
  const grid = detail.grids[0], m = grid.points.length, p = grid.points;
  const inside = (i) => (i === m ? chosen.missing : !chosen.only_missing && p[i] >= (chosen.low ?? -Infinity) && p[i] <= (chosen.high ?? Infinity));
  return { grid, m, p, inside };
}

// ``act`` has choose(low, high), preview(shift) and move(shift).
function curveEditor(detail, k, chosen, shift, act, readout) {
  const { grid, m, p, inside } = numberLine(detail, chosen);
  const all = k < 0 ? detail.values.map((_, o) => o) : [k];
  const { points: q, density } = detail.thin, part = detail.beyond && detail.beyond.length > 0;  // rows far out are not drawn
  const low = (part ? q[0] : p[0]) ?? 0, high = (part ? q[q.length - 1] : p[m - 1]) ?? 1, span = high - low || 1, apart = high + 0.14 * span, end = grid.missing ? high + 0.22 * span : high;
  const values = detail.values.map((line, o) => line.map((v, i) => v + (all.includes(o) && inside(i) ? shift : 0)));
  const seen = [...p.keys()].filter((i) => p[i] >= low - 1e-6 * span && p[i] <= high + 1e-6 * span), every = grid.missing ? [...seen, m] : seen;
  const at = (lines) => lines.flatMap((line) => every.map((i) => line[i]));
  const around = [...at(detail.values), ...at(detail.before || []), ...at(values), ...at(all.map((o) => spread(detail, o))).flat()];
  let [bottom, top] = extent(around, [0]);
  const room = top - bottom || 1;
  bottom -= 0.18 * room; top += 0.1 * room;
  const xticks = ticks(low, high, 6).filter((t) => !grid.missing || apart - t > 0.1 * span).map((t) => [t, fmt(t)]);
  if (grid.missing) xticks.push([apart, "missing"]);
  const f = frame(`Curve to edit: ${detail.caption}`, { x: [low, end], y: [bottom, top], xticks, xlabel: grid.feature, width: 620, height: 340 });
  const whole = chosen.low === null && chosen.high === null && !chosen.only_missing && !chosen.missing;
  if (!whole && !chosen.only_missing) {
    const a = f.x(Math.max(chosen.low ?? low, low)), b = f.x(Math.min(chosen.high ?? high, high));
    f.root.append(svg("rect", { class: "chosen", x: a, y: f.top, width: Math.max(b - a, 1.5), height: f.bottom - f.top }));
  }
  const edges = [q[0], ...q.slice(1).map((v, i) => (v + q[i]) / 2), q[q.length - 1]];
  const heights = q.map((_, i) => density[i] / Math.max(edges[i + 1] - edges[i], 1e-12 * span)), most = Math.max(...heights, 0) || 1;
  if (m > 1) heights.forEach((h, i) => f.root.append(svg("rect", { class: "density", x: f.x(edges[i]), width: Math.max(f.x(edges[i + 1]) - f.x(edges[i]), 0.5), y: f.bottom - (30 * h) / most, height: (30 * h) / most })));
  f.root.append(svg("line", { class: "zero", x1: f.left, x2: f.right, y1: f.y(0), y2: f.y(0) }));
  const xs = every.map((i) => f.x(i === m ? apart : p[i])), line = (numbers) => seen.map((i) => [f.x(p[i]), f.y(numbers[i])]);
  for (const o of all) {
    const s = `s${o % 7}`, range = spread(detail, o);
    if (detail.se && shift === 0) f.root.append(svg("path", { class: `band ${s}`, d: path([...line(range.map((r) => r[1])), ...line(range.map((r) => r[0])).reverse()]) + "Z" }));
    if (detail.before) f.root.append(svg("path", { class: "line before", d: path(line(detail.before[o])) }));
    f.root.append(svg("path", { class: `line ${s}`, d: path(line(values[o])) }));
    if (grid.missing) {
      if (detail.before && detail.before[o][m] !== values[o][m]) f.root.append(svg("circle", { class: "before", cx: f.x(apart), cy: f.y(detail.before[o][m]), r: 5 }));
      f.root.append(svg("circle", { class: `dot ${s}`, cx: f.x(apart), cy: f.y(values[o][m]), r: 4 }));
    }
    if (!whole) every.forEach((i, place) => { if (inside(i)) f.root.append(svg("circle", { class: `dot ${s}`, cx: xs[place], cy: f.y(values[o][i]), r: 3 })); });
  }
  beyondMarks(f, detail.beyond, f.x(high));
  const cross = svg("line", { class: "cross", y1: f.top, y2: f.bottom, x1: -9, x2: -9 });
  f.root.append(cross);
  readable(f.root, xs.length, (x) => closest(xs, x), (place) => {
    const i = every[place];
    cross.setAttribute("x1", xs[place]); cross.setAttribute("x2", xs[place]);
    const now = all.map((o) => `${all.length > 1 ? cut(data.task.outputs[o], 16) + " " : ""}${signed(values[o][i])}${detail.before && detail.before[o][i] !== values[o][i] ? ` (was ${signed(detail.before[o][i])})` : ""}`);
    return `${cut(grid.feature, 40)} = ${pointName(grid, i)}: ${now.join(", ")}; ${percent(detail.density[i])} of the rows`;
  }, readout, { ArrowLeft: -1, ArrowRight: 1 });
  dragging(f, { whole, low, high, part, inside: (x) => !whole && (chosen.only_missing ? x > f.x(high + 0.07 * span) : x >= f.x(Math.max(chosen.low ?? low, low)) - 4 && x <= f.x(Math.min(chosen.high ?? high, high)) + 4) }, act);
  return f.root;
}

// From places in the window to places in a picture as it is now: while something is moved, it is drawn anew.
function placeIn(root) {
  const matrix = root.getScreenCTM().inverse();
  return (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
}
// Across: choose a range. Up and down inside it: move it. Arrow keys up and down move too; Enter keeps, Escape forgets.
function dragging(f, range, act) {
  const root = f.root, xOf = scale(f.left, f.right, range.low, range.high + (f.right > f.x(range.high) + 1 ? (range.high - range.low || 1) * 0.22 : 0));
  const yOf = (y) => (f.y(0) - y) / (f.y(0) - f.y(1));
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = placeIn(root), from = at(event), vertical = range.inside(from.x);
    let last = from;
    const box = vertical ? null : svg("rect", { class: "chosen", y: f.top, height: f.bottom - f.top, x: from.x, width: 0 });
    if (box) root.prepend(box);
    const follow = (e) => {
      last = at(e);
      if (vertical) act.preview(yOf(last.y) - yOf(from.y), root);
      else { box.setAttribute("x", Math.min(from.x, last.x)); box.setAttribute("width", Math.abs(last.x - from.x)); }
    };
    const stop = () => {
      window.removeEventListener("pointermove", follow);
      window.removeEventListener("pointerup", stop);
      window.removeEventListener("pointercancel", stop);
      if (vertical) { if (Math.abs(last.y - from.y) > 2) act.move(yOf(last.y) - yOf(from.y)); }
      else if (Math.abs(last.x - from.x) > 4) {
        const [a, b] = [from.x, last.x].sort((u, v) => u - v).map(xOf);
        // up to an edge beyond which there are rows: these too
        act.choose(range.part && a <= range.low ? null : Math.max(a, range.low), range.part && b >= range.high ? null : Math.min(b, range.high));
      } else box.remove();
    };
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", stop);
    window.addEventListener("pointercancel", stop);
    event.preventDefault();
    root.focus();
  });
  root.addEventListener("keydown", (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (step) act.nudge(step * Math.abs(yOf(f.top) - yOf(f.bottom)) / 100);
    else if (event.key === "Enter") act.settle();
    else if (event.key === "Escape") act.forget();
    else return;
    event.preventDefault();
  });
}

// Levels: a click chooses, dragging a dot to the side moves the chosen ones.
function levelEditor(detail, k, chosen, shift, act, readout) {
  const grid = detail.grids[0], n = detail.density.length, all = k < 0 ? detail.values.map((_, o) => o) : [k];
  const name = (i) => pointName(grid, i), isIn = (i) => (i === grid.points.length ? chosen.missing : chosen.levels.has(grid.points[i]));
  const values = detail.values.map((line, o) => line.map((v, i) => v + (all.includes(o) && isIn(i) ? shift : 0)));
  const around = [...values.flat(), ...(detail.before || []).flat(), ...all.flatMap((o) => spread(detail, o).flat())];
  let [low, high] = extent(around, [0]);
  const room = high - low || 1;
  low -= 0.08 * room; high += 0.08 * room;
  const row = Math.max(26, 10 * all.length), height = n * row + 60;
  const f = frame(`Levels to edit: ${detail.caption}`, { x: [low, high], y: [n, 0], left: 170, right: 70, height, width: 620, yticks: [], xlabel: "effect" });
  const most = Math.max(...detail.density, 1e-300), valueOf = scale(f.left, f.right, low, high);
  f.root.append(svg("line", { class: "zero", x1: f.x(0), x2: f.x(0), y1: f.top, y2: f.bottom }));
  detail.density.forEach((share, i) => {
    const y = f.y(i + 0.5);
    if (isIn(i)) f.root.append(svg("rect", { class: "chosen", x: 0, width: f.width, y: f.y(i), height: f.y(i + 1) - f.y(i) }));
    f.root.append(svg("text", { x: f.left - 8, y: y + 4, "text-anchor": "end", class: name(i) === MISSING ? "aside" : null }, cut(name(i), 24), svg("title", null, name(i))),
      svg("rect", { class: "density", x: f.right + 8, y: y - 5, height: 10, width: (50 * share) / most }));
    for (const o of all) {
      const [a, b] = spread(detail, o)[i], lane = y + 8 * (all.indexOf(o) - (all.length - 1) / 2);
      f.root.append(svg("line", { class: `bar s${o % 7}`, x1: f.x(a), x2: f.x(b), y1: lane, y2: lane }));
      if (detail.before && detail.before[o][i] !== values[o][i]) f.root.append(svg("circle", { class: "before", cx: f.x(detail.before[o][i]), cy: lane, r: 6 }));
      f.root.append(svg("circle", { class: `dot s${o % 7}`, cx: f.x(values[o][i]), cy: lane, r: 4.5 }));
    }
  });
  const place = (y) => Math.floor(scale(f.top, f.bottom, 0, n)(y));
  readable(f.root, n, (_, y) => place(y), (i) => `${cut(name(i), 40)}: ${all.map((o) => signed(values[o][i])).join(", ")}; ${percent(detail.density[i])} of the rows${isIn(i) ? "; chosen" : ""}`,
    readout, {});
  f.root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = placeIn(f.root), from = at(event), i = place(from.y);
    if (i < 0 || i >= n) return;
    let last = from;
    const follow = (e) => { last = at(e); if (isIn(i) && Math.abs(last.x - from.x) > 4) act.preview(valueOf(last.x) - valueOf(from.x)); };
    const stop = () => {
      window.removeEventListener("pointermove", follow);
      window.removeEventListener("pointerup", stop);
      window.removeEventListener("pointercancel", stop);
      if (Math.abs(last.x - from.x) <= 4) act.toggle(i);
      else if (isIn(i)) act.move(valueOf(last.x) - valueOf(from.x));
    };
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", stop);
    window.addEventListener("pointercancel", stop);
    event.preventDefault();
  });
  return f.root;
}
