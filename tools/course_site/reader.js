// What a page does for its reader, besides the exercises themselves: it counts what is solved, in this
// browser alone, prints in light colours with answers unfolded, and lets search show excerpts where a
// server can send them.

// pages opened from a file may not fetch others
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// the theme takes the focus from a sidebar's button; who pressed it by keyboard gets it back
document.addEventListener("click", (e) => {
  const toggle = e.detail ? null : e.target.closest(".sidebar-toggle");
  if (toggle) setTimeout(() => { if (!document.querySelector("dialog[open]")) toggle.focus(); });
}, true);
document.addEventListener("close", (e) => {
  const name = { "pst-primary-sidebar-modal": ".primary-toggle", "pst-secondary-sidebar-modal": ".secondary-toggle" }[e.target.id];
  if (name) document.querySelector(name).focus();
}, true);

const page = document.documentElement, folded = new Set();
let theme;
addEventListener("beforeprint", () => {
  theme = page.dataset.theme;
  page.dataset.theme = "light";
  for (const d of document.querySelectorAll(".bd-article details:not([open])")) folded.add(d), d.open = true;
});
addEventListener("afterprint", () => {
  page.dataset.theme = theme;
  for (const d of folded) d.open = false;
  folded.clear();
});

const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
const ANSWERS = `course:${root.pathname}`, MARKS = `course-done:${root.pathname}`;
const line = document.querySelector(".course-progress");
const pages = Object.keys(EXERCISES);

const make = (tag, attributes, ...kids) => {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...kids);
  return e;
};

// --- marks: one entry for each solved exercise, so that two open tabs do not overwrite each other
const isSolved = (page, id) => localStorage.getItem(`${MARKS}${page}#${id}`) !== null;
const solvedOn = (page) => EXERCISES[page].filter((id) => isSolved(page, id)).length;
const kept = () => Array.from({ length: localStorage.length }, (_, i) => localStorage.key(i))
  .filter((key) => key.startsWith(ANSWERS) || key.startsWith(MARKS));
function mark(page, id) {
  try {
    localStorage.setItem(`${MARKS}${page}#${id}`, "1");
  } catch { /* the browser's storage is full */ }
}

// --- what is shown
const pageOf = (a) => a.href.split("#")[0].replace(root.href, "").replace(/\.html$/, "");

// a mark behind a link: "2/3", in words for a screen reader; nothing where nothing is solved
function tag(a) {
  const page = pageOf(a), of = EXERCISES[page]?.length || 0, n = of && solvedOn(page);
  a.querySelector(".course-mark")?.remove();
  if (!n) return;
  a.append(make("span", { class: "course-mark" },
    make("span", { "aria-hidden": "true" }, n === of ? " ✓" : ` ${n}/${of}`),
    make("span", { class: "visually-hidden" }, ` (${n} of ${of} exercises solved)`)));
}

function paint() {
  document.querySelectorAll(".bd-docs-nav a.internal").forEach(tag);
  if (!line) return;
  const { page, whole = null } = line.dataset, status = line.firstElementChild;
  if (whole !== null) document.querySelectorAll(".bd-article :is(table, li, .course-map) a.internal").forEach(tag);
  const list = whole !== null ? pages : [page];
  const n = list.reduce((sum, p) => sum + solvedOn(p), 0);
  const of = list.reduce((sum, p) => sum + EXERCISES[p].length, 0);
  const text = `${n === of ? "✓ " : ""}${n} of ${of} interactive exercise${of === 1 ? "" : "s"} ${whole !== null ? "in the course" : "on this page"} solved`;
  if (status.textContent !== text) status.textContent = text;
  forget.hidden = !kept().length;
}

// --- forgetting, after a question
const forget = make("button", { type: "button", class: "course-forget" }, "Forget my progress …");
const ask = make("dialog", { class: "course-ask", "aria-labelledby": "course-ask" },
  make("form", { method: "dialog" },
    make("p", { id: "course-ask" }, "Forget all answers and marks that this browser keeps for this course, on every page? They cannot be brought back."),
    make("button", { value: "keep" }, "Keep them"), make("button", { value: "forget" }, "Forget them")));
forget.onclick = () => { ask.returnValue = "keep"; ask.showModal(); };
ask.onclose = () => {
  if (ask.returnValue !== "forget") return;
  document.dispatchEvent(new Event("course:forget")); // the exercises of this page clear themselves
  kept().forEach((key) => localStorage.removeItem(key));
  document.querySelectorAll(".course-solved").forEach((e) => e.remove());
  paint();
  line.tabIndex = -1; // the button is gone: the focus stays where it was
  line.focus();
};

// --- an exercise tells its state when it starts and whenever its answer changes. Solved stays solved
// while one tries other answers and starts again; only forgetting takes the mark away.
document.addEventListener("course:answer", ({ target, detail: { id, solved } }) => {
  const { page } = line.dataset;
  if (!EXERCISES[page]?.includes(id)) return;
  if (solved) mark(page, id);
  const title = target.querySelector(".cw-title");
  title.querySelector(".course-solved")?.remove();
  if (isSolved(page, id)) title.append(make("span", { class: "course-solved" }, solved ? " ✓ solved" : " ✓ solved before"));
  paint();
});

if (line) {
  line.append(forget);
  document.body.append(ask);
}
for (const type of ["pageshow", "storage"]) addEventListener(type, paint);
paint();
