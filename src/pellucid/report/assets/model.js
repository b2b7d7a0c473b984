// The model in the page: the same arithmetic as the program that made it, checked against it before it was written.

// Packed arrays, bytes of float64 in base64, become nested lists.
function unpacked(part) {
  if (part === null || typeof part !== "object") return part;
  if (Array.isArray(part)) return part.map(unpacked);
  if (part.left) return product(part.left.map(unpacked), part.right.map(unpacked));
  if (part.f8 === undefined) return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, unpacked(value)]));
  const bytes = Uint8Array.from(atob(part.f8), (c) => c.charCodeAt(0)), view = new DataView(bytes.buffer);
  let at = 0;
  const build = (depth) => Array.from({ length: part.shape[depth] }, () => (depth + 1 < part.shape.length ? build(depth + 1) : view.getFloat64(8 * at++, true)));
  return build(0);
}
// Tables as products of thin matrices, one per output.
function product(left, right) {
  return left[0].map((_, i) => Array.from({ length: right[0][0].length }, (_, j) =>
    left.map((rows, k) => rows[i].reduce((sum, value, r) => sum + value * right[k][r][j], 0))));
}
if (data.page_model) data.page_model = unpacked(data.page_model);
function place(axis, value) {
  if (value === null) return axis.missing === null ? null : [[axis.missing, 1]];
  if (axis.levels) {
    const known = axis.levels.indexOf(value);
    if (known >= 0) return [[known, 1]];
    return axis.other === null ? [] : [[axis.other, 1]];
  }
  const knots = axis.knots, last = knots.length - 1;
  if (last < 0) return [[axis.empty, 1]];
  if (last === 0) return [[0, 1]];
  let at = 0, end = last;
  while (end - at > 1) {
    const middle = (at + end) >> 1;
    if (knots[middle] <= value) at = middle; else end = middle;
  }
  let share = (value - knots[at]) / (knots[at + 1] - knots[at]);
  if (axis.clamp !== false) share = Math.min(Math.max(share, 0), 1);
  return [[at, 1 - share], [at + 1, share]];
}

function warped(warp, value) {
  if (warp.levels) {
    const known = warp.levels.indexOf(value);
    value = known < 0 ? warp.unknown : warp.positions[known];
  }
  let total = 0;
  for (const [i, share] of place({ knots: warp.knots, missing: null }, value)) total += share * warp.values[i];
  return total;
}
function waves(term, inputs) {
  const { omega, warps } = data.page_model;
  const u = inputs.map((value, i) => warped(warps[term.features[i]], value));
  const out = term.mean.map((m) => -m);
  for (const part of term.parts) {
    const re = term.re[part.weights], im = term.im[part.weights];
    for (let i = 0; i < omega.length; i++) {
      const phase = (part.first === null ? 0 : omega[i][0] * u[part.first]) + (part.second === null ? 0 : omega[i][1] * u[part.second]);
      const c = Math.cos(phase), s = Math.sin(phase);
      for (let k = 0; k < out.length; k++) out[k] += part.sign * (c * re[i][k] + s * im[i][k]);
    }
  }
  return out;
}

function termValue(term, inputs) {
  if (term.type === "linear") return term.coef.map((c) => (inputs[0] - term.center) * c);
  if (term.type === "waves") return waves(term, inputs);
  const first = place(term.axes[0], inputs[0]);
  const second = term.axes.length > 1 ? place(term.axes[1], inputs[1]) : [[null, 1]];
  const width = data.page_model.intercept.length;
  const out = new Array(width).fill(0);
  for (const [i, u] of first) {
    for (const [j, v] of second) {
      const cell = j === null ? term.values[i] : term.values[i][j];
      for (let k = 0; k < width; k++) out[k] += u * v * cell[k];
    }
  }
  return out;
}

// How alike two rows are, by the formula of the kernel.
function similarity(kernel, x, y) {
  const { op } = kernel;
  if (op === "constant") return kernel.value;
  if (op === "power") return similarity(kernel.of, x, y) ** kernel.exponent;
  if (op === "sum") return kernel.of.reduce((sum, part) => sum + similarity(part, x, y), 0);
  if (op === "product") return kernel.of.reduce((product, part) => product * similarity(part, x, y), 1);
  const scales = kernel.length_scale, origin = kernel.origin;
  let dot = 0, squares = 0, sizes = 0, sines = 0;
  kernel.columns.forEach((j, c) => {
    if (origin) dot += ((x[j] - origin[c]) / scales[c]) * ((y[j] - origin[c]) / scales[c]);
    const gap = (x[j] - y[j]) / scales[c];
    squares += gap * gap;
    sizes += Math.abs(gap);
    if (op === "periodic") sines += (Math.sin((Math.PI * (x[j] - y[j])) / kernel.period) / scales[c]) ** 2;
  });
  if (op === "linear") return dot;
  if (op === "polynomial") return (kernel.bias + dot) ** kernel.degree;
  if (op === "laplacian") return Math.exp(-sizes);
  if (op === "periodic") return Math.exp(-2 * sines);
  if (op === "rbf") return Math.exp(-0.5 * squares);
  if (op === "rationalquadratic") return (1 + squares / (2 * kernel.shape)) ** -kernel.shape;
  const t = Math.min(Math.sqrt(2 * kernel.nu * squares), 800);
  return Math.exp(-t) * (kernel.nu === 0.5 ? 1 : kernel.nu === 1.5 ? 1 + t : 1 + t + (t * t) / 3);
}

// Contributions by term and output, linear predictors and answers for one row of values.
function evaluate(cells) {
  const model = data.page_model;
  const contributions = model.terms.map((term) => termValue(term, term.features.map((j) => cells[j])));
  const eta = model.intercept.map((b, k) => b + contributions.reduce((sum, c) => sum + c[k], 0));
  if (model.kernel) model.rows.forEach((row, i) => {
    const value = similarity(model.kernel, cells, row);
    eta.forEach((_, k) => { eta[k] += value * model.dual[i][k]; });
  });
  const parts = model.parts ? readParts(cells) : [];
  for (const part of parts) part.eta.forEach((v, k) => { eta[k] += v; });
  return { contributions, parts, eta, answers: answer(eta.map((v) => model.slope * v), model.link) };
}

function answer(eta, link) {
  if (link === "identity") return eta;
  if (link === "log") return eta.map((v) => Math.exp(Math.min(Math.max(v, -708), 709)));
  const sigmoid = (v) => 1 / (1 + Math.exp(-v));
  if (link === "logit") return eta.map(sigmoid);
  if (link === "each") {
    const raw = eta.map(sigmoid), total = raw.reduce((a, b) => a + b, 0);
    return raw.map((v) => v / total);
  }
  const top = Math.max(...eta), raised = eta.map((v) => Math.exp(v - top));
  const total = raised.reduce((a, b) => a + b, 0);
  return raised.map((v) => v / total);
}

// The class that answers stand for.
function classOf(answers) {
  const classes = data.task.classes;
  if (answers.length === 1) return classes[answers[0] > (data.task.kind === "probability" ? 0.5 : 0) ? 1 : 0];
  return classes[answers.indexOf(Math.max(...answers))];
}
