// Spot the bug: mark words of a text, then learn what is wrong and why it is silent.
function render({ model, el }) {
  return shell(model, el, (api) => {
    const { data } = api, { words, owner, errors } = data, box = live();
    const value = () => api.answer().words || words.map(() => 0);
    let at = 0;
    const buttons = words.map((word, i) => h("button", { type: "button", class: "cw-word", tabindex: i ? -1 : 0,
      onclick: () => {
        const next = [...value()];
        next[i] = next[i] ? 0 : 1;
        api.put({ words: next, checked: false });
        focus(i);
      } }, word));
    const focus = (i) => {
      buttons[at].tabIndex = -1;
      at = i;
      buttons[i].tabIndex = 0;
      buttons[i].focus();
    };
    const text = h("div", { class: "cw-text", role: "group", "aria-label": "Set-up. Arrow keys move from word to word, space marks.",
      onkeydown: (e) => {
        const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0,
          End: words.length - 1 }[e.key];
        if (to === undefined) return;
        e.preventDefault();
        e.stopPropagation();
        focus(Math.max(0, Math.min(words.length - 1, to)));
      } }, buttons);

    const ladder = hints(api, "words", data.hints);
    const check = button("Check the words", () => { shown = null; api.put({ words: value(), checked: true }); },
      { "data-check": "words" });
    let shown;
    api.onpaint((a) => {
      const v = value(), on = !!a.checked;
      const hit = new Set(owner.filter((o, i) => v[i] && o >= 0));
      // words marked side by side are one place, of one expression
      const false_ = [], places = [...words];
      owner.forEach((o, i) => {
        if (!v[i] || o >= 0) return;
        const last = false_[false_.length - 1];
        if (last && last.to === i - 1 && owner[i - 1] === o) {
          places[last.i] += ` ${words[i]}`;
          last.to = i;
        } else false_.push({ i, to: i, msg: o === -1 ? data.neutral : data.fine[-2 - o] });
      });
      const missing = errors.length - hit.size;
      buttons.forEach((b, i) => {
        b.setAttribute("aria-pressed", !!v[i]);
        b.dataset.kind = !on || !v[i] ? "" : owner[i] < 0 ? "bad" : "good";
      });
      const state = on + JSON.stringify([on && v]);
      if (state === shown) return;
      shown = state;
      box.dataset.wrong = on ? false_.length + missing : "";
      if (!on) return say(box, "", "");
      const found = [...hit].map((k) => errors[k]);
      const told = reasons(false_, places.map((w) => `“${w.replace(/[.,:;]$/, "")}”`));
      if (missing) told.push(missing === 1 ? "One error is not marked yet." : `${missing} errors are not marked yet.`);
      const good = !false_.length && !missing;
      say(box, good ? "good" : "bad", good ? "Correct." : `${false_.length + missing} to put right.`, "", told);
      for (const e of found) {
        box.append(h("dl", { class: "cw-bug" }, h("dt", {}, `✓ ${capital(e.name)}`), h("dd", {}, rich(e.what)),
          h("dt", {}, "Why the loss curve hides it"), h("dd", {}, rich(e.hides)),
          h("dt", {}, "The way out"), h("dd", {}, rich(e.fix))));
      }
      if (good) box.append(h("p", { class: "cw-evidence" }, rich(data.evidence)));
      return undefined;
    });
    return [text, h("div", { class: "cw-actions" }, check, ladder.more), ladder.box, box];
  });
}
export default { render };
