// Packing or padding: what the reader's own lengths cost. Counts as compare_costs does in Python;
// sentences, and which numbers decide between them, are shipped.
function render({ model, el }) {
  return shell(model, el, (api) => {
    const { data } = api, { presets, fields: asked, ways } = data;
    const at = () => ({ text: presets[0][1], ...Object.fromEntries(asked.map(([key, , v]) => [key, v])), ...api.answer().given });
    const put = (patch) => api.put({ given: { ...at(), ...patch } });
    const late = h("p", { class: "cw-caption" });
    const entry = (tag, key, props) => h(tag, { autocomplete: "off", ...props, onchange: (e) => put({ [key]: e.target.value }),
      oninput: () => { late.textContent = "You changed an entry. The table still shows the ones before."; } });
    const area = entry("textarea", "text", { class: "cw-code", rows: 4, spellcheck: "false" });
    const inputs = asked.map(([key]) => entry("input", key, { class: "cw-input", inputmode: "numeric", maxlength: 9 }));
    const choices = presets.map(([name, text]) => button(name, () => put({ text }), { class: "cw-button cw-tab cw-preset" }));
    const body = h("tbody", {}), box = live();
    const table = h("table", { class: "cw-costs" }, h("thead", {}, h("tr", {},
      ["Way", "Slots that hold tokens", "Attention over full rows"].map((t) => h("th", { scope: "col" }, t)))), body);
    let shown;
    api.onpaint(() => {
      const a = at(), now = JSON.stringify(a);
      late.textContent = "× is the full squares of the rows over the squares of the documents.";
      if (now === shown) return;
      shown = now;
      [area, ...inputs].forEach((field, i) => {
        const text = a[i ? asked[i - 1][0] : "text"];
        if (field.value !== text) field.value = text;
      });
      choices.forEach((b, i) => b.setAttribute("aria-pressed", a.text === presets[i][1]));
      const found = read(a, data);
      [area, ...inputs].forEach((field, i) => field.setAttribute("aria-invalid", found.wrong === i));
      table.hidden = late.hidden = !found.v;
      if (!found.v) return void say(box, "bad", "Not counted.", found.error);
      const v = found.v, some = (text) => fill(text, v), [verdict, ...why] = advice(data.groups, v);
      body.replaceChildren(...ways.map(([key, name, how], i) => h("tr", {},
        h("th", { scope: "row" }, name, h("small", {}, how)),
        h("td", {}, h("span", { class: "cw-bar" }, h("span", { style: `width:${(v.tokens / v[`${key}_slots`]) * 100}%` })),
          some(`{tokens%${key}_slots}`), h("small", {}, some(`of {${key}_slots} slots, {${key}_rows} rows`)
            + (i > 2 ? `, ${(v[`${key}_rows`] - v.bound).toLocaleString("en")} above the bound` : ""))),
        h("td", {}, some(`{${key}_dense/within}×`), h("small", {}, some(`{${key}_dense} pairs, {${key}_causal} without the future`))))));
      say(box, "", some("{documents} documents, {entered} tokens."), verdict, why);
      // what is printed is the table as text
      setTimeout(() => {
        const pre = el.closest(".course-widget")?.querySelector("pre");
        if (pre) pre.textContent = paper(data, v);
      });
    });
    return [h("div", { class: "cw-tabs", role: "group", "aria-label": "Choose lengths" }, choices),
      h("label", { class: "cw-label" }, h("span", {}, "Lengths, separated by anything"), area),
      h("div", { class: "cw-fraction" }, asked.map(([, label], i) => h("label", {}, h("span", {}, label), inputs[i]))),
      h("div", { class: "cw-actions" }, button("Work it out", () => put({}), { "data-check": "costs" })),
      table, late, box];
  });
}

// What stands in the fields as numbers { v }, or { error, wrong } with the number of the field.
function read(a, { fields: asked, most, longest, comma: asks }) {
  const whole = (text) => /^[1-9]\d{0,8}$/.test(text), n = (x) => x.toLocaleString("en");
  // a comma in front of exactly three digits: one length with thousands, or several lengths
  const one = (a.text.match(/[0-9]+(?:[,'][0-9]+)+/g) || []).find((run) => /^[1-9][0-9]{0,2}([,'][0-9]{3})+$/.test(run));
  if (one) return { wrong: 0, error: asks.replace("{one}", one.slice(0, 20)).replace("{plain}", one.replace(/[,']/g, "").slice(0, 20)) };
  const list = a.text.split(/[\s,;|[\](){}"':]+/).filter(Boolean), i = list.findIndex((text) => !whole(text));
  if (!list.length) return { wrong: 0, error: "Nothing is entered. Enter at least one length, or choose lengths above." };
  if (i >= 0) return { wrong: 0, error: `Entry ${i + 1} is “${[...list[i]].slice(0, 20).join("")}”. A length is a whole number from 1 to ${n(longest)}.` };
  if (list.length > most) {
    return { wrong: 0, error: `There are ${n(list.length)} lengths, and this page takes ${n(most)}. Enter a random part of them, `
      + "or use compare_costs of course_lib.packing.costs." };
  }
  const v = { zero: 0 };
  for (const [k, [key, label, , largest]] of asked.entries()) {
    const text = a[key].trim();
    if (!whole(text) || text > largest) {
      return { wrong: k + 1, error: `${label}: “${[...text].slice(0, 20).join("")}” is no whole number from 1 to ${n(largest)}.` };
    }
    v[key] = +text;
  }
  return { v: count(list.map(Number), v) };
}

// Every number that a sentence may name. Whole numbers below 2^53, so none is rounded.
function count(given, v) {
  const { capacity: C, batch_size: B, multiple_of: M } = v, sizes = given.map((s) => Math.min(s, C));
  const down = [...sizes].sort((a, b) => b - a), add = (list, f) => list.reduce((n, x) => n + f(x), 0);
  const way = (name, rows, slots, dense) => {
    const values = { rows, slots, waste: slots - v.tokens, dense, causal: (dense + slots) / 2 };
    for (const key in values) v[`${name}_${key}`] = values[key];
  };
  const padded = (name, list) => {
    const rows = list.map((_, i) => Math.ceil(Math.max(...list.slice(i - (i % B), i - (i % B) + B)) / M) * M);
    way(name, rows.length, add(rows, (t) => t), add(rows, (t) => t * t));
  };
  const packed = (name, rows) => way(name, rows, rows * C, rows * C * C);
  Object.assign(v, { documents: sizes.length, tokens: add(sizes, (s) => s), cut_documents: given.filter((s) => s > C).length,
    entered: add(given, (s) => s), cut_tokens: add(given, (s) => s - Math.min(s, C)), bound: bound(down, C), within: add(sizes, (s) => s * s) });
  v.within_causal = (v.within + v.tokens) / 2;
  way("fixed", sizes.length, sizes.length * C, sizes.length * C * C);
  padded("batch", sizes);
  padded("sorted", down);
  let rows = 0, room = 0;
  for (const s of sizes) {
    if (s > room) { rows += 1; room = C; }
    room -= s;
  }
  packed("next_fit", rows);
  packed("first_fit", firstFit(sizes, C));
  packed("first_fit_decreasing", firstFit(down, C));
  const free = []; // best fit: the room of each row, least first
  rows = 0;
  const place = (s) => {
    let low = 0, high = free.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (free[mid] < s) low = mid + 1;
      else high = mid;
    }
    return low;
  };
  for (const s of down) {
    const i = place(s);
    if (i === free.length) rows += 1;
    const left = (i < free.length ? free.splice(i, 1)[0] : C) - s;
    if (left) free.splice(place(left), 0, left);
  }
  packed("best_fit_decreasing", rows);
  return v;
}

function firstFit(sizes, C) {
  const room = new Float64Array(sizes.length);
  let rows = 0;
  for (const s of sizes) {
    let r = 0;
    while (r < rows && room[r] < s) r += 1;
    if (r === rows) room[rows++] = C;
    room[r] -= s;
  }
  return rows;
}

// Martello and Toth: documents over half a row get one each; shorter ones go into the room of those
// that leave enough for the shortest of them, or into more rows. Lengths from long to short.
function bound(down, C) {
  const big = down.filter((s) => 2 * s > C).length;
  let sum = 0, room = 0, b = big, worst = 0;
  for (const s of down.slice(big)) {
    while (b && down[b - 1] <= C - s) room += C - down[--b];
    sum += s;
    worst = Math.max(worst, sum - room);
  }
  return Math.max(Math.ceil(down.reduce((n, s) => n + s, 0) / C), big + Math.ceil(worst / C));
}

// {a} is a number, {a/b} a ratio, {a%b} a share; rounded half up, in whole numbers.
const fill = (text, v) => text.replace(/\{(\w+)([/%]?)(\w*)\}/g, (_, a, sign, b) => {
  if (!sign) return v[a].toLocaleString("en");
  const x = BigInt(v[a]) * (sign === "%" ? 100n : 1n), y = BigInt(v[b]);
  const q = String((200n * x + y) / (2n * y)).padStart(3, "0");
  return `${q.slice(0, -2)}.${q.slice(-2)}${sign === "%" ? "%" : ""}`;
});

const advice = (groups, v) => groups.map((group) => group.find(([a, b]) => v[a] <= v[b])[2])
  .filter(Boolean).map((text) => fill(text, v));

function paper({ ways, paper: above, groups }, v) {
  const rows = [["", "rows", "slots", "used", "pairs ×"], ...ways.map(([key, name]) => [name, `{${key}_rows}`, `{${key}_slots}`,
    `{tokens%${key}_slots}`, `{${key}_dense/within}`].map((cell) => fill(cell, v)))];
  const lines = rows.map(([name, ...cells]) => name.padEnd(31) + cells.map((c, i) => c.padStart([7, 11, 9, 8][i])).join(""));
  const below = advice(groups, v).map((text) => text.replace(/(.{1,66})( |$)/g, "$1\n"));
  return [...above.map((text) => fill(text, v)), "", ...lines, "", ...below].join("\n").trimEnd();
}
export default { render };
