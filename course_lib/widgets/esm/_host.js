// A page without a kernel: the host plays the model's part for the modules above, keeps the answer in
// the browser, under the page and the widget's id, and tells the page whether it is solved.
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

// Solved is what the reader sees as solved: "Correct." behind every check.
function tell(host, el, id) {
  const checks = el.querySelectorAll("[data-check]").length || 1;
  const good = el.querySelectorAll('.cw-feedback[data-kind="good"]').length;
  host.dispatchEvent(new CustomEvent("course:answer", { bubbles: true,
    detail: { id, solved: good >= checks } }));
}

function start() {
  const seen = {};
  for (const host of document.querySelectorAll(".course-widget[data-module]")) {
    const { module, id } = host.dataset;
    if (host.dataset.ready || !MODULES[module]) continue;
    seen[id] = (seen[id] || 0) + 1;
    const state = JSON.parse(host.querySelector("script").textContent);
    const el = h("div", { class: "cw-live" });
    const name = `${id}:${seen[id]}`;
    const model = new Model(state, `course:${location.pathname}:${name}`);
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
    model.on("change:answer", () => tell(host, el, name));
    document.addEventListener("course:forget", () => { model.set("answer", {}); model.save_changes(); });
    tell(host, el, name);
  }
}
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
