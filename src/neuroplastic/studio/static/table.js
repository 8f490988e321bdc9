"use strict";
// From a file to rules, and what can be tried with them. Names of columns are set as text, never as markup.
const Table = (() => {
  const { made, one, problem, ask, about, remember, fill, bar, shown, toast } = Studio;
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
      one("#stage").textContent = headway.stage ? `${headway.stage}: ${headway.done} of ${headway.total}` : "starting …";
      one("#figures").textContent = headway.figures || "";
      if (headway.total) one("#meter").value = headway.done / headway.total;
      else one("#meter").removeAttribute("value");
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
    remember(`/table/${encodeURIComponent(name)}`, { table: state.table?.key });
    one("#result").hidden = false;
    one("#model-target").textContent = model.target;
    one("#model-name").textContent = name;
    showOutcome(model.outcome);
    downloads(name, model);
    const place = one("#sentences");
    place.replaceChildren();
    for (const [number, sentence] of model.sentences) made("li", "", place, sentence.replace(/^RULE \d+: /, "")).value = number;
    showSliders(model.sliders);
    one("#explaining").hidden = !state.table;
    one("#explanation").textContent = "";
    if (state.table) one("#row").max = state.table.rows;
    one("#result").scrollIntoView({ block: "start" });
    await lists();
  }

  function showOutcome(outcome) {
    one("#outcome").hidden = !outcome;
    if (!outcome) return;
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
    const said = evaluated(content, state.play.row);
    one("#output").selectedIndex = said.indexOf(Math.max(...said));
    const names = content.controls.filter((control) => control.kind !== "category").map((control) => control.name);
    one("#response").hidden = !names.length;
    fill(one("#along"), names);
    fill(one("#across"), ["nothing else", ...names]);
    respond();
    root.oninput = respond;
  }

  function evaluated(content, row) {
    const { clip } = content;
    const given = clip ? row.map((value, k) => Math.min(Math.max(value, clip[0][k]), clip[1][k])) : row;
    const { outputs } = RuleBase.evaluate(content.rules, given);
    return content.classes ? RuleBase.softmax(outputs) : outputs;
  }

  // How the chosen output follows one column, or two, all others where the sliders stand.
  function respond() {
    if (!state.play) return;
    const { given: content, row } = state.play;
    const output = one("#output").selectedIndex;
    const [along, across] = ["#along", "#across"].map((place) => content.controls.find((c) => c.name === one(place).value));
    if (!along) return;
    const canvas = one("#curve");
    const brush = canvas.getContext("2d");
    const style = getComputedStyle(document.body);
    const [ink, soft, accent] = ["--ink", "--soft", "--accent"].map((name) => style.getPropertyValue(name).trim());
    brush.clearRect(0, 0, canvas.width, canvas.height);
    brush.font = "13px sans-serif";
    const [left, bottom, wide, high] = [60, canvas.height - 34, canvas.width - 80, canvas.height - 54];
    const at = (control, share) => control.low + share * (control.high - control.low);
    const value = (x, y) => {
      const there = [...row];
      there[along.input] = at(along, x);
      if (across) there[across.input] = at(across, y);
      return evaluated(content, there)[output];
    };
    const [low, most] = content.classes ? [0, 1] : content.range;
    const span = most - low || 1;
    if (across && across !== along) {
      const cells = 40;
      for (let j = 0; j < cells; j += 1) {
        for (let i = 0; i < cells; i += 1) {
          const share = Math.min(Math.max((value((i + 0.5) / cells, (j + 0.5) / cells) - low) / span, 0), 1);
          const light = Math.round(245 - 205 * share); // darker is more, in grey too
          brush.fillStyle = `rgb(${light}, ${Math.min(255, light + 12)}, ${Math.min(255, light + 28)})`;
          brush.fillRect(left + (i * wide) / cells, bottom - ((j + 1) * high) / cells, wide / cells + 1, high / cells + 1);
        }
      }
    } else {
      brush.strokeStyle = accent;
      brush.lineWidth = 2.5;
      brush.beginPath();
      for (let i = 0; i <= 160; i += 1) {
        const share = (value(i / 160, 0) - low) / span;
        brush.lineTo(left + (i * wide) / 160, bottom - high * Math.min(Math.max(share, -0.05), 1.05));
      }
      brush.stroke();
    }
    brush.strokeStyle = soft;
    brush.lineWidth = 1;
    brush.strokeRect(left, bottom - high, wide, high);
    brush.fillStyle = ink;
    const two = across && across !== along;
    const [bottomLeft, topLeft] = two ? [across.low, across.high] : [low, most];
    brush.fillText(shown(along.low), left, bottom + 16);
    brush.textAlign = "right";
    brush.fillText(shown(along.high), left + wide, bottom + 16);
    brush.fillText(shown(bottomLeft), left - 6, bottom);
    brush.fillText(shown(topLeft), left - 6, bottom - high + 12);
    brush.textAlign = "center";
    brush.fillText(along.name, left + wide / 2, bottom + 28);
    brush.textAlign = "left";
    one("#curve-told").textContent = two
      ? `Darker is more of ${one("#output").value}: ${shown(low)} is white, ${shown(most)} black. ${across.name} goes up.`
      : `${one("#output").value} as ${along.name} changes, all else where the sliders stand.`;
  }

  async function explain(event) {
    event.preventDefault();
    const wish = { table: state.table.key, row: Number(one("#row").value) };
    const found = await during("", () => ask(`/api/models/${encodeURIComponent(state.model.name)}/explain`, wish));
    if (found) one("#explanation").textContent = found.text;
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
    await during("", lists);
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
  for (const place of ["#output", "#along", "#across"]) one(place).addEventListener("change", respond);
  start();
  return { state, upload, respond };
})();
