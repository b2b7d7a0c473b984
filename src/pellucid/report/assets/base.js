// Small helpers: elements, numbers as text, scales and ticks. Text enters the document as text only.
const data = JSON.parse(document.getElementById("payload").textContent);
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "value") node.value = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}
function el(tag, attributes, ...children) { return fill(document.createElement(tag), attributes, children); }
function svg(tag, attributes, ...children) { return fill(document.createElementNS(SVG, tag), attributes, children); }

function fmt(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return x.toExponential(digits - 1).replace("-", "−").replace("e+", "e");
  return String(Number(x.toPrecision(digits))).replace("-", "−");
}
function signed(x, digits = 3) { return (x > 0 ? "+" : "") + fmt(x, digits); }
function counted(n, word) { return `${n} ${word}${n === 1 ? "" : /s$/.test(word) ? "es" : "s"}`; }
function percent(share) { return fmt(100 * share, 3) + " %"; }
function cut(text, most) {
  const letters = Array.from(String(text).replace(/\s+/g, " "));
  return letters.length <= most ? letters.join("") : letters.slice(0, most - 1).join("") + "…";
}

function scale(low, high, from, to) {
  const span = high - low || 1;
  return (x) => from + ((x - low) / span) * (to - from);
}
function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) out.push(k * step);
  return out;
}
function extent(values, around = []) {
  let low = Infinity, high = -Infinity;
  for (const v of [...values, ...around]) {
    if (v === null || Number.isNaN(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return low <= high ? [low, high] : [0, 1];
}

// A picture in a figure: heading, drawing, a line that reads out what is under the pointer, a caption, the numbers.
let figures = 0;
function figure(title, caption, draw, numbers, options = {}) {
  const id = `figure-${++figures}`;
  const readout = el("output", { class: "readout", "aria-live": "polite", id: `${id}-readout` });
  const holder = el("div", { class: "drawing" });
  const node = el("figure", { class: "card " + (options.class || ""), id },
    title && el("div", { class: "heading" }, el("h3", { title: title.length > 60 ? title : null }, title), options.badge),
    holder, readout, el("figcaption", null, caption));
  if (numbers) {
    const details = el("details", { class: "numbers" }, el("summary", null, "Numbers"));
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(numbers());
    });
    node.append(details);
  }
  node.render = () => {
    holder.replaceChildren(draw(readout));
    node.rendered = true;
  };
  return node;
}

// Figures are drawn when they come near the window, and all of them before printing.
const watcher = "IntersectionObserver" in window
  ? new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting && !entry.target.rendered) entry.target.render();
      }
    }, { rootMargin: "600px" })
  : null;
function watch(node) {
  if (watcher) watcher.observe(node);
  else node.render();
  return node;
}
function drawAll() {
  for (const node of document.querySelectorAll("figure")) if (node.render && !node.rendered) node.render();
}
window.addEventListener("beforeprint", drawAll);

// At most so many rows: a table grows with the page and has no scroll bar of its own.
const MOST_ROWS = 80;
function table(head, rows, caption = "") {
  const rest = rows.length - MOST_ROWS;
  return el("table", { class: "plain" }, el("caption", null, caption || (rest > 0 ? `${MOST_ROWS} of ${rows.length}` : "")),
    el("thead", null, el("tr", null, head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", null, rows.slice(0, MOST_ROWS).map((row) => el("tr", null, row.map((cell, i) =>
      i === 0 ? el("th", { scope: "row" }, cell) : el("td", null, cell))))));
}
function facts(rows, heading) {
  if (!rows || !rows.length) return null;
  return el("div", { class: "facts" }, heading && el("h3", null, heading),
    el("dl", null, rows.map(([label, value]) => [el("dt", null, label), el("dd", { class: value.trim().includes("\n") ? "block" : value.length > 40 && !value.includes(" ") ? "digest" : null }, value)])));
}
