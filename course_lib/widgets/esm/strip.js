// The target strip: switch labels to -100, with the count of targets beside it.
function render({ model, el }) {
  return shell(model, el, (api) => {
    const { data } = api, part = data.parts[0];
    let c;
    const grid = toggleGrid({ label: part.title, names: part.names, value: () => c.value(),
      change: (next) => c.change(next), heads: [data.names.map((_, t) => t), data.names],
      kind: (t) => (data.pads[t] ? "cw-pad" : ""), face: (t, on) => (on ? "-100" : data.ids[t]) });
    c = checking(api, part, grid, "the labels");
    const count = h("p", { class: "cw-count" });
    api.onpaint(() => {
      const n = c.value().filter((off, t) => t && !off).length;
      count.replaceChildren("Targets so far: ", h("strong", {}, String(n)),
        ` (labels behind the first slot that are not -100)`);
    });
    return [h("p", { class: "cw-ask" }, part.ask), grid.el, count, c.el];
  });
}
export default { render };
