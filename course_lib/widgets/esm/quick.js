// Quick check: choose an option, read why.
function render({ model, el }) {
  return shell(model, el, (api) => {
    const { data } = api, box = live();
    const buttons = data.options.map((option, i) => h("button", { type: "button", class: "cw-option",
      onclick: () => api.put({ choice: i }) },
    h("span", { class: "cw-letter", "aria-hidden": "true" }, "ABCDE"[i]), h("span", {}, rich(option.text))));
    let shown;
    api.onpaint(({ choice }) => {
      buttons.forEach((b, i) => {
        b.setAttribute("aria-pressed", i === choice);
        b.dataset.kind = i === choice ? (i === data.right ? "good" : "bad") : "";
      });
      if (shown === choice) return;
      shown = choice;
      const option = data.options[choice];
      box.dataset.wrong = option ? +(choice !== data.right) : "";
      if (!option) say(box, "", "");
      else if (choice === data.right) say(box, "good", "Correct.", option.why);
      else {
        say(box, "bad", "Not this one.", option.why);
        box.append(h("p", {}, h("em", {}, "The thought behind it: "), rich(option.misconception)));
      }
    });
    return [h("div", { class: "cw-options" }, buttons), box];
  });
}
export default { render };
