"use strict";
// Runs begun, stopped and followed. Curves come from the run folders' own files; several lie over each other.
const Train = (() => {
  const { made, drawn, one, problem, ask, remember, shown, toast } = Studio;
  const TITLES = { mean: "Score of greedy episodes", loss: "Loss", pace: "Steps a second", sets: "Fuzzy sets", born: "Sets born", premises: "Premises a rule (fewer: pruned)", rules_firing: "Rules that fire for a decision", leading_rules: "Rules that lead (1: collapsed)", carry: "Decisions that depend on the rules" };
  const [WIDE, HIGH, LEFT, LOW] = [420, 200, 52, 26];
  const FEW = 4;
  const state = { chosen: [], known: null, told: null };

  async function act(address, wish) {
    problem("");
    try {
      await ask(address, wish);
      await look();
    } catch (error) {
      problem(error.message);
    }
  }

  function begin(event) {
    event.preventDefault();
    const number = (place) => (one(place).value === "" ? null : Number(one(place).value));
    const readable = one("#agent").value === "readable";
    act("/api/runs", { task: one("#task").value, agent: readable ? "nfn" : one("#agent").value, ...(readable ? { preset: "readable" } : {}), epochs: number("#epochs"), steps_per_epoch: number("#steps"), seed: number("#seed") });
  }

  async function look() {
    const query = new URLSearchParams(state.chosen.map((name) => ["run", name]));
    const told = await ask(`/api/runs?${query}`);
    state.told = told;
    if (!one("#tasks").children.length) for (const task of told.tasks) made("option", "", one("#tasks")).value = task;
    showHere(told.here);
    // What begins to train is looked at at once.
    for (const { name, state: how } of told.here) {
      if (name && how === "step" && !state.seen?.has(name)) {
        (state.seen ??= new Set()).add(name);
        if (!state.chosen.includes(name)) state.chosen.push(name);
      }
    }
    showRuns(told);
    showCurves(told.followed, told.here);
    few(told.runs);
  }

  // Few runs are looked at without ticking them, so that it is seen what can be done with each; but nobody is kept from
  // beginning one.
  function few(runs) {
    const asked = state.chosen.length || new URLSearchParams(location.search).has("task");
    if (!state.offered && !asked && runs.length <= FEW) state.chosen = [...runs];
    state.offered = true;
  }

  function showHere(here) {
    one("#here-box").hidden = !here.length;
    one("#here-title").textContent = here.some((run) => ["starting", "step"].includes(run.state)) ? "Training now" : "Trained here";
    const place = one("#here");
    const focused = document.activeElement?.dataset?.key;
    place.replaceChildren();
    for (const run of here) {
      const line = made("div", "training", place);
      made("b", "", line, run.name || "A new run");
      const words = { starting: "loading the task and the learner: some seconds", step: run.evaluated ? `evaluating, episode ${run.evaluated}` : "training", stopped: "stopped; it can be gone on with", done: "done", failed: `failed: ${run.why}` };
      made("span", run.state === "failed" ? "problem" : "how", line, words[run.state]);
      if (run.of) {
        const meter = made("progress", "", line);
        Object.assign(meter, { max: run.of, value: run.steps });
        meter.setAttribute("aria-label", `${run.name}: steps`);
        made("span", "how", line, `${run.steps.toLocaleString("en")} of ${run.of.toLocaleString("en")} steps, ${Math.round(run.rate)} a second, ${run.born} sets born`);
      }
      if (run.state === "step") {
        const stop = made("button", "", line, "Stop");
        stop.type = "button";
        stop.dataset.key = `stop-${run.name}`;
        stop.addEventListener("click", () => act(`/api/runs/${encodeURIComponent(run.name)}/stop`, {}));
      }
    }
    if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  function showRuns(told) {
    one("#none").hidden = told.runs.length > 0;
    one("#pick").hidden = !told.runs.length;
    const known = JSON.stringify([told.runs, state.chosen, told.followed.map((run) => [run.running, run.steps.length])]);
    if (known === state.known) return; // a box that is being ticked is not replaced
    state.known = known;
    const place = one("#runs");
    place.replaceChildren();
    for (const name of told.runs) {
      const label = made("label", "check run", place);
      const box = made("input", "", label);
      Object.assign(box, { type: "checkbox", checked: state.chosen.includes(name) });
      made("span", "", label, name);
      box.addEventListener("change", () => {
        state.chosen = box.checked ? [...state.chosen, name].slice(-8) : state.chosen.filter((other) => other !== name);
        remember("/train", { runs: state.chosen.join(",") });
        look();
      });
    }
    const chosen = one("#chosen");
    chosen.replaceChildren();
    for (const run of told.followed) {
      const line = made("p", "line", chosen);
      made("b", "", line, run.name);
      made("span", "soft", line, run.running ? `${run.title}: trains now` : run.title);
      if (run.running || run.problem) continue;
      const ended = run.steps.length >= run.wanted;
      const go = made("button", "", line, ended ? "10 epochs more" : "Go on");
      go.type = "button";
      go.addEventListener("click", () => act(`/api/runs/${encodeURIComponent(run.name)}/resume`, ended ? { epochs: run.wanted + 10 } : {}));
      if (run.steps.length) {
        const watch = made("a", "button", line, "Watch it play");
        watch.href = `/watch/${encodeURIComponent(run.name)}?seed=7`;
        const turn = made("a", "button", line, "Change its rules");
        turn.href = `/rules/${encodeURIComponent(run.name)}?agent=1`;
      }
    }
  }

  // How fast a run trains is known only of those that train here.
  const paced = (here) => here.filter((run) => run.pace?.length > 1).map((run) => ({ name: run.name, steps: run.pace.map(([steps]) => steps), curves: { pace: run.pace.map(([, rate]) => rate) } }));

  function showCurves(runs, here) {
    const warnings = one("#warnings");
    warnings.replaceChildren();
    for (const run of runs) {
      if (run.problem) made("p", "problem", warnings, `${run.name}: ${run.problem}`);
      else if (run.warning) made("p", "note", warnings, `${run.name}: ${run.warning}`);
    }
    const place = one("#curves");
    place.replaceChildren();
    for (const [curve, title] of Object.entries(TITLES)) {
      const having = (curve === "pace" ? paced(here) : runs).filter((run) => run.curves[curve]?.some((value) => value !== null));
      if (having.length) chart(place, title, having, curve);
    }
  }

  function chart(parent, title, runs, curve) {
    const figure = made("figure", "set-editor", parent);
    made("figcaption", "", figure, title);
    const values = runs.flatMap((run) => run.curves[curve].filter((value) => value !== null));
    const most = Math.max(...runs.map((run) => run.steps[run.steps.length - 1]), 1);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const x = (step) => LEFT + ((WIDE - LEFT - 8) * step) / most;
    const y = (value) => HIGH - LOW - (HIGH - LOW - 12) * (high > low ? (value - low) / (high - low) : 0.5);
    const picture = drawn("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${title}: ${runs.map((run) => `${run.name} ${shown(run.curves[curve].at(-1), 3)}`).join(", ")}` }, figure);
    for (const value of new Set([low, high])) {
      drawn("line", { class: "grid", x1: LEFT, x2: WIDE - 8, y1: y(value), y2: y(value) }, picture);
      drawn("text", { class: "tick", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, picture).textContent = shown(value, 3);
    }
    drawn("text", { class: "tick", x: WIDE - 8, y: HIGH - 6, "text-anchor": "end" }, picture).textContent = `${most.toLocaleString("en")} steps`;
    runs.forEach((run, k) => {
      const points = run.steps.map((step, e) => [step, run.curves[curve][e]]).filter(([, value]) => value !== null);
      drawn("path", { class: `curve dash-${k % 4}`, d: `M${points.map(([step, value]) => `${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}` }, picture);
      for (const [step, value] of points) drawn("circle", { class: "point", cx: x(step), cy: y(value), r: 2.5 }, picture);
    });
    const key = made("p", "how", figure);
    runs.forEach((run, k) => {
      const mark = drawn("svg", { viewBox: "0 0 30 8", class: "key-line" }, key);
      drawn("path", { class: `curve dash-${k % 4}`, d: "M0 4L30 4" }, mark);
      made("span", "", key, ` ${run.name}: ${shown(run.curves[curve].at(-1), 3)}  `);
    });
  }

  async function start() {
    const query = new URLSearchParams(location.search);
    if (query.get("task")) one("#task").value = query.get("task");
    state.chosen = (query.get("runs") || "").split(",").filter(Boolean);
    for (;;) {
      try {
        await look();
      } catch (error) {
        problem(error.message);
      }
      await new Promise((go) => setTimeout(go, document.hidden ? 5000 : 1000));
    }
  }

  one("#begin").addEventListener("submit", begin);
  start();
  return { state };
})();
