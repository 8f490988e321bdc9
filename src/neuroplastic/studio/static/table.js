"use strict";
// From a file to rules, and what can be tried with them. Names of columns are set as text, never as markup.
const Table = (() => {
  const { made, one, problem, ask, about, remember, fill, bar, percent, toast } = Studio;
  const state = { table: null, fit: null, model: null, play: null, latency: [] };

  function busy(text) {
    one("#busy").hidden = !text;
    one("#busy-text").textContent = text || "";
  }

  async function during(text, work) {
    problem("");
    busy(text);
    try {
      return await work();
    } catch (error) {
      problem(error.message);
      return null;
    } finally {
      busy("");
    }
  }

  async function upload(file) {
    if (!file) return;
    if (file.size > 20 * 1024 * 1024) return problem("The file is larger than 20 MB, the most that is taken here; use `neuroplastic fit`.");
    const look = await during(`reading ${file.name} …`, async () => {
      const answer = await fetch(`/api/tables?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.why);
      return found;
    });
    if (look) showColumns(look);
  }

  async function openTable(key) {
    const look = await during("reading the table …", () => ask(`/api/tables/${encodeURIComponent(key)}`));
    if (look) showColumns(look);
  }

  function showColumns(look) {
    state.table = look;
    one("#columns").hidden = false;
    one("#result").hidden = true;
    one("#table-name").textContent = look.name;
    one("#table-rows").textContent = look.rows.toLocaleString("en");
    const place = one("#column-rows");
    place.replaceChildren();
    for (const column of look.columns) {
      const row = made("tr", "", place);
      made("td", "", row, column.name);
      const box = made("input", "", made("td", "", row));
      box.type = "checkbox";
      box.checked = !look.ignore.includes(column.name);
      box.dataset.column = column.name;
      box.setAttribute("aria-label", `use ${column.name}`);
      for (const key of ["kind", "missing", "distinct"]) made("td", "", row, column[key]);
      made("td", "wide", row, column.told);
    }
    fill(one("#target"), look.columns.map((column) => column.name), look.target);
    lists();
    one("#columns").scrollIntoView({ block: "nearest" });
  }

  async function fit(event) {
    event.preventDefault();
    const target = one("#target").value;
    const boxes = [...document.querySelectorAll("#column-rows input")];
    const ignore = boxes.filter((box) => !box.checked && box.dataset.column !== target).map((box) => box.dataset.column);
    const wish = { table: state.table.key, target, ignore, readable: one("#readable").checked, folds: Number(one("#folds").value) };
    const begun = await during("", () => ask("/api/fits", wish));
    if (!begun) return;
    state.fit = begun.fit;
    one("#result").hidden = true;
    one("#progress").hidden = false;
    one("#progress").scrollIntoView({ block: "nearest" });
    follow();
  }

  // Where each stage begins, of the whole; how long each takes is a guess, that they follow each other is not.
  const STAGES = {
    reading: [0, "Reading the file"],
    "cross-validation": [0.03, "Testing: rules learned from a part of the rows, tried on the others"],
    baselines: [0.65, "Testing plain models on the same rows"],
    fitting: [0.8, "Learning the rules from all rows"],
    writing: [0.97, "Writing the model and its page"],
  };

  function overall(headway) {
    const starts = [...Object.values(STAGES).map(([at]) => at), 1];
    const place = Object.keys(STAGES).indexOf(headway.stage);
    if (place < 0) return 0;
    const done = Math.min((headway.done + (headway.within || 0)) / (headway.total || 1), 1);
    return starts[place] + done * (starts[place + 1] - starts[place]);
  }

  async function follow() {
    while (state.fit !== null) {
      let told;
      try {
        told = await ask(`/api/fits/${state.fit}`);
      } catch (error) {
        one("#progress").hidden = true;
        return problem(error.message);
      }
      const { headway } = told;
      one("#stage").textContent = STAGES[headway.stage]?.[1] ?? headway.stage ?? "Starting: the learner is being loaded, which takes some seconds";
      const count = headway.total > 1 ? `${headway.unit} ${Math.min(headway.done + 1, headway.total)} of ${headway.total}` : "";
      one("#figures").textContent = [count, headway.figures].filter(Boolean).join(" · ");
      one("#meter").value = overall(headway);
      if (told.state !== "running") {
        state.fit = null;
        one("#progress").hidden = true;
        if (told.state === "done") await openModel(told.outcome.model);
        else if (told.state === "cancelled") toast("The fit was cancelled; nothing was written.");
        else problem(told.why);
        return;
      }
      await new Promise((go) => setTimeout(go, 250));
    }
  }

  async function openModel(name) {
    const model = await during("opening the model …", () => ask(`/api/models/${encodeURIComponent(name)}`));
    if (!model) return;
    state.model = { name, ...model };
    await tableOf(model.outcome);
    remember(`/table/${encodeURIComponent(name)}`, { table: state.table?.key });
    one("#result").hidden = false;
    one("#model-target").textContent = model.target;
    one("#model-name").textContent = name;
    showOrigin(model.outcome);
    showOutcome(model.outcome?.original ?? model.outcome);
    downloads(name, model);
    const place = one("#sentences");
    place.replaceChildren();
    for (const [number, sentence] of model.sentences) made("li", "", place, sentence).value = number;
    showSliders(model.sliders);
    one("#explaining").hidden = !state.table;
    one("#explanation").replaceChildren();
    if (state.table) one("#row").max = state.table.rows;
    window.scrollTo({ top: one("#result").getBoundingClientRect().top + window.scrollY - 12 });
    await lists();
  }

  // The table that a model was learned from, if it is at hand and no other was chosen.
  async function tableOf(outcome) {
    if (state.table) return;
    const { tables } = await ask("/api/tables");
    const names = [outcome?.table, `${outcome?.from ?? state.model.name}.csv`];
    const found = tables.find(({ name }) => names.includes(name));
    if (found) state.table = await ask(`/api/tables/${encodeURIComponent(found.key)}`);
  }

  function showOrigin(outcome) {
    const place = one("#origin");
    place.hidden = !outcome?.from;
    one("#outcome-title").textContent = outcome?.from ? "How good were they before the changes by hand?" : "How good are they?";
    if (!outcome?.from) return;
    const edits = `${outcome.edits} edit${outcome.edits === 1 ? "" : "s"}`;
    place.textContent = outcome.learned_on ? `Learned on from ${outcome.from}, with ${edits} by hand, on ${outcome.learned_on}.` : `Changed by hand from ${outcome.from}: ${edits}.`;
  }

  function showOutcome(outcome) {
    one("#outcome").hidden = !outcome?.summary;
    if (!outcome?.summary) return;
    const { contest, summary, notes } = outcome;
    one("#verdict").textContent = contest ? contest.verdict : "";
    one("#contest").replaceChildren();
    if (contest) {
      const least = Math.min(0, ...contest.ranked.map(([, , mean]) => mean));
      const most = Math.max(...contest.ranked.map(([, , mean]) => mean));
      for (const [name, ours, mean, folds] of contest.ranked) {
        const line = bar(one("#contest"), name, (mean - least) / (most - least || 1), mean.toFixed(3), ours ? "best" : "");
        line.title = `${contest.measure} of the folds: ${folds.map((fold) => fold.toFixed(3)).join(", ")}`;
      }
    }
    for (const [selector, lines] of [["#summary", summary], ["#notes", notes]]) {
      one(selector).replaceChildren();
      for (const line of lines) made("li", "", one(selector), line);
    }
    one("#notes-box").hidden = !notes.length;
  }

  function downloads(name, model) {
    const base = `/api/models/${encodeURIComponent(name)}`;
    one("#edit").href = `/rules/${encodeURIComponent(name)}${state.table ? `?table=${encodeURIComponent(state.table.key)}` : ""}`;
    one("#whole-page").href = `${base}/page`;
    one("#get-page").href = `${base}/download/page`;
    one("#get-model").href = `${base}/download/model`;
    for (const place of ["#whole-page", "#get-page"]) one(place).hidden = !model.has_page;
    one("#get-predictions").hidden = !state.table;
    if (state.table) one("#get-predictions").href = `${base}/download/predictions?table=${encodeURIComponent(state.table.key)}`;
    fill(one("#ending"), model.files, ".txt");
    const told = () => (one("#get-rules").href = `${base}/download/${one("#ending").value.slice(1)}`);
    one("#ending").onchange = told;
    told();
  }

  function showSliders(content) {
    const root = one("#what-if");
    for (const part of ["starts", "controls", "outputs", "firing"]) root.querySelector(`.${part}`).replaceChildren();
    root.hidden = true;
    one("#no-sliders").hidden = Boolean(content);
    one("#response").hidden = !content;
    state.play = null;
    if (!content) return;
    one("#what-if-content").textContent = JSON.stringify(content);
    root.className = "what-if"; // not before: the script starts all that are there when it loads
    state.play = WhatIf.start(root);
    const outputs = content.classes || [content.target];
    fill(one("#output"), outputs);
    const said = Response_.evaluated(content, state.play.row);
    one("#output").selectedIndex = said.indexOf(Math.max(...said));
    const names = content.controls.filter((control) => control.kind !== "category").map((control) => control.name);
    one("#response").hidden = !names.length;
    fill(one("#along"), names);
    fill(one("#across"), ["nothing else", ...names]);
    if (names.length > 1) one("#across").value = names[1]; // a surface is seen at first sight
    respond();
    root.oninput = respond;
  }

  const respond = () => Response_.respond(state.play);

  async function explain(event) {
    event.preventDefault();
    const wish = { table: state.table.key, row: Number(one("#row").value) };
    const found = await during("", () => ask(`/api/models/${encodeURIComponent(state.model.name)}/explain`, wish));
    if (found) showRow(found);
  }

  function showRow({ row, says, probability, truth, right, rules, fired, text }) {
    const place = one("#explanation");
    place.replaceChildren();
    const line = made("p", "verdict", place, `It says ${says}`);
    if (probability !== null) made("span", "soft", line, ` (${percent(probability)})`);
    if (truth !== null) made("span", right === false ? "worse" : right ? "better" : "soft", line, ` ${right === null ? "" : right ? "✓ " : "✗ "}in truth ${truth}`);
    const values = made("dl", "row-values", place);
    for (const [name, value] of row) {
      const pair = made("div", "", values);
      made("dt", "", pair, name);
      made("dd", "", pair, value);
    }
    made("p", "how", place, `because ${fired > rules.length ? `of ${fired} rules that fired, these fired most` : "these rules fired"}:`);
    for (const rule of rules) {
      const card = made("article", "fired-rule", place);
      card.style.setProperty("--share", rule.share);
      const head = made("p", "head", card);
      made("b", "", head, `Rule ${rule.number}`);
      made("span", "share-text", head, percent(rule.share));
      if (probability !== null) made("span", `for${rule.agrees ? " agrees" : ""}`, head, rule.agrees ? `for ${says}` : `against ${says}`);
      made("p", "sentence", card, rule.sentence);
    }
    const more = made("details", "", place);
    made("summary", "", more, "All of it in numbers");
    made("pre", "explanation", more, text);
  }

  async function examples() {
    const { examples: found } = await ask("/api/examples");
    const place = one("#examples");
    for (const { key, title, question } of found) {
      const button = made("button", "", place);
      button.type = "button";
      button.dataset.example = key;
      made("b", "", button, title);
      made("span", "soft", button, question);
      button.addEventListener("click", async () => {
        const look = await during(`bringing ${title} …`, () => ask(`/api/examples/${encodeURIComponent(key)}`, {}));
        if (look) showColumns(look);
      });
    }
    place.hidden = !found.length;
  }

  async function copy() {
    const text = [...document.querySelectorAll("#sentences li")].map((item) => `${item.value}. ${item.textContent}`).join("\n");
    try {
      await navigator.clipboard.writeText(text);
      toast("The rules are copied.");
    } catch {
      toast("The browser does not let pages copy here; mark the rules, and copy them by hand.");
    }
  }

  async function lists() {
    const [{ tables }, { models }] = await Promise.all([ask("/api/tables"), ask("/api/models")]);
    one("#tables-label").hidden = !tables.length;
    one("#models-label").hidden = !models.length;
    const tableChoice = one("#tables");
    tableChoice.replaceChildren();
    made("option", "", tableChoice, "choose …").value = "";
    for (const { key, name } of tables) made("option", "", tableChoice, name).value = key;
    fill(one("#models"), models);
    const modelChoice = one("#models");
    const first = made("option", "", null, "choose …");
    first.value = "";
    modelChoice.prepend(first);
    modelChoice.value = state.model?.name ?? "";
    tableChoice.value = state.table?.key ?? "";
  }

  async function start() {
    const query = new URLSearchParams(location.search);
    await during("", () => Promise.all([lists(), examples()]));
    const key = query.get("file") || query.get("table");
    if (key && [...one("#tables").options].some((option) => option.value === key)) await openTable(key);
    if (about()) await openModel(about());
  }

  const drop = one("#drop");
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    upload(event.dataTransfer.files[0]);
  });
  one("#file").addEventListener("change", () => upload(one("#file").files[0]));
  one("#tables").addEventListener("change", () => one("#tables").value && openTable(one("#tables").value));
  one("#models").addEventListener("change", () => one("#models").value && openModel(one("#models").value));
  one("#fit").addEventListener("submit", fit);
  one("#cancel").addEventListener("click", () => during("", () => ask(`/api/fits/${state.fit}/cancel`, {})));
  one("#explain").addEventListener("submit", explain);
  one("#print").addEventListener("click", () => window.print());
  one("#copy").addEventListener("click", copy);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", respond);
  for (const place of ["#output", "#along", "#across"]) one(place).addEventListener("change", respond);
  start();
  return { state, upload, respond };
})();
