// Sequences with letters as large as what they contribute, molecules and graphs in colours.
const PER_TRACK = 60, MOST_TRACKS = 20;

function colourOf(value, top) {
  const level = Math.round((6 * Math.abs(value)) / top);
  return level === 0 ? "var(--h0)" : `var(--${value > 0 ? "p" : "n"}${level})`;
}
function strongest(values) { return values.reduce((top, v) => Math.max(top, Math.abs(v)), 0) || 1; }

// Letters stand above the line if they raise the prediction, and hang below it if they lower it.
function track(map) {
  const { labels, values } = map, top = strongest(values), shown = labels.slice(0, PER_TRACK * MOST_TRACKS);
  const width = Math.min(Math.max(shown.length, 12), PER_TRACK), each = 14, left = 34;
  const up = (34 * Math.max(...values, 0.1 * top)) / top, down = (34 * Math.max(...values.map((v) => -v), 0.1 * top)) / top, step = up + down + 22;
  const tracks = Math.max(1, Math.ceil(shown.length / PER_TRACK)), parts = [];
  for (let t = 0; t < tracks; t++) {
    const base = 4 + up + t * step, run = shown.slice(t * PER_TRACK, (t + 1) * PER_TRACK);
    parts.push(svg("line", { class: "zero", x1: left, x2: left + each * run.length, y1: base, y2: base }));
    for (let i = 0; i < run.length; i += 10) parts.push(svg("text", { class: "small", x: left + each * (i + 0.5), y: base + down + 12, "text-anchor": "middle" }, String(t * PER_TRACK + i)));
    run.forEach((letter, i) => {
      const at = t * PER_TRACK + i, value = values[at], high = Math.max((34 * Math.abs(value)) / top, 1.2), x = left + each * (i + 0.5);
      const y = value >= 0 ? base : base + high;
      parts.push(svg("g", { class: "letter" }, svg("title", null, `${letter} at ${at}: ${signed(value)}`),
        svg("rect", { class: "under", x: x - each / 2, y: base - up, width: each, height: up + down }),
        svg("text", { class: value >= 0 ? "glyph up" : "glyph down", transform: `translate(${x.toFixed(2)},${y.toFixed(2)}) scale(1,${(high / 13.2).toFixed(4)})`, "text-anchor": "middle" }, letter)));
    });
  }
  const whole = `Contributions of ${counted(labels.length, "letter")}: those above the line raise the prediction, those below lower it; the largest is ${fmt(top, 3)}.`;
  const rest = labels.length - shown.length;
  return el("figure", { class: "structure" }, svg("svg", { class: "chart track-of-letters", viewBox: `0 0 ${left + each * width + 6} ${tracks * step + 6}`, role: "img", "aria-label": whole }, parts),
    el("figcaption", null, whole + " Positions count from 0." + (rest > 0 ? ` ${rest} more letters are not drawn.` : "")));
}

const LINES = { "=": [-0.1, 0.1], "#": [-0.16, 0, 0.16] };
// Atoms and bonds in colours; a bond is drawn over its colour, and an aromatic one has a broken second line.
function drawing(map) {
  const { labels, values, bonds, places, kinds } = map, top = strongest([...values, ...map.bond_values]);
  if (!labels.length) return el("p", { class: "detail" }, "There is nothing to draw: the graph has no nodes.");
  const xs = places.map((p) => p[0]), ys = places.map((p) => -p[1]);
  const lengths = bonds.map(([u, v]) => Math.hypot(xs[u] - xs[v], ys[u] - ys[v])).sort((a, b) => a - b);
  const unit = 34 / (lengths.length ? lengths[lengths.length >> 1] || 1 : 1), pad = 22;
  const x = xs.map((v) => pad + (v - Math.min(...xs)) * unit), y = ys.map((v) => pad + (v - Math.min(...ys)) * unit);
  const width = Math.max(...x) + pad, height = Math.max(...y) + pad, parts = [];
  const line = (attributes, colour) => { const node = svg("line", attributes); node.style.stroke = colour; return node; };
  bonds.forEach(([u, v], b) => {
    const halo = line({ class: "halo", x1: x[u], y1: y[u], x2: x[v], y2: y[v] }, colourOf(map.bond_values[b], top));
    halo.append(svg("title", null, `${labels[u]}${u} to ${labels[v]}${v}: ${signed(map.bond_values[b])}`));
    parts.push(halo);
  });
  labels.forEach((label, i) => {
    const ring = svg("circle", { class: "atom", cx: x[i], cy: y[i], r: 10 }, svg("title", null, `${label}${i}: ${signed(values[i])}`));
    ring.style.fill = colourOf(values[i], top);
    parts.push(ring);
  });
  const hidden = (i) => map.molecule && bonds.length > 0 && ["C", "c"].includes(labels[i]);
  bonds.forEach(([u, v], b) => {
    const size = Math.hypot(x[v] - x[u], y[v] - y[u]) || 1, nx = -(y[v] - y[u]) / size, ny = (x[v] - x[u]) / size;
    const cut = (i) => (hidden(i) ? 0 : 9), kind = kinds ? kinds[b] : "-";
    const [dx, dy] = [(x[v] - x[u]) / size, (y[v] - y[u]) / size];
    const stroke = (shift, broken) => svg("line", { class: broken ? "bond broken" : "bond", x1: x[u] + dx * cut(u) + nx * shift, y1: y[u] + dy * cut(u) + ny * shift, x2: x[v] - dx * cut(v) + nx * shift, y2: y[v] - dy * cut(v) + ny * shift });
    if (kind === ":") parts.push(stroke(-1.6, false), stroke(2, true));
    else for (const shift of LINES[kind] || [0]) parts.push(stroke(20 * shift, false));
  });
  labels.forEach((label, i) => { if (!hidden(i)) parts.push(svg("text", { class: "label", x: x[i], y: y[i] + 4.2, "text-anchor": "middle" }, cut(map.molecule && label.length < 3 ? label[0].toUpperCase() + label.slice(1) : label, 4))); });
  const what = map.molecule ? ["atom", "bond"] : ["node", "edge"];
  const whole = `Contributions of ${counted(labels.length, what[0])} and ${counted(bonds.length, what[1])}: blue raises the prediction, orange lowers it; the largest is ${fmt(top, 3)}.`;
  const picture = svg("svg", { class: "chart structure-of-atoms", viewBox: `0 0 ${width.toFixed(1)} ${height.toFixed(1)}`, role: "img", "aria-label": whole }, parts);
  picture.style.maxWidth = `${Math.round(Math.max(1.5 * width, 120))}px`;
  return el("figure", { class: "structure" }, picture, el("figcaption", null, whole));
}
function pictures(maps) {
  return maps.map((map) => [maps.length > 1 && el("h3", null, map.kernel), map.places ? drawing(map) : track(map)]);
}

// The strongest parts over all training rows.
function motifTable() {
  const holder = el("div", { class: "card" }), all = data.motifs;
  const draw = (motifs) => {
    const top = Math.max(...motifs.weight.map(Math.abs), 1e-300), extra = [motifs.se && "± (standard error)", motifs.stability && "stability", "rows", motifs.kernels && "kernel"].filter(Boolean);
    const rows = motifs.names.map((name, i) => {
      const bar = el("span", { class: `piece ${motifs.weight[i] >= 0 ? "up" : "down"}` }), width = (50 * Math.abs(motifs.weight[i])) / top;
      bar.style.left = `${motifs.weight[i] >= 0 ? 50 : 50 - width}%`;
      bar.style.width = `${Math.max(width, 0.4)}%`;
      const more = [motifs.se && fmt(motifs.se[i], 2), motifs.stability && fmt(motifs.stability[i], 2), String(motifs.objects[i]), motifs.kernels && cut(motifs.kernels[i], 40)].filter(Boolean);
      return el("tr", null, el("th", { scope: "row", title: name }, el("span", { class: "name" }, name)), el("td", { class: "track", "aria-hidden": "true" }, bar),
        el("td", { class: "value" }, signed(motifs.weight[i])), more.map((text) => el("td", { class: "value more" }, text)));
    });
    const caption = "What each part adds, on average over the training rows that have it." + (motifs.se ? " Standard errors and stability come from all fits that leave one row out: stability is the share of them in which the part is among as many strongest." : "");
    return el("table", { class: "bars" }, el("caption", null, caption), el("thead", null, el("tr", null, ["part", "", "mean", ...extra].map((h, i) => el("th", { scope: "col", class: i > 2 ? "value more" : i === 2 ? "value" : null }, h)))), el("tbody", null, rows));
  };
  const show = (i) => holder.lastChild.replaceWith(all[i].names.length ? draw(all[i]) : el("p", null, "No part occurs often enough."));
  if (all.length > 1) {
    const chooser = el("select", { id: "motif-output", onchange: () => show(chooser.selectedIndex) }, all.map((m) => el("option", null, cut(m.output, 40))));
    holder.append(el("div", { class: "controls" }, el("label", { for: "motif-output" }, "Parts that speak for"), chooser));
  } else if (data.task.classes) holder.append(el("p", { class: "detail" }, `Of the score of ${data.task.classes[1]}.`));
  holder.append(el("span"));
  show(0);
  return holder;
}
