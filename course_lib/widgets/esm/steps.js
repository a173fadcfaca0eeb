// Step through: frames that one moves through, below the buttons, which therefore stay where they are.
function render({ model, el }) {
  return shell(model, el, (api) => {
    const { frames } = api.data, last = frames.length - 1;
    const go = (i) => api.put({ frame: Math.max(0, Math.min(last, i)) });
    const table = (t) => h("div", { class: "cw-table" }, t.caption ? h("p", { class: "cw-caption" }, t.caption) : null,
      h("div", { role: "table", "aria-label": t.caption || "values", class: "cw-grid", style: `--n:${t.columns}`, "data-side": "" },
        t.rows.map((row) => h("div", { role: "row", class: "cw-row" },
          h("span", { role: "rowheader", class: "cw-head cw-side" }, row.head),
          row.cells.map((cell, i) => h("span", { role: "cell", class: `cw-box cw-${row.tones[i] || "plain"}` }, cell))))));
    const panels = frames.map((f) => h("div", { class: "cw-frame" }, h("p", { class: "cw-ask" }, rich(f.text)),
      h("div", { class: "cw-tables" }, f.tables.map(table))));
    const marks = frames.map((f, i) => button(`${i + 1} ${f.title}`, () => go(i), { class: "cw-button cw-tab" }));
    const back = button("← Back", () => go((api.answer().frame || 0) - 1));
    const next = button("Next →", () => go((api.answer().frame || 0) + 1));
    const box = h("p", { class: "cw-progress", role: "status" });
    api.onpaint(({ frame = 0 }) => {
      panels.forEach((p, i) => p.toggleAttribute("data-hidden", i !== frame));
      marks.forEach((b, i) => b.setAttribute("aria-current", i === frame ? "step" : "false"));
      back.setAttribute("aria-disabled", frame === 0);
      next.setAttribute("aria-disabled", frame === last);
      box.textContent = `Step ${frame + 1} of ${frames.length}: ${frames[frame].title}`;
    });
    return [h("div", { class: "cw-tabs" }, marks), h("div", { class: "cw-actions" }, back, next, box),
      h("div", { class: "cw-stack" }, panels)];
  });
}
export default { render };
