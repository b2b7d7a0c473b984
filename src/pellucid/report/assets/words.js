// Words of a text, found as the program that made the page finds them, and what they add to a prediction.

// All ways to choose `count` of the numbers below n, in order.
function choices(n, count, from = 0) {
  if (count === 0) return [[]];
  const out = [];
  for (let i = from; i <= n - count; i++) for (const rest of choices(n, count - 1, i + 1)) out.push([i, ...rest]);
  return out;
}
const span = (from, length) => Array.from({ length }, (_, i) => from + i);
const GAP = "-";

// The word, or that of the other strand if it comes first in the order of the alphabet.
function firstStrand(spec, word) {
  if (!spec.complement) return word.join("");
  const order = GAP + spec.alphabet, other = [...word].reverse().map((letter) => spec.complement[letter] || GAP);
  for (let i = 0; i < word.length; i++) {
    const gap = order.indexOf(word[i]) - order.indexOf(other[i]);
    if (gap !== 0) return (gap < 0 ? word : other).join("");
  }
  return word.join("");
}
function known(spec, letters) { return spec.alphabet === null || letters.every((letter) => spec.alphabet.includes(letter)); }

const FIND = {
  words(spec, letters, add) {
    for (let i = 0; i + spec.k <= letters.length; i++) {
      const word = letters.slice(i, i + spec.k);
      if (known(spec, word)) add(firstStrand(spec, word), 1, span(i, spec.k));
    }
  },
  near(spec, letters, add) {
    const alphabet = [...spec.alphabet];
    for (let i = 0; i + spec.k <= letters.length; i++) {
      const word = letters.slice(i, i + spec.k);
      if (!known(spec, word)) continue;
      for (let m = 0; m <= spec.m; m++) for (const places of choices(spec.k, m)) {
        const change = (near, at) => {
          if (at === places.length) { add(firstStrand(spec, near), 1, span(i, spec.k)); return; }
          for (const letter of alphabet) if (letter !== word[places[at]]) change(near.map((c, p) => (p === places[at] ? letter : c)), at + 1);
        };
        change(word, 0);
      }
    }
  },
  gapped(spec, letters, add) {
    const patterns = choices(spec.length, spec.k);
    for (let i = 0; i + spec.length <= letters.length; i++) {
      const window = letters.slice(i, i + spec.length);
      if (known(spec, window)) for (const places of patterns) add(firstStrand(spec, window.map((c, p) => (places.includes(p) ? c : GAP))), 1, places.map((p) => i + p));
    }
  },
  placed(spec, letters, add) {
    const D = spec.degree;
    for (let d = 1; d <= D; d++) {
      const value = Math.sqrt((2 * (D - d + 1)) / (D * (D + 1)));
      for (let i = 0; i + d <= letters.length; i++) {
        const word = letters.slice(i, i + d);
        if (known(spec, word)) add(`${word.join("")}@${i}`, value, span(i, d));
      }
    }
  },
  grams(spec, letters, add) {
    let units = letters.map((letter, i) => [letter, span(i, 1)]);
    if (spec.unit === "word") {
      const text = letters.join("");
      units = [...text.matchAll(/[\p{L}\p{N}_]{2,}/gu)].map((found) => [found[0], span(Array.from(text.slice(0, found.index)).length, Array.from(found[0]).length)]);
    }
    if (spec.lowercase) units = units.map(([unit, cover]) => [unit.toLowerCase(), cover]);
    const joint = spec.unit === "word" ? " " : "";
    for (let n = 1; n <= spec.most; n++) for (let i = 0; i + n <= units.length; i++) {
      const run = units.slice(i, i + n);
      add(run.map((unit) => unit[0]).join(joint), 1, run.flatMap((unit) => unit[1]));
    }
  },
};

// What a text adds to every output: words with their counts and shares, and shares of the letters.
function readText(part, text) {
  const letters = Array.from(text), found = [], counts = new Map(), width = data.page_model.intercept.length;
  part.places = part.places || new Map(part.names.map((name, i) => [name, i]));
  FIND[part.words.kind](part.words, letters, (name, value, cover) => {
    found.push([name, value, cover]);
    counts.set(name, (counts.get(name) || 0) + value);
  });
  let squares = 0;
  for (const count of counts.values()) squares += count * count;
  const scale = part.words.normalise ? (squares > 0 ? 1 / Math.sqrt(squares) : 0) : 1;
  const weights = (name) => (part.places.has(name) ? part.weights[part.places.get(name)] : null);
  const eta = new Array(width).fill(0);
  for (const [name, count] of counts) {
    const w = weights(name);
    if (w) for (let k = 0; k < width; k++) eta[k] += count * scale * w[k];
  }
  return {
    eta,
    items: (k) => [...counts].filter(([name]) => weights(name)).map(([name, count]) => ({ label: name, detail: count === 1 || !Number.isInteger(count) ? "" : `× ${count}`, value: count * scale * weights(name)[k] })),
    map: (k) => {
      const values = new Array(letters.length).fill(0);
      for (const [name, value, cover] of found) {
        const w = weights(name);
        if (w) for (const at of cover) values[at] += (value * scale * w[k]) / cover.length;
      }
      return { kernel: part.name, column: part.column, labels: letters, values };
    },
  };
}
// What numbers add, by their similarity to those of the training rows.
function readNumbers(part, cells) {
  const x = part.columns.map((j) => cells[j]), eta = data.page_model.intercept.map(() => 0);
  part.rows.forEach((row, i) => {
    const value = similarity(part.kernel, x, row);
    eta.forEach((_, k) => { eta[k] += value * part.dual[i][k]; });
  });
  const detail = "= " + x.map((v) => fmt(v, 6)).join(", ");
  return { eta, items: (k) => [{ label: part.name, detail, value: eta[k] }], map: null };
}
function readParts(cells) { return data.page_model.parts.map((part) => (part.kind === "words" ? readText(part, cells[part.column]) : readNumbers(part, cells))); }
