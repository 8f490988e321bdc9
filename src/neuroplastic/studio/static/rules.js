"use strict";
// Rules turned by hand. All edits are kept here; the studio applies them to the original, so undoing is exact.
const Rules = (() => {
  const { made, one, problem, ask, about, remember, fill, shown, percent, toast } = Studio;
  const state = { name: "", agent: false, table: "", edits: [], undone: [], view: null, first: null, seen: null, pending: false, again: false, unfolded: new Set(), editing: new Set() };

  const address = () => `/api/${state.agent ? "agents" : "models"}/${encodeURIComponent(state.name)}`;

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
        const view = await ask(`${address()}/rules`, wish);
        problem("");
        if (wish.edits.length > (state.shownEdits ?? 0) && wish.edits.at(-1).kind === "add") {
          one("#words").value = "";
          toast(`Added: ${view.sentences.at(-1)}`);
        }
        state.shownEdits = wish.edits.length;
        refused("");
        state.view = view;
        if (!wish.edits.length) state.first = structuredClone(view); // a drag writes into the view
        if (view.agent) withSeen();
        show();
        if (view.agent && !state.again && (view.quick || RulesPlay.state.wanted)) RulesPlay.play([...state.edits], 400);
      } catch (error) {
        // Beside what was done, if it was a rule in words: the top of the page may be out of sight.
        const words = state.edits.at(-1)?.kind === "add";
        (words ? refused : problem)(error.message);
        if (state.edits.length && !state.again) state.edits.pop(); // what was refused is not kept
      }
    } while (state.again);
    state.pending = false;
    one("#busy").hidden = true;
  }

  function refused(text) {
    one("#add-problem").hidden = !text;
    one("#add-problem").textContent = text;
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

  // What an agent met in its play: how its inputs lie, and which rules led. Leads are of the rules that are on.
  function withSeen() {
    const { view, seen } = state;
    if (!seen) return;
    seen.ranges.forEach(([low, high, histogram], k) => Object.assign(view.inputs[k], { low, high, histogram }));
    view.leads = view.sentences.map((_, rule) => seen.leads[rule] ?? 0);
  }

  function met({ ranges, leads }) {
    const on = state.view.sentences.map((_, rule) => rule).filter((rule) => !state.view.off.includes(rule));
    state.seen = { ranges, leads: Object.fromEntries(on.map((rule, place) => [rule, leads[place]])) };
    withSeen();
    show();
  }

  function show() {
    const { view } = state;
    one("#turning").hidden = false;
    one("#undo").disabled = !state.edits.length;
    one("#redo").disabled = !state.undone.length;
    const count = state.edits.length;
    one("#edits").textContent = count ? `${count} edit${count > 1 ? "s" : ""}` : asItIs(view.origin);
    if (view.agent) RulesPlay.show();
    else showEffect(view.effect, view.origin);
    showLearning(view);
    const focused = document.activeElement?.dataset?.handle || document.activeElement?.dataset?.key;
    showCards(view);
    for (const part of document.querySelectorAll(".of-inputs")) part.hidden = !view.inputs.length;
    one("#add").hidden = !view.inputs.length;
    one("#add-how").textContent = example(view);
    RulesSets.showSets(view);
    RulesSets.showMap(view);
    RulesChanges.show(state.first, view);
    if (focused) document.querySelector(`[data-handle="${focused}"], [data-key="${focused}"]`)?.focus();
  }

  // Where a model comes from that was saved here before.
  function asItIs(origin) {
    if (!origin?.from) return "as it was learned";
    const edits = `${origin.edits} edit${origin.edits === 1 ? "" : "s"}`;
    return origin.learned_on ? `learned on from ${origin.from}, with ${edits}` : `as it was saved: changed by hand from ${origin.from}, with ${edits}`;
  }

  function showLearning(view) {
    one("#on").textContent = view.agent ? "Train on from here" : "Learn on from here";
    one("#on").disabled = Boolean(view.why_not_trained) || (!view.agent && !state.table);
    const kept = view.frozen.length ? `${view.frozen.length} frozen rule${view.frozen.length > 1 ? "s stay" : " stays"} as written; the others learn.` : "Freeze the rules that learning is to leave as they are.";
    one("#on-how").textContent = view.why_not_trained ? `Cannot be trained on: ${view.why_not_trained}.` : !view.agent && !state.table ? "Choose a table above to see what edits do, and to learn on from them." : kept;
    nameless(view);
  }

  // What cannot be turned of an agent that sees pictures, and where it can.
  function nameless(view) {
    const place = one("#rules-how");
    place.replaceChildren();
    if (!view.agent || view.inputs.length) return;
    place.textContent = "This agent sees pictures: its rules ask for features that have no names, so what they ask for cannot be chosen here. What a rule concludes can be changed; the rule can be switched off, or frozen.";
    const student = `${state.name}-student`;
    if (![...one("#model").options].some(({ value }) => value === `agent:${student}`)) return;
    place.append(" Rules in words, all of which can be changed: ");
    made("a", "", place, student).href = `/rules/${encodeURIComponent(student)}?agent=1`;
  }

  function showEffect(effect, origin) {
    const place = one("#effect");
    place.replaceChildren();
    if (!effect) return;
    const line = made("p", "verdict", place);
    made("span", "", line, `${effect.measure} ${effect.before.toFixed(3)} → `);
    const better = effect.after > effect.before;
    made("span", effect.after === effect.before ? "" : better ? "better" : "worse", line, effect.after.toFixed(3));
    const table = one("#table").selectedOptions[0]?.textContent;
    const rows = `${effect.rows.toLocaleString("en")} rows`;
    const own = origin?.table && origin.table === table;
    made("span", "how", line, ` on ${own ? `the ${rows} it learned from` : `${rows} of ${table}`}; ${effect.changed} predictions changed`);
    const [measure, mean] = origin?.held_out ?? [];
    const seen = mean === undefined ? "" : `On rows it had not seen: ${measure} ${mean.toFixed(3)}, ${origin.from ? "before any edit" : "as it was learned"}. `;
    made("p", "how", place, `${seen}${own || !origin?.table ? "A score on rows that rules were learned from flatters them: trust a change that makes sense, and try it on others." : ""}`);
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
    const order = view.sentences.map((_, rule) => rule);
    // Of many rules, those that lead are looked for.
    if (total && order.length > 16) order.sort((a, b) => view.leads[b] - view.leads[a] || a - b);
    for (const rule of order) {
      const sentence = view.sentences[rule];
      const off = view.off.includes(rule);
      const card = made("article", `card${off ? " off" : ""}`, place);
      card.id = `rule-${rule + 1}`;
      const head = made("p", "lead", card);
      const label = made("label", "", head);
      const box = made("input", "", label);
      Object.assign(box, { type: "checkbox", checked: !off });
      box.dataset.key = `on-${rule}`;
      made("b", "", label, ` Rule ${rule + 1}`);
      box.addEventListener("change", () => edit({ kind: "switch", rule, on: box.checked }));
      freezing(head, view, rule);
      if (total) made("span", "", head, view.agent ? `leads ${percent(view.leads[rule] / total)} of the decisions` : `leads on ${view.leads[rule]} rows, ${percent(view.leads[rule] / total)}`).title = "a rule leads where no other fires more";
      made("p", "sentence", card, sentence);
      const inside = folded(card, state.editing, rule, "Change this rule");
      const parts = made("div", "premises", inside);
      view.premises[rule].forEach((term, input) => {
        if (term >= 0) premise(parts, view, rule, input, term);
      });
      more(parts, view, rule);
      conclusions(inside, view, rule);
    }
  }

  // What is unfolded stays so when the cards are drawn anew.
  function folded(parent, open, rule, label) {
    const box = made("details", "", parent);
    box.open = open.has(rule);
    box.addEventListener("toggle", () => (box.open ? open.add(rule) : open.delete(rule)));
    made("summary", "", box, label).dataset.key = `${label}-${rule}`;
    return box;
  }

  // A sentence that would be understood, of this rule base's own words.
  function example(view) {
    const input = view.inputs.find((one_) => one_.terms.length);
    return input ? `For example: IF ${input.name} is ${input.terms[0][0]} THEN ${view.classes ? view.outputs[0] : shown(view.conclusions[0]?.[0] ?? 0, 3)}` : "";
  }

  function freezing(head, view, rule) {
    const label = made("label", "", head);
    label.title = "learning leaves it exactly as it is";
    const box = made("input", "", label);
    Object.assign(box, { type: "checkbox", checked: view.frozen.includes(rule) });
    box.dataset.key = `frozen-${rule}`;
    made("span", "", label, " frozen");
    box.addEventListener("change", () => edit({ kind: "freeze", rule, on: box.checked }));
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
    if (view.classes) decision(card, view, rule);
    const inside = view.classes ? folded(card, state.unfolded, rule, view.agent ? "what each action is worth to it" : "how much it is for each class") : card;
    const line = made("div", "conclusions", inside);
    if (!view.classes) made("span", "", line, view.formulas ? "then, beside its formula" : "then");
    view.outputs.forEach((output, k) => {
      const label = made("label", "", line);
      made("span", "", label, output);
      const input = made("input", "", label);
      Object.assign(input, { type: "number", step: "any", value: shown(view.conclusions[rule][k], 3) });
      input.dataset.key = `conclusion-${rule}-${k}`;
      label.classList.toggle("best", view.classes && k === best(view, rule));
      input.addEventListener("change", () => {
        const value = Number(input.value);
        if (input.value !== "" && Number.isFinite(value)) edit({ kind: "conclusion", rule, output: k, value });
      });
    });
  }

  const best = (view, rule) => view.conclusions[rule].indexOf(Math.max(...view.conclusions[rule]));

  // What a rule is for, chosen by name: the two numbers change places.
  function decision(card, view, rule) {
    const label = made("label", "premise then", card);
    made("b", "", label, "THEN ");
    const select = made("select", "", label);
    select.dataset.key = `decide-${rule}`;
    view.outputs.forEach((output, k) => (made("option", "", select, output).value = k));
    select.value = best(view, rule);
    select.addEventListener("change", () => edit({ kind: "decide", rule, output: Number(select.value) }));
  }

  async function open() {
    const [kind, ...rest] = one("#model").value.split(":");
    [state.agent, state.name] = [kind === "agent", rest.join(":")];
    state.table = state.agent ? "" : one("#table").value;
    remember(`/rules/${encodeURIComponent(state.name)}`, { table: state.table, agent: state.agent ? 1 : "" });
    one("#table-label").hidden = state.agent;
    one("#watch-it").hidden = !state.agent;
    one("#watch-it").href = `/watch/${encodeURIComponent(state.name)}?seed=7`;
    one("#busy").hidden = false;
    one("#turning").hidden = true;
    Object.assign(state, { edits: [], undone: [], shownEdits: 0, view: null, first: null, seen: null, unfolded: new Set(), editing: new Set() });
    RulesPlay.open(state.name, met);
    await refresh();
  }

  function choices(models, agents, chosen) {
    const choice = one("#model");
    choice.replaceChildren();
    for (const [label, kind, names] of [["Models of tables", "model", models], ["Agents", "agent", agents]]) {
      if (!names.length) continue;
      const group = made("optgroup", "", choice);
      group.label = label;
      for (const name of names) made("option", "", group, name).value = `${kind}:${name}`;
    }
    if (chosen) choice.value = chosen;
  }

  async function listed(chosen) {
    const [{ models }, { agents, files }] = await Promise.all([ask("/api/models"), ask("/api/agents")]);
    choices(models, agents, chosen);
    if (!one("#ending").options.length) fill(one("#ending"), files, ".txt");
    return { models, agents };
  }

  async function start() {
    try {
      const query = new URLSearchParams(location.search);
      const [{ models, agents }, { tables }] = await Promise.all([listed(), ask("/api/tables")]);
      const choice = one("#table");
      made("option", "", choice, "no table").value = "";
      for (const { key, name } of tables) made("option", "", choice, name).value = key;
      // A table of the model's own name is most likely the one that it was learned from.
      const wanted = query.get("table") ?? tables.find(({ name }) => name.replace(/\.\w+$/, "") === about())?.key;
      choice.value = tables.some(({ key }) => key === wanted) ? wanted : "";
      one("#busy").hidden = true;
      const name = about();
      if (name && models.includes(name) && !query.has("agent")) one("#model").value = `model:${name}`;
      else if (name && agents.includes(name)) one("#model").value = `agent:${name}`;
      else if (name) return problem(`There is no model or agent called ${name} here; choose another above.`);
      else one("#model").value = models.length ? `model:${models[0]}` : agents.includes("DTC-student") ? "agent:DTC-student" : `agent:${agents[0]}`;
      await open();
    } catch (error) {
      one("#busy").hidden = true;
      problem(error.message);
    }
  }

  async function saved(as) {
    const { model } = await ask(`${address()}/save`, { edits: state.edits, as });
    return model;
  }

  async function save(event) {
    event.preventDefault();
    try {
      const model = await saved(one("#as").value);
      toast(`Saved as ${model}. The original is as it was.`);
      await listed(`${state.agent ? "agent" : "model"}:${model}`);
      await open();
    } catch (error) {
      problem(error.message);
    }
  }

  // The rules as they stand, edits and all.
  async function exported(event) {
    event.preventDefault();
    problem("");
    const ending = one("#ending").value;
    try {
      const answer = await fetch(`${address()}/export`, { method: "POST", body: JSON.stringify({ edits: state.edits, ending }) });
      if (!answer.ok) throw new Error((await answer.json()).why);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await answer.blob());
      link.download = `${state.name}${state.edits.length ? "-turned" : ""}${ending}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      toast(`Exported as ${link.download}.`);
    } catch (error) {
      problem(error.message);
    }
  }

  // A table's model learns here and now, an agent in a run of its own on the page for that.
  async function learnOn() {
    problem("");
    try {
      if (state.agent) {
        const start = state.edits.length ? await saved(one("#as").value) : state.name;
        await ask("/api/runs", { start });
        state.leaving = true; // they are saved
        location.href = "/train";
        return;
      }
      const { fit } = await ask(`${address()}/refit`, { edits: state.edits, table: state.table, as: one("#as").value });
      one("#on").disabled = true;
      await followed(fit);
    } catch (error) {
      problem(error.message);
      one("#on").disabled = false;
    }
  }

  async function followed(fit) {
    for (;;) {
      const told = await ask(`/api/fits/${fit}`);
      if (told.state === "done") {
        const { refitted, model } = told.outcome;
        await listed(`model:${model}`);
        await open();
        toast(`Saved as ${model}: ${refitted.measure} ${refitted.before.toFixed(3)} as learned, ${refitted.edited.toFixed(3)} edited, ${refitted.after.toFixed(3)} learned on, ${refitted.frozen} rules kept as written.`);
        return;
      }
      if (told.state !== "running") throw new Error(told.why || "learning on was cancelled");
      const { stage, done, total } = told.headway;
      one("#on-how").textContent = stage ? `${stage}: ${done} of ${total}` : "starting …";
      await new Promise((tell) => setTimeout(tell, 200));
    }
  }

  const changed = () => state.edits.length > 0;
  const LOST = "Your changes of the rules are not saved. Leave them?";
  window.addEventListener("beforeunload", (event) => {
    if (changed() && !state.leaving) event.preventDefault();
  });
  one("#model").addEventListener("change", () => {
    if (changed() && !window.confirm(LOST)) one("#model").value = `${state.agent ? "agent" : "model"}:${state.name}`;
    else open();
  });
  one("#table").addEventListener("change", () => {
    state.table = one("#table").value;
    remember(`/rules/${encodeURIComponent(state.name)}`, { table: state.table });
    refresh();
  });
  one("#undo").addEventListener("click", undo);
  one("#redo").addEventListener("click", redo);
  one("#save").addEventListener("submit", save);
  one("#on").addEventListener("click", learnOn);
  one("#export").addEventListener("submit", exported);
  one("#add").addEventListener("submit", (event) => {
    event.preventDefault();
    if (one("#words").value.trim()) edit({ kind: "add", text: one("#words").value });
    else one("#words").focus();
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
