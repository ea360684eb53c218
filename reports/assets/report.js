// Filter, sort, keys, what-if, code beside each step. Without this script the page holds all the same.
(() => {
"use strict";
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const data = JSON.parse($("#data").textContent);
const make = (name, props = {}, ...children) => {
  const element = Object.assign(document.createElement(name), props);
  element.append(...children);
  return element;
};
document.documentElement.classList.add("on");

// ---- Views: one part of the report at a time; browsers that can, search the hidden ones too.
const sections = $$("main > section");
const tabs = $$("nav a");
let view = "overview";
const show = name => {
  view = name;
  for (const section of sections) {
    if (section.id === name) section.removeAttribute("hidden");
    else section.setAttribute("hidden", "until-found");
  }
  for (const tab of tabs) {
    if (tab.hash === "#" + name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
};
for (const section of sections) section.addEventListener("beforematch", () => show(section.id));
const hashTarget = () => {
  const raw = decodeURIComponent(location.hash.slice(1));
  const direct = document.getElementById(raw);
  if (direct) return direct;
  const anchor = Object.keys(data.ids).find(key => data.ids[key] === raw);  // a deep link by the gate's id
  return anchor ? document.getElementById(anchor) : null;
};
const navTop = () => $("header").offsetHeight;
let scrolled = 0;
window.addEventListener("scroll", () => { scrolled = window.scrollY; }, {passive: true});
for (const tab of tabs) tab.addEventListener("click", () => { scrolled = window.scrollY; });
const go = () => {
  const stuck = Math.min(scrolled, navTop());  // a change of part keeps the first screen away once it was left
  const element = hashTarget();
  const section = element && element.closest("main > section");
  show(section ? section.id : "overview");
  if (!element || element === section) { requestAnimationFrame(() => window.scrollTo(0, stuck)); return; }
  for (let e = element; e; e = e.parentElement) if (e.tagName === "DETAILS") { e.classList.remove("hide"); e.open = true; }
  if (element.classList.contains("card")) select(element);
  element.scrollIntoView({block: element.closest("pre") ? "center" : "start"});
};
window.addEventListener("hashchange", go);

// ---- State in the URL: filters by list, opened gates.
const state = new URLSearchParams(location.search);
const save = () => {
  const query = state.toString();
  try { history.replaceState(null, "", (query ? "?" + query : location.pathname) + location.hash); } catch { /* some browsers refuse on file: */ }
};
const remember = (key, value) => { if (value) state.set(key, value); else state.delete(key); save(); };

// ---- Filters
const rowsOf = list => list.matches(".list") ? [...list.children].filter(e => e.matches("details")) : $$("[data-row]", list);
const texts = new WeakMap();
const textOf = row => {
  if (!texts.has(row)) texts.set(row, ((row.matches("details") ? row.firstElementChild.textContent + " " + ($(".id", row) || {textContent: ""}).textContent : row.textContent)).toLowerCase());
  return texts.get(row);
};
const filters = {};
for (const form of $$(".filter")) {
  const name = form.dataset.for;
  const list = $(`[data-list="${name}"]`);
  const rows = rowsOf(list);
  const fields = $$("input, select", form);
  const apply = () => {
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = fields.filter(f => f.name !== "q" && f.value);
    let shown = 0;
    for (const row of rows) {
      const ok = wanted.every(f => row.dataset[f.name] === f.value) && words.every(w => textOf(row).includes(w));
      row.classList.toggle("hide", !ok);
      shown += ok;
    }
    for (const f of fields) f.classList.toggle("set", Boolean(f.value));
    const narrowed = words.length || wanted.length;
    $("output", form).textContent = narrowed ? `${shown} of ${rows.length}` : `${rows.length}`;
    for (const area of $$(".area", list)) area.classList.toggle("hide", !$("[data-row]:not(.hide)", area));
  };
  for (const field of fields) {
    const key = `${name}.${field.name}`;
    if (state.has(key)) field.value = state.get(key);
    field.addEventListener("input", () => { remember(key, field.value); apply(); });
  }
  form.addEventListener("submit", event => event.preventDefault());
  filters[name] = {form, apply};
  apply();
}
document.addEventListener("click", event => {
  const link = event.target.closest("[data-set]");
  if (!link) return;
  const [key, value] = link.dataset.set.split("=");
  const [list, field] = key.split(".");
  const {form, apply} = filters[list];
  for (const f of $$("input, select", form)) { f.value = f.name === field ? value : ""; remember(`${list}.${f.name}`, f.value); }
  apply();
});

// ---- Sort
for (const table of $$("table.sort")) {
  const body = table.tBodies[0];
  const key = `${table.dataset.list}.sort`;
  const heads = $$("thead th", table);
  const sort = (index, down) => {
    const value = row => { const cell = row.cells[index]; return cell.dataset.k ?? cell.textContent.trim(); };
    const numeric = [...body.rows].every(row => /^-?[\d,]*$/.test(value(row)));
    const number = row => Number(value(row).replace(/,/g, "") || 0);
    const rows = [...body.rows].sort((a, b) => numeric ? number(a) - number(b) : value(a).localeCompare(value(b), "en", {numeric: true}));
    if (down) rows.reverse();
    body.append(...rows);
    heads.forEach((head, i) => i === index ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
  };
  heads.forEach((head, index) => {
    const button = make("button", {type: "button"}, ...head.childNodes);
    head.append(button);
    head.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      sort(index, down);
      remember(key, `${index}${down ? "-" : ""}`);
    });
  });
  if (state.has(key)) sort(parseInt(state.get(key), 10) || 0, state.get(key).endsWith("-"));
}

// ---- Code beside a step: the lines stand once at the end of the page and are copied here when asked for.
const snippet = (anchor, last, gate, around = 2) => {
  const cut = anchor.lastIndexOf("-");
  const file = anchor.slice(0, cut), line = Number(anchor.slice(cut + 1));
  const box = make("pre", {className: "snip", tabIndex: 0});
  const end = Math.max(line, last || line);
  for (let n = line - around; n <= end + around; n++) {
    const source = document.getElementById(`${file}-${n}`);
    if (!source) continue;
    const copy = source.cloneNode(true);
    copy.removeAttribute("id");
    if (n >= line && n <= end) copy.classList.add("hit");
    for (const mark of $$("mark", copy)) mark.classList.toggle("on", mark.dataset.g === gate);
    box.append(copy);
  }
  return box.childElementCount ? box : null;
};
const fill = root => {
  let file = "";
  for (const step of $$(":scope > .step", root)) {
    const at = $(".at", step);
    const own = at ? at.textContent.replace(/:\d+$/, "") : "";
    step.classList.toggle("samefile", own === file);
    file = own;
    if (step.dataset.code && !$(".snip", step)) {
      const code = snippet(step.dataset.code, Number(step.dataset.last), step.dataset.gate);
      if (code) step.append(code);
    }
  }
};
const lineAnchors = new Map($$("details.code").map(d => [$("summary", d).textContent, ($("[id]", d) || {id: ""}).id.replace(/-\d+$/, "")]));
const buildSteps = details => {
  const list = $("ol", details);
  if (list.childElementCount) return;
  const path = data.paths[details.dataset.steps];
  const bars = new Set(path.barriers.map(b => b[0]));
  for (const index of path.steps) {
    const [kind, name, file, line, gate] = data.steps[index];
    const where = file < 0 ? "" : `${data.files[file]}:${line}`;
    const prefix = lineAnchors.get(data.files[file]);
    const anchor = prefix && document.getElementById(`${prefix}-${line}`) ? `${prefix}-${line}` : "";
    const caption = make("p", {}, make("small", {textContent: kind + " "}), name);
    const item = make("li", {className: "step" + (bars.has(gate) ? " bar" : "")}, caption);
    item.append(anchor || gate ? make("a", {className: "at", href: "#" + (gate || anchor), textContent: where}) : make("span", {className: "at", textContent: where}));
    if (anchor) item.dataset.code = anchor;
    if (gate) item.dataset.gate = gate;
    list.append(item);
  }
  fill(list);
};
document.addEventListener("toggle", event => {
  const details = event.target;
  if (!details.open) return;
  if (details.dataset.steps) buildSteps(details);
  if (details.matches(".card")) for (const list of $$(":scope > .body > .steps", details)) fill(list);
}, true);

// ---- Zoom
document.addEventListener("click", event => {
  const button = event.target.closest("[data-zoom]");
  if (!button) return;
  const scroll = $(".scroll", button.closest(".draw")), svg = $("svg", scroll), box = svg.viewBox.baseVal;
  if (button.dataset.zoom === "fit") { scroll.classList.toggle("fit"); return; }
  scroll.classList.remove("fit");
  const factor = button.dataset.zoom === "+" ? 1.25 : .8;
  const width = Math.min(6000, Math.max(240, svg.width.baseVal.value * factor));
  svg.setAttribute("width", width);
  svg.setAttribute("height", width * box.height / box.width);
});

// ---- What if: open gates, see which ways and cells change and what stops the target next.
const opened = new Set((state.get("open") || "").split(",").filter(a => data.ids[a]));
const panel = $("#whatif");
const whatif = () => {
  remember("open", [...opened].join(","));
  for (const box of $$("[data-open]")) box.checked = opened.has(box.dataset.open);
  for (const link of $$("svg .bar")) link.classList.toggle("opened", opened.has((link.getAttribute("href") || "").slice(1)));
  let free = 0, moved = 0;
  for (const [anchor, path] of Object.entries(data.paths)) {
    const card = document.getElementById(anchor);
    const rest = path.barriers.filter(b => !opened.has(b[0]));
    const changed = rest.length < path.barriers.length;
    free += changed && !rest.length;
    moved += changed && rest.length > 0;
    const items = $$(".barriers > [data-g]", card);
    for (const item of items) item.classList.toggle("opened", opened.has(item.dataset.g));
    const next = items.find(item => !opened.has(item.dataset.g));
    for (const item of items) item.classList.toggle("now", changed && item === next);
    $(".next", card).textContent = !changed ? "" : rest.length ? `then stopped at ${next ? $(".at", next).textContent : "a later gate"}, ${rest.length} left` : "no known gate left";
  }
  let cells = 0;
  for (const row of $$("tr[data-reasons]")) {
    const reasons = row.dataset.reasons.split(" ").filter(Boolean);
    const open = reasons.length > 0 && reasons.every(r => opened.has(r)) && row.dataset.state !== "supported";
    const cell = $("td.t", row);
    cell.classList.toggle("opened", open);
    cell.title = open ? "as if these gates were open: no known gate is left" : "";
    cells += open;
  }
  panel.hidden = !opened.size;
  if (!opened.size) return;
  const clear = make("button", {type: "button", textContent: "Close them again"});
  clear.addEventListener("click", () => { opened.clear(); whatif(); });
  const say = (n, one, many) => `${n} ${n === 1 ? one : many}`;
  const text = `${say(opened.size, "gate", "gates")} taken as open for ${data.target}: ${say(free, "way in has", "ways in have")} no known gate left, ${say(moved, "is", "are")} stopped at a later one` + (cells ? `, ${say(cells, "cell", "cells")} of the matrix open.` : ".");
  panel.replaceChildren(make("span", {textContent: text}), make("a", {href: "#ways", textContent: "Ways in"}), clear);
};
document.addEventListener("change", event => {
  const box = event.target.closest("[data-open]");
  if (!box) return;
  if (box.checked) opened.add(box.dataset.open); else opened.delete(box.dataset.open);
  whatif();
});

// ---- Copy a finding as Markdown
const tick = text => { const fence = "`".repeat(1 + Math.max(0, ...(text.match(/`+/g) || []).map(r => r.length))); return `${fence} ${text} ${fence}`.replace(/^(`+) ([^`].*[^`]) (`+)$/s, "$1$2$3"); };
const markdown = card => {
  const lines = [`**${$(".say", card).textContent}**`, "", tick($("summary .at", card).textContent), "", $(".facts", card).textContent, "", "    " + $(".cond", card).textContent.replace(/\n/g, "\n    "), ""];
  $$(":scope > .body > .steps > .step", card).forEach((step, i) => lines.push(`${i + 1}. ${$("p", step).textContent} (${tick($(".at", step).textContent)})`));
  lines.push("", `id: ${tick($(".id", card).textContent)}`);
  return lines.join("\n");
};
document.addEventListener("click", async event => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = markdown(document.getElementById(button.dataset.copy));
  try { await navigator.clipboard.writeText(text); } catch {
    const area = make("textarea", {value: text});
    document.body.append(area); area.select(); document.execCommand("copy"); area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy as Markdown"; }, 1500);
});

// ---- Keys
let current = null;
function select(row) {
  if (current) current.classList.remove("cur");
  current = row;
  if (current) current.classList.add("cur");
}
const visibleRows = () => $$(".list > details, [data-row]", document.getElementById(view)).filter(row => !row.classList.contains("hide") && row.offsetParent !== null);
const move = by => {
  const rows = visibleRows();
  if (!rows.length) return;
  const at = rows.indexOf(current);
  const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by))];
  select(next);
  const focus = next.matches("details") ? next.firstElementChild : $("a, summary", next);
  if (focus) focus.focus({preventScroll: true});
  next.scrollIntoView({block: "nearest"});
  if (next.getBoundingClientRect().top < 60) window.scrollBy(0, next.getBoundingClientRect().top - 60);
};
const help = $("#help");
$("#keys").addEventListener("click", () => help.showModal());
const actions = {
  "/": () => { const field = $(`#${view} .filter input`) || $(".filter input"); show(field.closest("section").id); field.focus(); field.select(); },
  "j": () => move(1), "k": () => move(-1),
  "o": () => { if (current) { if (current.matches("details")) current.open = !current.open; else ($("a", current) || current).click(); } },
  "w": () => { const box = current && $("[data-open]", current); if (box) box.click(); },
  "?": () => help.showModal(),
};
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (event.key === "Escape" && typing) { event.target.blur(); return; }
  if (typing || help.open) return;
  const number = Number(event.key);
  if (number >= 1 && number <= tabs.length) { tabs[number - 1].click(); return; }
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
});

go();
whatif();
window.addEventListener("load", () => { if (tabs.some(tab => tab.hash === location.hash)) window.scrollTo(0, 0); });
})();
