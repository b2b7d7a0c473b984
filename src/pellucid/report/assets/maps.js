// Heat maps of pairs. Colours are classes, so that light, dark and print each have their own.
const SHADES = 12;
let hatches = 0;

// Where the cells of an axis lie, with missing values apart, and its ticks.
function cellsOf(grid, count) {
  const m = grid.points.length;
  let edges;
  if (grid.levels || m < 2) edges = Array.from({ length: m + 1 }, (_, i) => i);
  else edges = [grid.points[0], ...grid.points.slice(1).map((p, i) => (p + grid.points[i]) / 2), grid.points[m - 1]];
  const low = edges[0], high = edges[m], span = high - low || 1;
  const cells = grid.points.map((_, i) => [edges[i], edges[i + 1]]);
  let marks;
  if (grid.levels || m < 2) {
    const every = Math.ceil(m / count);
    marks = grid.points.map((p, i) => [i + 0.5, grid.levels ? p : fmt(p)]).filter((_, i) => i % every === 0);
  } else marks = ticks(low, high, 5).map((t) => [t, fmt(t)]);
  let end = high;
  if (grid.missing) {
    const width = grid.levels ? 0.8 : 0.08 * span, start = high + 0.3 * width;
    cells.push([start, start + width]);
    end = start + width;
    marks = marks.filter(([t]) => start - t > 0.08 * span || grid.levels);
    marks.push([start + width / 2, "missing"]);
  }
  return { cells, marks, low, high: end };
}
function shade(value, top) {
  const step = Math.round((SHADES * value) / top);
  return step === 0 ? "h0" : step > 0 ? `p${Math.min(step, SHADES)}` : `n${Math.min(-step, SHADES)}`;
}

function mapChart(term, k, outputs, readout) {
  const [gx, gy] = term.grids, values = term.values[k];
  const a = cellsOf(gx, 7), b = cellsOf(gy, 14);
  let top = 0;
  values.forEach((line, i) => line.forEach((v, j) => { if (term.shown[i][j]) top = Math.max(top, Math.abs(v)); }));
  top = top || 1;
  const f = frame(`Map: ${term.caption}`, { x: [a.low, a.high], y: [b.low, b.high], right: 70, top: 8, height: 300,
    xticks: a.marks.map(([t, text]) => [t, cut(text, 9)]), yticks: b.marks.map(([t, text]) => [t, cut(text, gy.levels ? 13 : 9)]),
    xlabel: gx.feature, ylabel: gy.feature });
  const group = svg("g", { class: "cells" });
  const hatch = `hatch-${++hatches}`;
  f.root.append(svg("defs", null, svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("line", { class: "hatch", x1: 0, x2: 0, y1: 0, y2: 6 }))));
  values.forEach((line, i) => line.forEach((v, j) => {
    const [x0, x1] = a.cells[i], [y0, y1] = b.cells[j];
    group.append(svg("rect", { class: term.shown[i][j] ? shade(v, top) : null, fill: term.shown[i][j] ? null : `url(#${hatch})`, x: f.x(x0).toFixed(2), y: f.y(y1).toFixed(2),
      width: (f.x(x1) - f.x(x0) + 0.3).toFixed(2), height: (f.y(y0) - f.y(y1) + 0.3).toFixed(2) }));
  }));
  f.root.append(group);
  // the key at the right
  const x = f.right + 14, tall = f.bottom - f.top, each = tall / (2 * SHADES + 1);
  for (let s = -SHADES; s <= SHADES; s++) {
    f.root.append(svg("rect", { class: s === 0 ? "h0" : s > 0 ? `p${s}` : `n${-s}`, x, width: 11, y: f.top + (SHADES - s) * each, height: each + 0.3 }));
  }
  for (const [share, v] of [[0, top], [0.5, 0], [1, -top]]) {
    f.root.append(svg("text", { x: x + 15, y: f.top + share * tall + (share === 0 ? 9 : share === 1 ? -1 : 4), class: "small" }, v === 0 ? "0" : signed(v, 2)));
  }
  const mark = svg("rect", { class: "outline", x: -9, y: -9, width: 0, height: 0 });
  f.root.append(mark);
  const rows = b.cells.length, find = (cells, from) => (at) => {
    const place = cells.findIndex(([s, e]) => at >= Math.min(from(s), from(e)) && at <= Math.max(from(s), from(e)));
    return place < 0 ? null : place;
  };
  const column = find(a.cells, f.x), line = find(b.cells, f.y);
  readable(f.root, a.cells.length * rows, (px, py) => {
    const i = column(px), j = line(py);
    return i === null || j === null ? null : i * rows + j;
  }, (at) => {
    const i = Math.floor(at / rows), j = at % rows, [x0, x1] = a.cells[i], [y0, y1] = b.cells[j];
    for (const [key, value] of [["x", f.x(x0)], ["y", f.y(y1)], ["width", f.x(x1) - f.x(x0)], ["height", f.y(y0) - f.y(y1)]]) mark.setAttribute(key, value);
    const where = `${cut(gx.feature, 24)} ${cut(pointName(gx, i), 20)}, ${cut(gy.feature, 24)} ${cut(pointName(gy, j), 20)}`;
    return term.shown[i][j] ? `${where}: ${signed(values[i][j])}; ${percent(term.density[i][j])} of the rows` : `${where}: no data`;
  }, readout, { ArrowLeft: -rows, ArrowRight: rows, ArrowUp: 1, ArrowDown: -1 });
  return outputs.length ? el("div", null, f.root, el("div", { class: "legend" }, `for ${cut(outputs[k], 40)}`)) : f.root;
}
