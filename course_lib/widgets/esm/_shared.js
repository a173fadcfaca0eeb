// What the modules share. `assets.py` puts this file in front of a module, because modules may not
// import: a page opened from a file loads no ES module.

// An element: "on…" properties are listeners, true is an empty attribute, false and null are none.
const h = (tag, props, ...kids) => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== false && v != null) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...kids.flat().filter((kid) => kid != null));
  return e;
};

// Text with `code` between backticks.
const rich = (text) => text.split("`").map((s, i) => (i % 2 ? h("code", {}, s) : s));

const button = (text, onclick, props) =>
  h("button", { type: "button", class: "cw-button", onclick, ...props }, text);

const capital = (text) => text[0].toUpperCase() + text.slice(1);

// --- the frame around every exercise: title, question, Reset; and the answer, which is replaced,
// never changed in place, so that a kernel and a page both see that it is new

function shell(model, el, build) {
  const data = model.get("data");
  const painters = [];
  const answer = () => model.get("answer") || {};
  const save = (next) => { model.set("answer", next); model.save_changes(); };
  const put = (patch) => save({ ...answer(), ...patch });
  const paint = () => {
    if (Object.keys(answer()).length) say(note, "", "");
    painters.forEach((f) => f(answer()));
  };
  const reset = button("Start again", () => { save({}); say(note, "", "Everything is cleared."); },
    { class: "cw-button cw-quiet" });
  const note = live();
  const root = h("div", { class: "cw", role: "group", "aria-label": data.title,
    // keys belong to the exercise: a "d" must not delete the notebook's cell
    onkeydown: (e) => { if (!e.ctrlKey && !e.metaKey) e.stopPropagation(); } },
    h("p", { class: "cw-title" }, data.title), h("p", { class: "cw-question" }, rich(data.question)));
  note.classList.add("cw-note");
  const foot = h("div", { class: "cw-foot" }, reset);
  const api = { data, answer, put, foot, note, onpaint: (f) => painters.push(f) };
  root.append(...[build(api)].flat(Infinity), foot, note);
  el.replaceChildren(root);
  model.on("change:answer", paint);
  paint();
  return () => model.off("change:answer", paint);
}

// --- feedback

const live = () => h("div", { class: "cw-feedback", role: "status" });

// kind: "good", "bad" or ""; the sign stands in the text, so colour is never alone.
const SIGNS = { good: "✓ ", bad: "✗ ", "": "" };
function say(box, kind, lead, text, items) {
  box.dataset.kind = kind;
  box.replaceChildren(...(lead ? [h("p", {}, h("strong", {}, SIGNS[kind], lead), " ", rich(text || ""))] : []),
    ...(items && items.length ? [h("ul", {}, items.map((t) => h("li", {}, rich(t))))] : []));
}

// One line for each reason, with the cells that it concerns.
function reasons(wrong, names) {
  const by = new Map();
  for (const { i, msg } of wrong) by.set(msg, [...(by.get(msg) || []), names[i]]);
  return [...by].map(([msg, cells]) => {
    const more = cells.length > 3 ? ` and ${cells.length - 3} more` : "";
    return `${capital(msg)} (${cells.slice(0, 3).join("; ")}${more}).`;
  });
}

// Buttons for hints that come one after the other. How many were read is part of the answer.
function hints(api, id, list) {
  const box = h("ol", { class: "cw-hints", "aria-live": "polite" });
  const more = button("", () => {
    const seen = api.answer().hints || {};
    api.put({ hints: { ...seen, [id]: Math.min((seen[id] || 0) + 1, list.length) } });
  }, { class: "cw-button cw-quiet" });
  api.onpaint((a) => {
    const n = (a.hints || {})[id] || 0;
    while (box.children.length > n) box.lastChild.remove();
    for (let i = box.children.length; i < n; i++) box.append(h("li", {}, rich(list[i])));
    more.textContent = n < list.length ? `Hint ${n + 1} of ${list.length}` : "No more hints";
    more.setAttribute("aria-disabled", n >= list.length);
  });
  return { more, box };
}

// --- judging: the same two rules as in parts.py

const same = (a, b) => Math.abs(a - b) <= 5.0001e-4;

function parse(text) {
  const clean = text.trim().replace(/,/g, ".").replace(/−/g, "-").replace(/ /g, "");
  const parts = clean.split("/");
  if (parts.length > 2 || !parts.every((p) => /^[+-]?(\d+\.?\d*|\.\d+)$/.test(p))) return NaN;
  const value = parts.length === 2 ? parts[0] / parts[1] : +parts[0];
  return Number.isFinite(value) ? value : NaN;
}

function judge(part, value) {
  if (part.kind === "toggle") {
    return part.right.flatMap((right, i) => (!!value[i] === !!right || part.free.includes(i)
      ? [] : [{ i, msg: part.say[part.why[i]][value[i] ? 0 : 1] }]));
  }
  return part.right.flatMap((right, i) => {
    const text = String(value[i] ?? "");
    if (!text.trim()) return part.blank.includes(i) ? [] : [{ i, msg: "nothing is entered here" }];
    const number = parse(text);
    if (Number.isNaN(number)) return [{ i, msg: "this is not a number; a fraction such as 9/7 is one" }];
    if (same(number, right)) return [];
    const trap = part.traps[i].find(([v]) => same(number, v));
    return [{ i, msg: trap ? trap[1] : part.why[i] }];
  });
}

// Check button, hints and feedback of one part. `field.mark(wrong)` shows the wrong cells;
// a part that is changed is no longer checked.
function checking(api, part, field, noun) {
  const box = live();
  const empty = () => part.right.map(() => (part.kind === "toggle" ? 0 : ""));
  const value = () => api.answer()[part.id] || empty();
  // an empty step is not judged: its missing cells would be the answer
  const judged = () => {
    const wrong = judge(part, value());
    return { wrong, none: wrong.length > 0 && value().every((v) => !String(v || "").trim()) };
  };
  const isChecked = (a) => (a.checked || []).includes(part.id);
  const change = (next) => api.put({ [part.id]: next,
    checked: (api.answer().checked || []).filter((id) => id !== part.id) });
  let shown = null;
  const check = button(`Check ${noun}`, () => {
    const a = api.answer();
    shown = null;
    api.put({ [part.id]: value(), checked: [...(a.checked || []).filter((id) => id !== part.id), part.id] });
  }, { "data-check": part.id });
  const ladder = hints(api, part.id, part.hints);
  api.onpaint((a) => {
    const on = isChecked(a), { wrong, none } = on ? judged() : { wrong: [] };
    field.mark(none ? [] : wrong);
    const state = on + JSON.stringify(wrong);
    if (state === shown) return;
    shown = state;
    box.dataset.wrong = on ? wrong.length : "";
    if (!on) say(box, "", "");
    else if (none) say(box, "", "Nothing is filled in yet.");
    else if (!wrong.length) say(box, "good", "Correct.", part.done);
    else say(box, "bad", `${wrong.length} wrong.`, "", reasons(wrong, part.short || part.names));
  });
  return { value, change, solved: (a) => isChecked(a) && !judge(part, value()).length,
    el: [h("div", { class: "cw-actions" }, check, ladder.more), ladder.box, box] };
}

// --- fields

// A grid of two-state buttons: click, tap, drag, arrow keys and space (Shift + arrow paints).
// o: label, names, cols, value(), change(next), face(i, on) -> text, heads [[…], …], side […],
//    kind(i) -> class
function toggleGrid(o) {
  const n = o.names.length, cols = o.cols || n;
  let at = 0, drag = null, skip = false;
  const cells = o.names.map((name, i) => h("button", { type: "button", "data-i": i,
    class: `cw-cell ${o.kind ? o.kind(i) : ""}`, tabindex: i ? -1 : 0, onclick: () => {
      if (!skip) set([i], !o.value()[i]);
      focus(i, false);
    } }));
  const set = (list, on) => {
    const next = [...o.value()];
    for (const i of list) next[i] = on ? 1 : 0;
    o.change(next);
  };
  const focus = (i, move = true) => {
    cells[at].tabIndex = -1;
    at = i;
    cells[at].tabIndex = 0;
    if (move) cells[at].focus();
  };
  const row = (kids, side) => h("div", { role: "row", class: "cw-row" }, side, kids);
  const root = h("div", { role: "grid", class: "cw-grid", "aria-label": o.label,
    style: `--n:${cols}`, "data-side": o.side ? "" : null });
  for (const head of o.heads || []) {
    root.append(row(head.map((t) => h("span", { role: "columnheader", class: "cw-head" }, t)),
      o.side ? h("span", { role: "columnheader", class: "cw-head cw-side" }, o.corner || "") : null));
  }
  for (let r = 0; r < n / cols; r++) {
    root.append(row(cells.slice(r * cols, (r + 1) * cols).map((c) => h("span", { role: "gridcell" }, c)),
      o.side ? h("span", { role: "rowheader", class: "cw-head cw-side" }, o.side[r]) : null));
  }
  root.addEventListener("keydown", (e) => {
    const c = at % cols;
    const to = { ArrowRight: c < cols - 1 ? at + 1 : at, ArrowLeft: c ? at - 1 : at,
      ArrowDown: at + cols < n ? at + cols : at, ArrowUp: at >= cols ? at - cols : at,
      Home: e.ctrlKey ? 0 : at - c, End: e.ctrlKey ? n - 1 : at - c + cols - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    if (e.shiftKey) set([to], o.value()[at]);
    focus(to);
  });
  // Dragging paints once the pointer is in a second cell, so a tap stays a tap and a page that
  // scrolls under a finger toggles nothing.
  root.addEventListener("pointerdown", (e) => {
    const cell = e.target.closest("[data-i]");
    if (cell && !e.button) drag = { from: +cell.dataset.i, last: +cell.dataset.i, on: !o.value()[+cell.dataset.i] };
  });
  root.addEventListener("pointermove", (e) => {
    const cell = drag && document.elementFromPoint(e.clientX, e.clientY)?.closest("[data-i]");
    if (!cell || !root.contains(cell) || +cell.dataset.i === drag.last) return;
    const i = +cell.dataset.i, dr = Math.floor(i / cols) - Math.floor(drag.last / cols);
    const dc = (i % cols) - (drag.last % cols), steps = Math.max(Math.abs(dr), Math.abs(dc));
    const list = [drag.from];
    for (let s = 1; s <= steps; s++) list.push(drag.last + Math.round((dr * s) / steps) * cols + Math.round((dc * s) / steps));
    drag.last = i;
    skip = true;
    set(list, drag.on);
  });
  const end = () => { drag = null; setTimeout(() => { skip = false; }); };
  for (const type of ["pointerup", "pointercancel", "pointerleave"]) root.addEventListener(type, end);
  const paint = (wrong) => {
    const v = o.value(), bad = new Map(wrong.map((w) => [w.i, w.msg]));
    cells.forEach((c, i) => {
      c.setAttribute("aria-pressed", !!v[i]);
      c.setAttribute("aria-label", bad.has(i) ? `${o.names[i]}: wrong, ${bad.get(i)}` : o.names[i]);
      c.toggleAttribute("data-wrong", bad.has(i));
      c.title = bad.get(i) || "";
      c.textContent = o.face(i, v[i]);
    });
  };
  return { el: root, mark: paint };
}

// A row of number fields; o: names, value(), change(next), heads, mode (inputmode)
function fields(o) {
  const inputs = o.names.map((name, i) => h("input", { class: "cw-input", "aria-label": name,
    inputmode: o.mode || "text", autocomplete: "off", size: 3, maxlength: 12, oninput: (e) => {
      const next = [...o.value()];
      next[i] = e.target.value;
      o.change(next);
    } }));
  const mark = (wrong) => {
    const v = o.value(), bad = new Map(wrong.map((w) => [w.i, w.msg]));
    inputs.forEach((input, i) => {
      if (input.value !== String(v[i] ?? "")) input.value = v[i] ?? "";
      input.toggleAttribute("data-wrong", bad.has(i));
      input.setAttribute("aria-invalid", bad.has(i));
      input.title = bad.get(i) || "";
    });
  };
  return { inputs, mark };
}
