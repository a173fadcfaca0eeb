// The packed-row workbench: five steps, each with its own check.
function render({ model, el }) {
  return shell(model, el, (api) => {
    const { data } = api, { names, ids, pads, losses } = data;
    const slots = names.map((_, t) => t);
    const pad = (t) => (pads[t] ? "cw-pad" : "");
    const head = data.toy ? [slots, names, ids] : [slots, ids];

    const VIEWS = {
      strip: (part, c) => toggleGrid({ ...c, label: part.title, names: part.names, heads: head, kind: pad,
        face: (i, on) => (on ? "✓" : "·") }),
      grid: (part, c) => toggleGrid({ ...c, label: part.title, names: part.names, cols: part.cols,
        heads: [names], side: names.map((n, t) => (data.toy ? `${t} ${n}` : `${t}: ${n}`)), corner: "q \\ k",
        kind: (i) => (pads[Math.floor(i / part.cols)] || pads[i % part.cols] ? "cw-pad" : ""),
        face: (i, on) => (on ? "1" : "") }),
      fields: (part, c) => {
        const f = fields({ ...c, names: part.names });
        f.el = strip([...head.map(cells), f.inputs], names.length);
        return f;
      },
      pair: (part, c) => {
        const f = fields({ ...c, names: part.names, mode: "decimal" });
        const shown = ["–", ...losses];
        f.el = [strip([slots, data.toy ? names : ids, shown].map(cells), names.length),
          h("div", { class: "cw-fraction" }, ...part.names.map((name, i) =>
            h("label", {}, h("span", {}, name), f.inputs[i])))];
        return f;
      },
    };

    const steps = data.parts.map((part, k) => {
      // the field and its check need each other; the field asks for its value only when painted
      let c;
      const field = VIEWS[part.view](part, { value: () => c.value(), change: (next) => c.change(next) });
      c = checking(api, part, field, `the ${part.title.toLowerCase()}`);
      const state = h("span", { class: "cw-state" });
      api.onpaint((a) => { state.textContent = c.solved(a) ? "✓ done" : ""; });
      return { c, el: h("div", { class: "cw-step", role: "group", "aria-label": `Step ${k + 1}: ${part.title}` },
        h("p", { class: "cw-step-title" }, `${k + 1}. ${part.title} `, state),
        h("p", { class: "cw-ask" }, rich(part.ask)), field.el, c.el) };
    });

    const total = h("p", { class: "cw-progress", role: "status" });
    api.onpaint((a) => {
      const done = steps.filter((s) => s.c.solved(a)).length;
      const text = done === steps.length ? "✓ All five steps are correct." : `${done} of ${steps.length} steps correct`;
      if (total.textContent !== text) total.textContent = text;
    });
    api.foot.prepend(total);
    const out = h("textarea", { class: "cw-code", readonly: true, rows: 6, hidden: true,
      "aria-label": "Your answer as Python" });
    api.foot.append(button("Copy as Python", async () => {
      out.hidden = false;
      out.value = python(api.answer(), data);
      out.select();
      let copied = true;
      try { await navigator.clipboard.writeText(out.value); } catch { copied = document.execCommand("copy"); }
      say(api.note, "", copied ? "Copied. Paste it over the six lines of exercise L2.3, in lab 2."
        : "The text is selected: copy it with Ctrl+C.");
    }));
    api.onpaint((a) => { if (!out.hidden) out.value = python(a, data); });
    return [...steps.map((s) => s.el), out];
  });
}

const cells = (values) => values.map((v) => h("span", { class: "cw-head" }, String(v)));
const strip = (rows, n) => h("div", { class: "cw-grid", style: `--n:${n}` },
  rows.map((row) => h("div", { class: "cw-row" }, row)));

// The answer as literals for a lab: what was entered, right or wrong; None where nothing was.
function python(answer, data) {
  const n = data.ids.length;
  const number = (text) => (Number.isNaN(parse(text || "")) ? "None" : String(text).trim().replace(",", ".").replace("−", "-"));
  const list = (items) => `[${items.join(", ")}]`;
  const { starts, positions, mask, targets, loss } = answer;
  const rows = mask && data.ids.map((_, q) => `    ${list(mask.slice(q * n, (q + 1) * n))},`);
  return [
    `starts = ${starts ? list(starts.flatMap((on, t) => (on ? [t] : []))) : "None"}`,
    `position_ids = ${positions ? list(positions.map((p, t) => (p.trim() ? number(p) : data.pads[t] ? "-1" : "None"))) : "None"}`,
    mask ? `mask = [\n${rows.join("\n")}\n]` : "mask = None",
    // the first label is never scored; it stays, as in a batch
    `labels = ${targets ? list(targets.map((on, t) => (on || (!t && !data.pads[0]) ? data.ids[t] : -100))) : "None"}`,
    `numerator = ${number((loss || [])[0])}`,
    `denominator = ${number((loss || [])[1])}`,
  ].join("\n");
}
export default { render };
