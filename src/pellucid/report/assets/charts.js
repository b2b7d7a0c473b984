// Curves, levels and points as SVG, each readable with the pointer and with the arrow keys.
const WIDE = 440, HIGH = 250;

function frame(alt, spec) {
  const yticks = spec.yticks || ticks(spec.y[0], spec.y[1], 5).map((v) => [v, fmt(v)]);
  const longest = Math.max(...yticks.map((t) => t[1].length), 2);
  const { left = 16 + 6.8 * longest + (spec.ylabel ? 14 : 0), right = 12, top = 10, bottom = 40, width = WIDE, height = HIGH } = spec;
  const x = scale(spec.x[0], spec.x[1], left, width - right);
  const y = scale(spec.y[0], spec.y[1], height - bottom, top);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": alt, tabindex: 0, class: "chart" });
  const grid = svg("g", { class: "grid" });
  for (const t of yticks) {
    grid.append(svg("line", { x1: left, x2: width - right, y1: y(t[0]), y2: y(t[0]) }),
      svg("text", { x: left - 6, y: y(t[0]) + 4, "text-anchor": "end" }, t[1]));
  }
  for (const t of spec.xticks || ticks(spec.x[0], spec.x[1], 5).map((v) => [v, fmt(v)])) {
    grid.append(svg("line", { x1: x(t[0]), x2: x(t[0]), y1: top, y2: height - bottom, class: "faint" }),
      svg("text", { x: x(t[0]), y: height - bottom + 16, "text-anchor": "middle" }, t[1]));
  }
  if (spec.xlabel) grid.append(svg("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle", class: "label" },
    cut(spec.xlabel, 44), svg("title", null, spec.xlabel)));
  if (spec.ylabel) grid.append(svg("text", { transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "label" },
    cut(spec.ylabel, 34), svg("title", null, spec.ylabel)));
  root.append(grid);
  return { root, x, y, left, right: width - right, top, bottom: height - bottom, width, height };
}

// Let pointer and keys choose one of the points; show(i) marks it and returns what to read out.
function readable(root, count, nearest, show, readout, move) {
  let at = -1;
  const choose = (i) => {
    if (i === null || i < 0 || i >= count || i === at) return;
    at = i;
    readout.textContent = show(i);
  };
  const locate = (event) => {
    const matrix = root.getScreenCTM();
    if (!matrix) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    choose(nearest(point.x, point.y));
  };
  root.addEventListener("pointermove", locate);
  root.addEventListener("pointerdown", locate);
  root.addEventListener("keydown", (event) => {
    const step = (move || { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1 })[event.key];
    if (step !== undefined) choose(Math.min(Math.max((at < 0 ? 0 : at + step), 0), count - 1));
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(count - 1);
    else return;
    event.preventDefault();
  });
}
function closest(positions, x) {
  let best = 0;
  positions.forEach((p, i) => { if (Math.abs(p - x) < Math.abs(positions[best] - x)) best = i; });
  return best;
}
function path(points) { return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join(""); }

const MISSING = "(missing)";
function pointName(grid, i) { return i === grid.points.length ? MISSING : grid.levels ? grid.points[i] : fmt(grid.points[i], 5); }
function spread(term, k, z = 1.96) {
  const se = term.se ? term.se[k] : null;
  return term.values[k].map((v, i) => (se ? [v - z * se[i], v + z * se[i]] : [v, v]));
}
function legend(names) {
  if (names.length < 2) return null;
  return el("div", { class: "legend" }, names.map((name, k) =>
    el("span", { title: name }, el("i", { class: `key s${k % 7}` }), cut(name, 24))));
}

// At the edges: how far rows reach that lie outside of the picture.
function beyondMarks(f, beyond, right) {
  for (const b of beyond || []) {
    const at = b.above ? right : f.left, way = b.above ? 1 : -1;
    f.root.append(svg("path", { class: "outside", d: `M${at - 9 * way} ${f.top + 3}L${at - 1 * way} ${f.top + 8}L${at - 9 * way} ${f.top + 13}Z` }),
      svg("text", { x: at - 13 * way, y: f.top + 12, "text-anchor": b.above ? "end" : "start", class: "small" },
        `${fmt(100 * b.share, 2)} % ${b.above ? "up" : "down"} to ${fmt(b.to)}${b.values.length === 1 ? `: ${signed(b.values[0])}` : ""}`));
  }
}

function curveChart(term, outputs, readout) {
  const grid = term.grids[0], m = grid.points.length, points = grid.points;
  const shown = term.values.map((_, k) => k);
  const [low, high] = extent(points), span = high - low || 1;
  const apart = high + 0.14 * span, end = grid.missing ? high + 0.22 * span : high;
  const around = shown.flatMap((k) => spread(term, k).flat());
  let [bottom, top] = extent(around, [0]);
  const room = top - bottom || 1;
  bottom -= 0.18 * room; top += (term.beyond && term.beyond.length ? 0.14 : 0.04) * room;
  const xticks = ticks(low, high, 5).filter((t) => !grid.missing || apart - t > 0.14 * span).map((t) => [t, fmt(t)]);
  if (grid.missing) xticks.push([apart, "missing"]);
  const f = frame(`Curve: ${term.caption}`, { x: [low, end], y: [bottom, top], xticks, xlabel: grid.feature });
  // where the data are, as density: share of the rows by width
  const edges = [points[0], ...points.slice(1).map((p, i) => (p + points[i]) / 2), points[m - 1]];
  const heights = points.map((_, i) => term.density[i] / Math.max(edges[i + 1] - edges[i], 1e-12 * span));
  const most = Math.max(...heights, 0) || 1;
  if (m > 1) heights.forEach((h, i) => f.root.append(svg("rect", {
    class: "density", x: f.x(edges[i]), width: Math.max(f.x(edges[i + 1]) - f.x(edges[i]), 0.5),
    y: f.bottom - (26 * h) / most, height: (26 * h) / most })));
  f.root.append(svg("line", { class: "zero", x1: f.left, x2: f.right, y1: f.y(0), y2: f.y(0) }));
  if (grid.missing) f.root.append(svg("line", { class: "apart", x1: f.x(high + 0.07 * span), x2: f.x(high + 0.07 * span), y1: f.top, y2: f.bottom }));
  for (const k of shown) {
    const s = `s${k % 7}`, range = spread(term, k);
    if (term.se) f.root.append(svg("path", { class: `band ${s}`, d: path([
      ...points.map((p, i) => [f.x(p), f.y(range[i][1])]),
      ...points.map((p, i) => [f.x(p), f.y(range[i][0])]).reverse()]) + "Z" }));
    f.root.append(svg("path", { class: `line ${s}`, d: path(points.map((p, i) => [f.x(p), f.y(term.values[k][i])])) }));
    if (grid.missing) {
      const x = f.x(apart) + 5 * (k - (shown.length - 1) / 2);
      f.root.append(svg("line", { class: `bar ${s}`, x1: x, x2: x, y1: f.y(range[m][0]), y2: f.y(range[m][1]) }),
        svg("circle", { class: `dot ${s}`, cx: x, cy: f.y(term.values[k][m]), r: 4 }));
    }
  }
  beyondMarks(f, term.beyond, f.x(high));
  const cross = svg("line", { class: "cross", y1: f.top, y2: f.bottom, x1: -9, x2: -9 });
  const marks = shown.map((k) => svg("circle", { class: `mark s${k % 7}`, r: 4, cx: -9, cy: -9 }));
  f.root.append(cross, ...marks);
  const xs = [...points.map((p) => f.x(p)), ...(grid.missing ? [f.x(apart)] : [])];
  readable(f.root, xs.length, (x) => closest(xs, x), (i) => {
    cross.setAttribute("x1", xs[i]); cross.setAttribute("x2", xs[i]);
    marks.forEach((mark, k) => { mark.setAttribute("cx", xs[i]); mark.setAttribute("cy", f.y(term.values[k][i])); });
    const values = shown.map((k) => `${shown.length > 1 ? cut(outputs[k], 16) + " " : ""}${signed(term.values[k][i])}` +
      (term.se ? ` (±${fmt(1.96 * term.se[k][i], 2)})` : ""));
    return `${cut(grid.feature, 40)} = ${pointName(grid, i)}: ${values.join(", ")}; ${percent(term.density[i])} of the rows`;
  }, readout);
  return el("div", null, f.root, legend(shown.length > 1 ? outputs : []));
}

function levelChart(term, outputs, readout) {
  const grid = term.grids[0], all = term.density.length;
  let keep = [...Array(all).keys()];
  if (all > 25) keep = keep.sort((a, b) => term.density[b] - term.density[a]).slice(0, 25).sort((a, b) => a - b);
  const row = Math.max(20, 9 * term.values.length), height = keep.length * row + 60;
  const around = term.values.flatMap((_, k) => keep.flatMap((i) => spread(term, k)[i]));
  let [low, high] = extent(around, [0]);
  const room = high - low || 1;
  low -= 0.05 * room; high += 0.05 * room;
  const f = frame(`Levels: ${term.caption}`, { x: [low, high], y: [keep.length, 0], left: 128, right: 52, height, yticks: [],
    xlabel: all > 25 ? `effect; the 25 of ${all} levels with the most rows` : "effect" });
  const most = Math.max(...keep.map((i) => term.density[i]), 1e-300);
  f.root.append(svg("line", { class: "zero", x1: f.x(0), x2: f.x(0), y1: f.top, y2: f.bottom }));
  const stripe = svg("rect", { class: "stripe", x: 0, width: f.width, height: row, y: -99 });
  f.root.append(stripe);
  keep.forEach((i, place) => {
    const name = pointName(grid, i), y = f.y(place + 0.5);
    f.root.append(svg("text", { x: f.left - 8, y: y + 4, "text-anchor": "end", class: name === MISSING ? "aside" : null },
      cut(name, 18), svg("title", null, name)),
    svg("rect", { class: "density", x: f.right + 8, y: y - 5, height: 10, width: (36 * term.density[i]) / most }));
    term.values.forEach((values, k) => {
      const s = `s${k % 7}`, [a, b] = spread(term, k)[i];
      const at = y + 7 * (k - (term.values.length - 1) / 2);
      f.root.append(svg("line", { class: `bar ${s}`, x1: f.x(a), x2: f.x(b), y1: at, y2: at }),
        svg("circle", { class: `dot ${s}`, cx: f.x(values[i]), cy: at, r: 4 }));
    });
  });
  readable(f.root, keep.length, (x, y) => Math.floor(scale(f.top, f.bottom, 0, keep.length)(y)), (place) => {
    const i = keep[place];
    stripe.setAttribute("y", f.y(place));
    const values = term.values.map((v, k) => `${term.values.length > 1 ? cut(outputs[k], 16) + " " : ""}${signed(v[i])}` +
      (term.se ? ` (±${fmt(1.96 * term.se[k][i], 2)})` : ""));
    return `${cut(pointName(grid, i), 40)}: ${values.join(", ")}; ${percent(term.density[i])} of the rows`;
  }, readout, { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 });
  return el("div", null, f.root, legend(term.values.length > 1 ? outputs : []));
}

function scatterChart(chart, readout) {
  let [x0, x1] = extent(chart.x), [y0, y1] = extent(chart.y, chart.zero ? [0] : []);
  if (chart.diagonal) { x0 = y0 = Math.min(x0, y0); x1 = y1 = Math.max(x1, y1); }
  const px = 0.04 * (x1 - x0 || 1), py = 0.04 * (y1 - y0 || 1);
  const f = frame(`${chart.title}: ${chart.caption}`, { x: [x0 - px, x1 + px], y: [y0 - py, y1 + py], height: 300, xlabel: chart.xlabel, ylabel: chart.ylabel });
  if (chart.diagonal) f.root.append(svg("line", { class: "diagonal", x1: f.x(x0), y1: f.y(x0), x2: f.x(x1), y2: f.y(x1) }));
  if (chart.zero) f.root.append(svg("line", { class: "zero", x1: f.left, x2: f.right, y1: f.y(0), y2: f.y(0) }));
  if (chart.joined) f.root.append(svg("path", { class: "line s0", d: path(chart.x.map((v, i) => [f.x(v), f.y(chart.y[i])])) }));
  chart.x.forEach((v, i) => {
    if (v !== null && chart.y[i] !== null) f.root.append(svg("circle", { class: chart.joined ? "dot s0" : "point", cx: f.x(v).toFixed(1), cy: f.y(chart.y[i]).toFixed(1), r: chart.joined ? 4 : 2.6 }));
  });
  const mark = svg("circle", { class: "mark s1", r: 5, cx: -9, cy: -9 });
  f.root.append(mark);
  const order = [...chart.x.keys()].sort((a, b) => chart.x[a] - chart.x[b]);
  readable(f.root, order.length, (x, y) => {
    let best = 0, least = Infinity;
    order.forEach((i, place) => {
      const d = (f.x(chart.x[i]) - x) ** 2 + (f.y(chart.y[i]) - y) ** 2;
      if (d < least) { least = d; best = place; }
    });
    return best;
  }, (place) => {
    const i = order[place];
    mark.setAttribute("cx", f.x(chart.x[i])); mark.setAttribute("cy", f.y(chart.y[i]));
    const what = chart.rows ? `row ${chart.rows[i]}: ` : chart.sizes ? `${counted(chart.sizes[i], "row")}: ` : "";
    return `${what}${chart.xlabel} ${fmt(chart.x[i])}, ${chart.ylabel} ${fmt(chart.y[i])}`;
  }, readout);
  return f.root;
}

function pathChart(chart, readout) {
  const logs = chart.x.map(Math.log10), [low, high] = extent(logs), [y0, y1] = extent(chart.y), room = y1 - y0 || 1;
  const every = Math.max(1, Math.ceil((high - low) / 6));
  const xticks = [];
  for (let e = Math.ceil(low); e <= high; e += every) xticks.push([e, e < -3 || e > 3 ? `1e${e}` : fmt(10 ** e)]);
  const f = frame(`${chart.title}: ${chart.caption}`, { x: [low, high], y: [y0 - 0.06 * room, y1 + 0.06 * room], xticks, height: 300, xlabel: chart.xlabel, ylabel: chart.ylabel });
  f.root.append(svg("path", { class: "line s0", d: path(logs.map((v, i) => [f.x(v), f.y(chart.y[i])])) }));
  const best = closest(logs, Math.log10(chart.mark));
  f.root.append(svg("circle", { class: "dot s1", cx: f.x(logs[best]), cy: f.y(chart.y[best]), r: 6 }));
  const mark = svg("circle", { class: "mark s0", r: 5, cx: -9, cy: -9 });
  f.root.append(mark);
  const xs = logs.map((v) => f.x(v));
  readable(f.root, xs.length, (x) => closest(xs, x), (i) => {
    mark.setAttribute("cx", xs[i]); mark.setAttribute("cy", f.y(chart.y[i]));
    return `alpha ${fmt(chart.x[i], 3)}: ${chart.ylabel} ${fmt(chart.y[i])}`;
  }, readout);
  return f.root;
}
