"use strict";
// Rules turned by hand. All edits are kept here; the studio applies them to the original, so undoing is exact.
const Rules = (() => {
  const { made, drawn, one, problem, ask, about, remember, fill, shown, percent, toast } = Studio;
  const [WIDE, HIGH, ROOM] = [320, 110, 14];
  const state = { name: "", table: "", edits: [], undone: [], view: null, first: null, pending: false, again: false };

  // One question at a time; while one is out, only the newest further one waits.
  async function refresh() {
    if (state.pending) {
      state.again = true;
      return;
    }
    state.pending = true;
    do {
      state.again = false;
      const wish = { edits: state.edits, ...(state.table ? { table: state.table } : {}) };
      try {
        const view = await ask(`/api/models/${encodeURIComponent(state.name)}/rules`, wish);
        problem("");
        state.view = view;
        if (!state.edits.length) state.first = view;
        show();
      } catch (error) {
        problem(error.message);
        if (state.edits.length && !state.again) state.edits.pop(); // what was refused is not kept
      }
    } while (state.again);
    state.pending = false;
    one("#busy").hidden = true;
  }

  function edit(one_) {
    state.undone = [];
    const last = state.edits[state.edits.length - 1];
    // A drag is one edit, not a hundred.
    if (one_.drag && last && last.drag === one_.drag) state.edits.pop();
    state.edits.push(one_);
    refresh();
  }

  function undo() {
    if (state.edits.length) state.undone.push(state.edits.pop());
    refresh();
  }

  function redo() {
    if (state.undone.length) state.edits.push(state.undone.pop());
    refresh();
  }

  function show() {
    const { view } = state;
    one("#turning").hidden = false;
    one("#undo").disabled = !state.edits.length;
    one("#redo").disabled = !state.undone.length;
    const count = state.edits.length;
    one("#edits").textContent = count ? `${count} edit${count > 1 ? "s" : ""}` : "as it was learned";
    showEffect(view.effect);
    const focused = document.activeElement?.dataset?.handle || document.activeElement?.dataset?.key;
    showCards(view);
    showSets(view);
    showMap(view);
    if (focused) document.querySelector(`[data-handle="${focused}"], [data-key="${focused}"]`)?.focus();
  }

  function showEffect(effect) {
    const place = one("#effect");
    place.replaceChildren();
    if (!effect) {
      made("p", "how", place, "Choose a table above to see what edits do to its predictions.");
      return;
    }
    const line = made("p", "verdict", place);
    made("span", "", line, `${effect.measure} ${effect.before.toFixed(3)} → `);
    const better = effect.after > effect.before;
    made("span", effect.after === effect.before ? "" : better ? "better" : "worse", line, effect.after.toFixed(3));
    made("span", "how", line, ` on ${effect.rows.toLocaleString("en")} rows; ${effect.changed} predictions changed`);
    if (!effect.changed) return;
    const box = made("details", "", place);
    made("summary", "", box, "Which rows?");
    const list = made("ul", "", box);
    for (const [row, truth, before, after] of effect.examples) made("li", "", list, `row ${row} is ${truth}: ${before} → ${after}`);
  }

  function showCards(view) {
    const place = one("#cards");
    place.replaceChildren();
    const total = view.leads.reduce((sum, count) => sum + count, 0);
    view.sentences.forEach((sentence, rule) => {
      const off = view.off.includes(rule);
      const card = made("article", `card${off ? " off" : ""}`, place);
      card.id = `rule-${rule + 1}`;
      made("p", "sentence", card, sentence.replace(/^RULE \d+: /, ""));
      const head = made("p", "lead", card);
      const label = made("label", "", head);
      const box = made("input", "", label);
      Object.assign(box, { type: "checkbox", checked: !off });
      box.dataset.key = `on-${rule}`;
      made("b", "", label, ` Rule ${rule + 1}`);
      box.addEventListener("change", () => edit({ kind: "switch", rule, on: box.checked }));
      if (total) made("span", "", head, ` leads on ${view.leads[rule]} rows, ${percent(view.leads[rule] / total)}`);
      const parts = made("div", "premises", card);
      view.premises[rule].forEach((term, input) => {
        if (term >= 0) premise(parts, view, rule, input, term);
      });
      more(parts, view, rule);
      conclusions(card, view, rule);
    });
  }

  function premise(parent, view, rule, input, term) {
    const label = made("label", "premise", parent);
    made("span", "", label, `${view.inputs[input].name} is `);
    const select = made("select", "", label);
    select.dataset.key = `premise-${rule}-${input}`;
    made("option", "", select, "anything").value = -1;
    view.inputs[input].terms.forEach(([name], k) => (made("option", "", select, name).value = k));
    select.value = term;
    select.addEventListener("change", () => edit({ kind: "premise", rule, input, term: Number(select.value) }));
  }

  function more(parent, view, rule) {
    const free = view.inputs.map((_, input) => input).filter((input) => view.premises[rule][input] < 0 && view.inputs[input].terms.length);
    if (!free.length) return;
    const label = made("label", "premise", parent);
    made("span", "visually-hidden", label, `add a premise to rule ${rule + 1}`);
    const select = made("select", "", label);
    select.dataset.key = `more-${rule}`;
    made("option", "", select, "and …").value = "";
    for (const input of free) {
      view.inputs[input].terms.forEach(([name], term) => (made("option", "", select, `${view.inputs[input].name} is ${name}`).value = `${input},${term}`));
    }
    select.addEventListener("change", () => {
      const [input, term] = select.value.split(",").map(Number);
      edit({ kind: "premise", rule, input, term });
    });
  }

  function conclusions(card, view, rule) {
    const line = made("div", "conclusions", card);
    made("span", "", line, view.formulas ? "then, beside its formula" : "then");
    view.outputs.forEach((output, k) => {
      const label = made("label", "", line);
      made("span", "", label, output);
      const input = made("input", "", label);
      Object.assign(input, { type: "number", step: "any", value: shown(view.conclusions[rule][k], 5) });
      input.dataset.key = `conclusion-${rule}-${k}`;
      const best = view.classes && view.conclusions[rule][k] === Math.max(...view.conclusions[rule]);
      label.classList.toggle("best", best);
      input.addEventListener("change", () => {
        const value = Number(input.value);
        if (input.value !== "" && Number.isFinite(value)) edit({ kind: "conclusion", rule, output: k, value });
      });
    });
  }

  function showSets(view) {
    const place = one("#sets");
    place.replaceChildren();
    view.inputs.forEach((input, k) => {
      if (input.terms.length) setEditor(place, input, k);
    });
  }

  function setEditor(parent, input, place) {
    const figure = made("figure", "set-editor", parent);
    made("figcaption", "", figure, input.name);
    const span = input.high - input.low || 1;
    const [low, high] = [input.low - 0.05 * span, input.high + 0.05 * span];
    const across = (x) => (WIDE * (x - low)) / (high - low);
    const picture = drawn("svg", { viewBox: `0 0 ${WIDE} ${HIGH + ROOM}` }, figure);
    const most = Math.max(1, ...input.histogram);
    input.histogram.forEach((count, k) => {
      const step = span / input.histogram.length;
      const tall = ((HIGH - 12) * count) / most;
      drawn("rect", { class: "histogram", x: across(input.low + k * step), y: HIGH - tall, width: Math.max(0.5, across(low + step) - 1), height: tall }, picture);
    });
    input.terms.forEach(([name, center, width], term) => {
      const points = Array.from({ length: 81 }, (_, k) => low + (k / 80) * (high - low));
      const path = points.map((x) => `${across(x).toFixed(1)} ${(HIGH - (HIGH - 12) * Math.exp(-0.5 * ((x - center) / width) ** 2)).toFixed(1)}`);
      drawn("path", { class: `curve dash-${term % 4}`, d: `M${path.join("L")}` }, picture);
      handle(picture, { input, place, name, center, width, term, low, high, across });
    });
    const ends = made("p", "ends", figure);
    for (const value of [input.low, input.high]) made("span", "", ends, shown(value, 3));
    made("p", "how", figure, input.terms.map(([name, center, width]) => `${name}: ${shown(center, 3)} ± ${shown(width, 3)}`).join(" · "));
  }

  function handle(picture, { input, place, name, center, width, term, low, high, across }) {
    const seen = Math.min(Math.max(center, low), high); // a centre beyond the data is held at its rim
    const key = `${place}-${term}`;
    const dot = drawn("circle", { class: "handle", cx: across(seen), cy: 12, r: 8, tabindex: 0, role: "slider", "data-handle": key }, picture);
    dot.setAttribute("aria-label", `${input.name} is ${name}: centre; up and down change its width`);
    dot.setAttribute("aria-valuenow", shown(center, 4));
    const move = (to, wide, drag) => {
      const least = Math.max(wide, (high - low) / 1000);
      const now = state.view.inputs[place].terms[term];
      [now[1], now[2]] = [to, least]; // at once: the next key counts from here
      edit({ kind: "set", input: place, term, center: to, width: least, drag });
    };
    dot.addEventListener("keydown", (event) => {
      const step = (high - low) / 100;
      const moves = { ArrowLeft: [-step, 1], ArrowRight: [step, 1], ArrowUp: [0, 1.05], ArrowDown: [0, 1 / 1.05] };
      if (!moves[event.key] || event.ctrlKey) return;
      event.preventDefault();
      const [by, factor] = moves[event.key];
      const [, now, wide] = state.view.inputs[place].terms[term];
      move(now + by, wide * factor, `key-${key}`);
    });
    dot.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      dot.focus();
      const box = picture.getBoundingClientRect();
      const drag = `drag-${key}-${Date.now()}`;
      const [fromX, fromY] = [event.clientX, event.clientY];
      const follow = (moved) => {
        const by = ((moved.clientX - fromX) / box.width) * (high - low);
        const up = (fromY - moved.clientY) / box.height;
        move(center + by, width * Math.exp(up), drag);
      };
      const end = () => {
        window.removeEventListener("pointermove", follow);
        window.removeEventListener("pointerup", end);
      };
      window.addEventListener("pointermove", follow);
      window.addEventListener("pointerup", end);
    });
  }

  function showMap(view) {
    const map = one("#map");
    map.replaceChildren();
    const used = view.inputs.map((_, k) => k).filter((k) => view.premises.some((row) => row[k] >= 0));
    const head = made("tr", "", made("thead", "", map));
    made("th", "", head, "Rule");
    for (const k of used) made("th", "", head, view.inputs[k].name);
    const body = made("tbody", "", map);
    view.premises.forEach((row, rule) => {
      const line = made("tr", view.off.includes(rule) ? "off" : "", body);
      const link = made("a", "", made("td", "", line), String(rule + 1));
      link.href = `#rule-${rule + 1}`;
      for (const k of used) {
        const cell = made("td", "", line, row[k] < 0 ? "" : view.inputs[k].terms[row[k]][0]);
        const count = view.inputs[k].terms.length;
        if (row[k] >= 0) cell.style.setProperty("--level", count > 1 ? row[k] / (count - 1) : 0.5);
        cell.classList.toggle("asked", row[k] >= 0);
      }
    });
  }

  async function open() {
    state.name = one("#model").value;
    state.table = one("#table").value;
    remember(`/rules/${encodeURIComponent(state.name)}`, { table: state.table });
    one("#busy").hidden = false;
    Object.assign(state, { edits: [], undone: [], view: null });
    await refresh();
  }

  async function start() {
    try {
      const [{ models }, { tables }] = await Promise.all([ask("/api/models"), ask("/api/tables")]);
      fill(one("#model"), models, about());
      const choice = one("#table");
      made("option", "", choice, "no table").value = "";
      for (const { key, name } of tables) made("option", "", choice, name).value = key;
      const wanted = new URLSearchParams(location.search).get("table");
      choice.value = tables.some(({ key }) => key === wanted) ? wanted : "";
      one("#none").hidden = models.length > 0;
      one("#choice").hidden = !models.length;
      one("#busy").hidden = true;
      if (about() && !models.includes(about())) return problem(`There is no model called ${about()} here; choose another above.`);
      if (models.length) await open();
    } catch (error) {
      one("#busy").hidden = true;
      problem(error.message);
    }
  }

  async function save(event) {
    event.preventDefault();
    try {
      const { model } = await ask(`/api/models/${encodeURIComponent(state.name)}/save`, { edits: state.edits, as: one("#as").value });
      toast(`Saved as ${model}. The original is as it was.`);
      const option = made("option", "", one("#model"), model);
      option.value = model;
      one("#model").value = model;
      await open();
    } catch (error) {
      problem(error.message);
    }
  }

  one("#model").addEventListener("change", open);
  one("#table").addEventListener("change", () => {
    state.table = one("#table").value;
    remember(`/rules/${encodeURIComponent(state.name)}`, { table: state.table });
    refresh();
  });
  one("#undo").addEventListener("click", undo);
  one("#redo").addEventListener("click", redo);
  one("#save").addEventListener("submit", save);
  one("#add").addEventListener("submit", (event) => {
    event.preventDefault();
    if (one("#words").value.trim()) edit({ kind: "add", text: one("#words").value });
  });
  document.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    if (/^(INPUT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
    if (event.key === "z" && !event.shiftKey) undo();
    else if (event.key === "y" || (event.key === "Z" && event.shiftKey)) redo();
    else return;
    event.preventDefault();
  });
  start();
  return { state, undo, redo, edit };
})();
