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
performance.mark("smgate-begin");

// ---- Views: one part of the report at a time; browsers that can, search the hidden ones too.
const sections = $$("main > section");
const tabs = $$("nav li:not(.last) a");
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
  const id = raw && $$(".card .id").find(element => element.textContent === raw);  // a deep link by the gate's id
  return id ? id.closest(".card") : null;
};
const navTop = () => $("header").offsetHeight;
let scrolled = 0;
window.addEventListener("scroll", () => { scrolled = window.scrollY; }, {passive: true});
for (const tab of tabs) tab.addEventListener("click", () => { scrolled = window.scrollY; });
const help = $("#help");
const explain = term => {
  if (!help.open) help.showModal();
  if (term && term !== help) term.scrollIntoView({block: "center"});
};
document.addEventListener("click", event => {
  const link = event.target.closest("a[href='#help'], a[href^='#w-']");
  if (!link) return;
  event.preventDefault();
  explain(document.getElementById(link.hash.slice(1)));
});
const go = () => {
  help.close();
  const stuck = Math.min(scrolled, navTop());  // a change of part keeps the first screen away once it was left
  const element = hashTarget();
  if (element && help.contains(element)) { explain(element); return; }
  const section = element && element.closest("main > section");
  show(section ? section.id : "overview");
  requestAnimationFrame(() => reach($("#" + view)));
  if (!element || element === section) { requestAnimationFrame(() => window.scrollTo(0, stuck)); return; }
  for (let e = element; e; e = e.parentElement) if (e.tagName === "DETAILS") { e.classList.remove("hide", "later"); e.open = true; }
  element.classList.remove("hide", "later");
  if (element.matches(".card, tr")) select(element);
  element.scrollIntoView({block: element.closest("pre") ? "center" : "start"});
};
window.addEventListener("hashchange", go);

// ---- State in the URL: filters by list, opened gates.
const state = new URLSearchParams(location.search);
const save = () => {
  const query = state.toString();
  try { history.replaceState(null, "", (query ? "?" + query : location.pathname) + location.hash); } catch { /* some browsers refuse on file: */ }
};
const opened = new Set((state.get("open") || "").split(",").filter(anchor => /^g-[0-9a-f]+$/.test(anchor) && document.getElementById(anchor)));
const remember = (key, value) => { if (value) state.set(key, value); else state.delete(key); save(); };

// ---- Filters
const rowsOf = list => list.matches(".list") ? [...list.children].filter(e => e.matches("details")) : $$("[data-row]", list);
const idOf = card => {  // stands last in a card: no need to look through all of it
  const foot = card.lastElementChild.lastElementChild;
  return foot && foot.matches(".foot") ? $(".id", foot).textContent : "";
};
const texts = new WeakMap();
const textOf = row => {
  if (!texts.has(row)) texts.set(row, (row.matches("details") ? row.firstElementChild.textContent + " " + idOf(row) : row.textContent).toLowerCase());
  return texts.get(row);
};
const FACTS = ["severity", "layer", "effect", "package", "justification", "silent", "state"];
const known = new WeakMap();
const factsOf = row => {  // a row of the table of gates is filtered by what its card says
  if (!known.has(row)) {
    const link = row.matches("tr") ? $(".card-link", row) : null;
    const told = (link ? document.getElementById(link.hash.slice(1)) : row).dataset;
    known.set(row, told.f === undefined ? told : Object.fromEntries(told.f.split("|").map((value, i) => [FACTS[i], value])));
  }
  return known.get(row);
};
const PAGE = 100;  // rows that are laid out at once
const filters = {};
for (const form of $$(".filter")) {
  const name = form.dataset.for;
  const list = $(`[data-list="${name}"]`);
  const rows = rowsOf(list);
  const paged = name !== "m";  // the matrix is folded by area
  const more = make("button", {type: "button", className: "more-rows"});
  let limit = PAGE;
  let order = rows;
  const page = (sorted = order) => {  // of what the filter leaves, in the order of the list
    order = sorted;
    const left = paged && rows.length > PAGE ? order.filter(row => !row.classList.contains("hide")) : [];
    left.forEach((row, at) => row.classList.toggle("later", at >= limit));
    more.hidden = left.length <= limit;
    more.textContent = `Show ${Math.min(5 * PAGE, left.length - limit)} more of ${left.length}`;
  };
  more.addEventListener("click", () => { limit += 5 * PAGE; page(); });
  (list.closest(".scroll") || list).after(more);
  const fields = $$("input, select", form);
  const weight = row => Number(row.dataset.count || 1);  // a row may stand for several alike
  const total = rows.reduce((sum, row) => sum + weight(row), 0);
  const apply = () => {
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = fields.filter(f => f.name !== "q" && f.value);
    let shown = 0;
    for (const row of rows) {
      const ok = wanted.every(f => factsOf(row)[f.name] === f.value) && words.every(w => textOf(row).includes(w));
      row.classList.toggle("hide", !ok);
      shown += ok && weight(row);
    }
    for (const f of fields) f.classList.toggle("set", Boolean(f.value));
    const narrowed = words.length || wanted.length;
    limit = PAGE;
    page();
    $("output", form).textContent = narrowed ? `${shown} of ${total}` : `${total}`;
    let before = null;
    for (const same of $$(".matrix th[scope=row]", list)) {  // a name is shown once, at its first row that is left
      const row = same.parentElement;
      if (row.classList.contains("hide")) continue;
      const here = row.parentElement.parentElement, name = same.textContent;
      same.firstElementChild?.classList.toggle("same", before !== null && before[0] === here && before[1] === name);
      before = [here, name];
    }
    for (const area of $$(".area", list)) {
      area.classList.toggle("hide", !$("[data-row]:not(.hide)", area));
      if (narrowed && !area.open) area.dataset.found = "1";
      if (narrowed) area.open = true;
      else if (area.dataset.found) { area.open = false; delete area.dataset.found; }
    }
  };
  for (const field of fields) {
    const key = `${name}.${field.name}`;
    if (state.has(key)) field.value = state.get(key);
    field.addEventListener("input", () => { remember(key, field.value); apply(); });
  }
  form.addEventListener("submit", event => event.preventDefault());
  filters[name] = {form, apply, page};
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
    filters[table.dataset.list]?.page(rows);
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
  const box = make("pre", {className: "snip"});
  const end = Math.max(line, last || line);
  for (let n = line - around; n <= end + around; n++) {
    const source = document.getElementById(`${file}-${n}`);
    if (!source) continue;
    const copy = source.cloneNode(true);
    copy.removeAttribute("id");
    copy.style.counterSet = `n ${n}`;
    if (n >= line && n <= end) copy.classList.add("hit");
    for (const mark of $$("mark", copy)) mark.classList.toggle("on", mark.dataset.g === gate);
    box.append(copy);
  }
  return box.childElementCount ? box : null;
};
const fill = list => {
  const there = new Set($$(".snip", list.closest(".body")).map(code => code.dataset.of));
  for (const step of list.children) {
    const at = $(".at", step);
    if (!at) continue;
    const anchor = step.dataset.code || (at.hash || "").slice(1);
    if (!/^f\d+-\d+$/.test(anchor) || $(".snip", step) || there.has(anchor)) continue;  // shown above already
    const card = step.closest(".card");
    const code = snippet(anchor, Number(step.dataset.last), step.dataset.gate || (step === list.firstElementChild ? card.id : ""));
    if (!code) continue;
    code.dataset.of = anchor;
    there.add(anchor);
    step.append(code);
  }
};
const sentence = card => [...$(".say", card).cloneNode(true).childNodes];
const stepOf = index => {  // a gate's card says what its step leaves out
  const [kind, name, label, where, code] = data.steps[index];
  if (code !== undefined) return {kind, name, label: label || name, place: where, code, gate: "", card: null};
  const card = document.getElementById(where);
  return {kind, name, label: label || name, place: $("summary > .at", card).textContent, code: ($(".steps .at", card).hash || "").slice(1), gate: where, card};
};
const barsOf = card => $$(".barriers > li", card).map(item => [item, ($(".at", item) || {hash: ""}).hash.slice(1)]).filter(pair => pair[1]);
const buildSteps = details => {
  const list = $("ol", details);
  if (list.childElementCount) return;
  const bars = new Set(barsOf(details.closest(".card")).map(pair => pair[1]));
  for (const index of data.paths[details.dataset.steps].steps) {
    const {kind, name, place, code, gate, card} = stepOf(index);
    const item = make("li", {className: bars.has(gate) ? "bar" : ""}, make("p", {}, make("small", {textContent: kind + " "}), ...(card ? sentence(card) : [make("code", {textContent: name})])));
    const link = gate || code;
    item.append(link ? make("a", {className: "at", href: "#" + link, textContent: place}) : make("span", {className: "at", textContent: place}));
    if (code) item.dataset.code = code;
    if (gate) item.dataset.gate = gate;
    list.append(item);
  }
  fill(list);
};

// ---- Pictures of the milder ways: laid out when the report was written, drawn here.
const svg = (name, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const cutStart = (text, limit) => text.length <= limit ? text : "…" + text.slice(text.length - limit + 1);
const W = 260, H = 56, ROW = 70;  // as in analyzer/report/drawing.py
const line = ([ax, ay], [bx, by]) => {
  if (ax === bx) {
    if (by - ay > 0 && by - ay <= ROW) return `M${ax + W / 2} ${ay + H}V${by}`;
    const side = ax + W;
    return `M${side} ${ay + H / 2}C${side + 40} ${ay} ${side + 40} ${by} ${side} ${by + H / 2}`;
  }
  const [x1, y1, x2, y2] = ax < bx ? [ax + W, ay, bx, by] : [bx + W, by, ax, ay];
  const bend = (x2 - x1) >> 1;
  return `M${x1} ${y1 + H / 2}C${x1 + bend} ${y1 + H / 2} ${x2 - bend} ${y2 + H / 2} ${x2} ${y2 + H / 2}`;
};
const draw = holder => {  // a way, or all ways of an entry
  const root = $("svg", holder), path = data.paths[holder.id];
  if (!root || root.childElementCount || !path || !path.boxes) return;
  const at = i => [path.boxes[4 * i + 1], path.boxes[4 * i + 2]];
  let d = "";
  for (let i = 0; i < path.links.length; i += 2) d += line(at(path.links[i]), at(path.links[i + 1]));
  root.append(svg("path", {class: "e", d}));
  for (let i = 0; i < path.boxes.length; i += 4) {
    const [index, x, y, number] = path.boxes.slice(i, i + 4);
    const {kind, name, label, place, gate, code} = stepOf(index);
    const [first, second] = ((number ? `✕ ${number} ` : gate ? "✓ " : "") + label).split("\n");
    const below = `${kind} ${cutStart(place, Math.max(8, 37 - kind.length))}`.trim();
    const texts = second ? [[first, 17], [second, 31], [below, 47]] : [[first, 23], [below, 42]];
    const box = svg("a", {class: number ? "bar" : gate ? "gate" : kind, transform: `translate(${x} ${y})`},
      svg("title", {}, `${kind} ${name} ${place}`.trim()), svg("use", {href: "#box"}), ...texts.map(([text, y]) => svg("text", {x: 10, y}, text)));
    if (gate || code) box.setAttribute("href", "#" + (gate || code));
    root.append(box);
  }
};

// ---- What a card shows only with script: code, pictures, what-if, copy.
const openBox = anchor => make("label", {className: "open"}, make("input", {type: "checkbox", checked: opened.has(anchor)}), ` what if open`);
const hang = holder => {
  draw(holder);
  const picture = $(".draw", holder), image = picture && $("svg", picture), entry = image && $("a", image);
  if (!picture || $(".zoom", picture)) return;
  image.setAttribute("role", "group");
  image.setAttribute("aria-label", "The way drawn, from its entry to what it can run");
  if (entry) {  // a wide fan pushes the entry down: start there
    const box = image.parentElement;
    box.scrollTop = entry.transform.baseVal[0].matrix.f - box.clientHeight / 3;
  }
  picture.prepend(make("p", {className: "zoom"}, ...[["fit", "Fit", "Fit to the page"], ["-", "−", "Smaller"], ["+", "+", "Larger"]].map(([zoom, text, title]) => {
    const button = make("button", {type: "button", textContent: text, title, ariaLabel: title});
    button.dataset.zoom = zoom;
    return button;
  })));
};
const ready = new WeakSet();
const prepare = card => {
  if (ready.has(card)) return;
  ready.add(card);
  for (const list of $$(":scope > .body > .steps", card)) fill(list);
  for (const [item, gate] of barsOf(card)) {
    $(".what", item).replaceChildren(...sentence(document.getElementById(gate)));
    const label = openBox(gate);
    label.firstChild.dataset.open = gate;
    item.append(label);
  }
  hang(card);
  if (card.matches(".way") && $(".draw", card)) {
    const steps = make("details", {className: "more"}, make("summary", {textContent: "Step by step, with code"}), make("ol", {className: "steps"}));
    steps.dataset.steps = card.id;
    $(".draw", card).after(steps);
  }
  const foot = $(".foot", card);
  if (foot && card.id.startsWith("g-")) {
    const label = openBox(card.id);
    label.firstChild.dataset.open = card.id;
    foot.append(make("span", {className: "turn"}, ...[[-1, "‹ Previous"], [1, "Next ›"]].map(([by, textContent]) => {
      const button = make("button", {type: "button", textContent});
      button.addEventListener("click", () => turn(card, by));
      return button;
    })));
    const copy = make("button", {type: "button", textContent: "Copy as Markdown"});
    copy.dataset.copy = "markdown";
    foot.prepend(label, copy);
    if ($(".diff", card)) {
      const patch = make("button", {type: "button", textContent: "Copy patch"});
      patch.dataset.copy = "patch";
      copy.after(patch);
    }
  }
  reach(card);
};
const reach = root => {  // what scrolls on its own must be reachable by keyboard
  const boxes = $$(".scroll, .snip, .cond", root).filter(box => !box.closest("details:not([open])"));
  const wide = boxes.filter(box => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight);
  for (const box of wide) {
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", box.dataset.label || "More to the side");
  }
};
document.addEventListener("toggle", event => {
  const details = event.target;
  if (!details.open) return;
  if (details.dataset.steps) { buildSteps(details); reach(details); }
  if (details.matches(".card")) prepare(details);
  if (details.matches(".whole")) { hang(details); reach(details); }
  if (details.matches(".code")) reach(details);
}, true);

// ---- Zoom
document.addEventListener("click", event => {
  const button = event.target.closest("[data-zoom]");
  if (!button) return;
  const scroll = $(".scroll", button.closest(".draw")), picture = $("svg", scroll), box = picture.viewBox.baseVal;
  if (button.dataset.zoom === "fit") { scroll.classList.toggle("fit"); return; }
  scroll.classList.remove("fit");
  const factor = button.dataset.zoom === "+" ? 1.25 : .8;
  const width = Math.min(6000, Math.max(240, picture.width.baseVal.value * factor));
  picture.setAttribute("width", width);
  picture.setAttribute("height", width * box.height / box.width);
});

// ---- What if: open gates, see which ways and cells change and what stops the target next.
const panel = $("#whatif");
const say = (n, one, many) => `${n} ${n === 1 ? one : many}`;
const ways = $$(".way").map(card => ({card, bars: barsOf(card), next: $(".next", card)}));
const always = ([item]) => !$("em", item);  // others count under circumstances that their line names
const barsAt = new Map(ways.map(({card, bars}) => [card.id, bars]));
const listed = text => (text || "").split(" ").filter(Boolean);
const cells = $$("tr[data-reasons]").map(row => ({row, cell: $("td.t", row), reasons: listed(row.dataset.reasons), bars: listed(row.dataset.ways).flatMap(way => barsAt.get(way) || [])}));
const place = pair => $(".at", pair[0]).textContent;
const whatif = () => {
  remember("open", [...opened].join(","));
  for (const box of $$("[data-open]")) box.checked = opened.has(box.dataset.open);
  for (const link of $$("svg .bar")) link.classList.toggle("opened", opened.has((link.getAttribute("href") || "").slice(1)));
  let free = 0, moved = 0, open = 0, later = 0;
  for (const {card, bars, next} of ways) {
    const rest = bars.filter(pair => !opened.has(pair[1]));
    const changed = rest.length < bars.length;
    const stops = rest.filter(always);
    free += changed && !stops.length;
    moved += changed && stops.length > 0;
    for (const [item, gate] of bars) {
      item.classList.toggle("opened", opened.has(gate));
      item.classList.toggle("now", changed && stops.length > 0 && item === stops[0][0]);
    }
    const still = stops.length && stops[0] === bars.filter(always)[0];
    next.textContent = !changed ? "" : stops.length ? `${still ? "still" : "then"} stopped at ${place(stops[0])}, ${rest.length} left` : rest.length ? `open; closed ${$("em", rest[0][0]).textContent}` : "no known gate left";
  }
  for (const {row, cell, reasons, bars} of cells) {
    const changed = reasons.length > 0 && reasons.every(r => opened.has(r)) && row.dataset.state !== "supported";
    const rest = bars.filter(pair => always(pair) && !opened.has(pair[1]));
    const free = changed && !rest.length;
    cell.classList.toggle("opened", free);
    cell.classList.toggle("next", changed && !free);
    if (changed) row.closest(".area").open = true;
    cell.title = free ? "as if these gates were open: no known gate is left" : changed ? `as if these gates were open: then stopped at ${place(rest[0])}` : "";
    open += free;
    later += changed && !free;
  }
  panel.hidden = !opened.size;
  if (!opened.size) return;
  const clear = make("button", {type: "button", textContent: "Close them again"});
  clear.addEventListener("click", () => { opened.clear(); whatif(); });
  const text = `${say(opened.size, "gate", "gates")} taken as open for ${data.target}: ${say(free, "way in has", "ways in have")} no known gate left, ${say(moved, "is", "are")} stopped at another gate` + (open ? `, ${say(open, "cell", "cells")} of the matrix open` : "") + (later ? `, ${say(later, "cell", "cells")} stopped at another gate` : "") + ".";
  panel.replaceChildren(make("span", {textContent: text}), make("a", {href: "#ways", textContent: "Ways in"}), clear);
};
document.addEventListener("change", event => {
  const box = event.target.closest("[data-open]");
  if (!box) return;
  if (box.checked) opened.add(box.dataset.open); else opened.delete(box.dataset.open);
  whatif();
});

// ---- Copy a finding as Markdown, and what opens it as a patch
const tick = text => { const fence = "`".repeat(1 + Math.max(0, ...(text.match(/`+/g) || []).map(r => r.length))); return `${fence} ${text} ${fence}`.replace(/^(`+) ([^`].*[^`]) (`+)$/s, "$1$2$3"); };
const markdown = card => {
  const lines = [`**${$(".say", card).textContent}**`, "", tick($("summary .at", card).textContent), "", $(".facts", card).textContent, "", "    " + $(".cond", card).textContent.replace(/\n/g, "\n    "), ""];
  $$(":scope > .body > .steps > li", card).forEach((step, i) => lines.push(`${i + 1}. ${$("p", step).textContent} (${tick($(".at", step).textContent)})`));
  const diff = $(".diff", card);
  if (diff) lines.push("", `What opens it: ${tick($(".opens", card).textContent)}`, "", "```diff", diff.textContent.replace(/\n$/, ""), "```");
  lines.push("", `id: ${tick($(".id", card).textContent)}`);
  return lines.join("\n");
};
document.addEventListener("click", async event => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const card = button.closest(".card");
  const text = button.dataset.copy === "patch" ? $(".diff", card).textContent : markdown(card);
  button.dataset.label ??= button.textContent;
  try { await navigator.clipboard.writeText(text); } catch {
    const area = make("textarea", {value: text});
    document.body.append(area); area.select(); document.execCommand("copy"); area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = button.dataset.label; }, 1500);
});

// ---- Keys
let current = null;
function select(row) {
  if (current) current.classList.remove("cur");
  current = row;
  if (current) current.classList.add("cur");
}
const turn = (card, by) => {  // the next finding of those that the filter leaves
  const cards = [...card.parentElement.children].filter(other => other.matches("details:not(.hide)"));
  const next = cards[cards.indexOf(card) + by];
  if (!next) return;
  card.open = false;
  location.hash = next.id;
};
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
const actions = {
  "/": () => { const field = $(`#${view} .filter input`) || $(".filter input"); show(field.closest("section").id); field.focus(); field.select(); },
  "j": () => move(1), "k": () => move(-1),
  "o": () => { if (current) { if (current.matches("details")) current.open = !current.open; else ($("a", current) || current).click(); } },
  "w": () => {
    if (!current || !current.matches(".card")) return;
    prepare(current);
    const box = current.matches(".way") ? $(".barriers > li:not(.opened) [data-open]", current) : $(".foot [data-open]", current);
    if (box) box.click();
  },
  "?": () => explain(null),
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
// The browser looks for the address itself once all is loaded, and where it finds none goes back to the top.
if (document.readyState !== "complete") window.addEventListener("load", () => { if (hashTarget()) setTimeout(go); }, {once: true});
whatif();
document.documentElement.classList.remove("boot");
performance.measure("smgate-script", "smgate-begin");
})();
