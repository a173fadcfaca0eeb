// Denominators: the same losses under five means. Python worked out every arrangement; here one is
// looked up and drawn.
function render({ model, el }) {
  return shell(model, el, (api) => {
    const { data } = api, { losses, means, values, states } = data, part = data.parts[0];
    const count = losses.length, letter = (d) => "ABC"[d];
    const at = () => ({ rows: data.start.rows, pad: 0, split: 0, ...api.answer().board });
    const move = (patch) => api.put({ board: { ...at(), ...patch } });

    // one labelled group of buttons of which one is pressed
    const choice = (label, options, get, set) => {
      const buttons = options.map(([text, v]) => button(text, () => set(v), { class: "cw-button cw-tab", "aria-label": `${label}: ${text}` }));
      api.onpaint(() => options.forEach(([, v], i) => buttons[i].setAttribute("aria-pressed", get() === v)));
      return h("div", { class: "cw-choice", role: "group", "aria-label": label }, h("span", {}, label), buttons);
    };
    const rows = losses.map((_, r) => [`row ${r}`, r]);
    const controls = h("div", { class: "cw-controls" },
      losses.map((_, d) => choice(`Document ${letter(d)}`, rows, () => at().rows[d],
        (r) => move({ rows: at().rows.map((old, k) => (k === d ? r : old)) }))),
      choice("Extra padding", data.pads.map((p) => [String(p), p]), () => at().pad, (pad) => move({ pad })),
      choice("Micro-batches", [["one", 0], ["one for each row", 1]], () => at().split, (split) => move({ split })));

    const board = h("div", { class: "cw-board", role: "img" });
    const draw = ({ rows: where, pad, split }) => {
      const used = [...new Set(where)].sort().map((r) => losses.flatMap((l, d) => (where[d] === r ? [d] : [])));
      const size = (docs) => docs.reduce((n, d) => n + losses[d].length + 1, 0);
      const width = Math.max(...used.map(size)) + pad;
      board.setAttribute("aria-label", used.map((docs, b) => `Row ${b}: ${docs.map((d) => `document ${letter(d)}`).join(", ")}, `
        + `${width - size(docs)} slots of padding`).join(". "));
      board.replaceChildren(...used.map((docs, b) => h("div", { class: "cw-lane", "data-cut": split && b ? "" : null },
        docs.flatMap((d) => [null, ...losses[d]].map((loss) => h("span", { class: `cw-box cw-doc${d}` },
          loss === null ? letter(d) : String(loss)))),
        Array.from({ length: width - size(docs) }, () => h("span", { class: "cw-box cw-pad" }, "")))));
    };
    const list = means.map(([name, how]) => {
      const value = h("strong", {}), from = h("span", { class: "cw-how" }), moved = h("span", { class: "cw-moved" });
      return { value, from, moved, name, el: h("div", { role: "row", class: "cw-mean" },
        h("span", { role: "rowheader" }, capital(name), h("small", {}, how)),
        h("span", { role: "cell" }, from), h("span", { role: "cell" }, value, moved)) };
    });
    const news = h("p", { class: "cw-progress", role: "status" });
    api.onpaint(() => {
      const s = at(), now = states[`${s.rows.join("")}-${s.pad}-${s.split}`];
      draw(s);
      const changed = list.filter((m, i) => {
        const [how, value] = values[now[i]], differs = value !== data.start.values[i][1];
        m.from.textContent = how;
        m.value.textContent = value;
        m.moved.textContent = differs ? "moved" : "";
        return differs;
      });
      const text = changed.length ? `Moved from the start: ${changed.map((m) => m.name).join(", ")}.` : "As at the start.";
      if (news.textContent !== text) news.textContent = text;
    });

    let c;
    const grid = toggleGrid({ label: part.title, names: part.names, cols: part.cols, value: () => c.value(),
      change: (next) => c.change(next), heads: [part.actions], side: means.map(([name]) => name),
      corner: "mean", face: (i, on) => (on ? "moves" : "·") });
    grid.el.classList.add("cw-wide");
    c = checking(api, part, grid, "the prediction");
    return [controls, board, h("p", { class: "cw-caption" }, "Each strip is a row. A letter begins a document "
      + "and is scored on nothing; a number is the loss of that target; dashed slots are padding."),
    h("div", { role: "table", "aria-label": "Five means", class: "cw-means" }, list.map((m) => m.el)), news,
    h("div", { class: "cw-step" }, h("p", { class: "cw-step-title" }, part.title), h("p", { class: "cw-ask" }, part.ask), grid.el, c.el)];
  });
}
export default { render };
