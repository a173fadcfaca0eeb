// A page without a kernel: the host plays the model's part for the modules above, and keeps the
// answer in the browser, under the page and the widget's id.
class Model {
  constructor(state, key) {
    this.key = key;
    this.handlers = new Map();
    this.state = { answer: {}, ...state };
    try { this.state.answer = JSON.parse(localStorage.getItem(key)) || {}; } catch { /* no storage */ }
  }
  get(name) { return this.state[name]; }
  set(name, value) {
    this.state[name] = value;
    for (const f of this.handlers.get(`change:${name}`) || []) f();
  }
  save_changes() {
    const { answer } = this.state;
    try {
      if (Object.keys(answer).length) localStorage.setItem(this.key, JSON.stringify(answer));
      else localStorage.removeItem(this.key);
    } catch { /* no storage: the answer lives as long as the page */ }
  }
  on(name, f) { this.handlers.set(name, [...(this.handlers.get(name) || []), f]); }
  off(name, f) { this.handlers.set(name, (this.handlers.get(name) || []).filter((g) => g !== f)); }
}

function start() {
  const seen = {};
  for (const host of document.querySelectorAll(".course-widget[data-module]")) {
    const { module, id } = host.dataset;
    if (host.dataset.ready || !MODULES[module]) continue;
    seen[id] = (seen[id] || 0) + 1;
    const state = JSON.parse(host.querySelector("script").textContent);
    const el = h("div", { class: "cw-live" });
    const model = new Model(state, `course:${location.pathname}:${id}:${seen[id]}`);
    try {
      MODULES[module].render({ model, el });
    } catch (error) {
      // an answer of another time must not take the exercise away
      model.set("answer", {});
      model.save_changes();
      MODULES[module].render({ model, el });
    }
    host.append(el);
    host.dataset.ready = "true";
  }
}
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
