"use strict";
// Studies: trials, the best of them, what matters, and the report in a frame of its own.
const Studies = (() => {
  const { made, drawn, one, ask, about, remember, fill, bar, shown, percent } = Studio;
  const state = { studies: null, source: null };

  const text = (value) => (typeof value === "number" ? shown(value, 4) : value === null || value === undefined ? "" : String(value));

  function show(study) {
    one("#shown").hidden = false;
    remember(`/studies/${encodeURIComponent(study.name)}`, {});
    one("#states").textContent = `${study.task}, ${study.agent}: ${Object.entries(study.states).map(([how, count]) => `${count} ${how}`).join(", ")}`;
    const head = one("#best-head");
    head.replaceChildren();
    const row = made("tr", "", head);
    for (const name of ["trial", "mean", "sd", ...study.parameters]) made("th", "", row, name);
    const body = one("#best");
    body.replaceChildren();
    for (const trial of study.trials.slice(0, 10)) {
      const line = made("tr", "", body);
      for (const value of [trial.number, trial.mean, trial.sd, ...study.parameters.map((name) => trial.parameters[name])]) made("td", "", line, text(value));
    }
    one("#note").textContent = study.note;
    one("#importance").replaceChildren();
    for (const [name, share] of Object.entries(study.importance)) bar(one("#importance"), name, share, percent(share), "number");
    parallel(study);
    progress(study);
    const storage = /\.(db|sqlite3?)$|:\/\//.test(state.source);
    one("#dashboard").parentElement.hidden = !storage; // it opens storages alone
    one("#dashboard").textContent = `optuna-dashboard ${/:\/\//.test(state.source) ? "" : "sqlite:///"}${state.source}`;
  }

  // Trials by state, and the best mean so far as trials were made.
  function progress(study) {
    const place = one("#progress");
    place.replaceChildren();
    const all = Object.values(study.states).reduce((sum, count) => sum + count, 0);
    for (const [how, count] of Object.entries(study.states)) bar(place, how, count / all, String(count), how === "complete" ? "best" : "");
    const made_ = [...study.trials].sort((a, b) => a.number - b.number);
    if (made_.length < 2) return;
    const means = made_.map((trial) => trial.mean);
    const [low, high] = [Math.min(...means), Math.max(...means)];
    const [wide, tall, left] = [640, 150, 60];
    const x = (k) => left + ((wide - left - 10) * k) / (made_.length - 1);
    const y = (value) => tall - 24 - ((tall - 40) * (value - low)) / (high - low || 1);
    const picture = drawn("svg", { viewBox: `0 0 ${wide} ${tall}`, class: "strips", role: "img", "aria-label": `best mean so far: ${shown(high)}` }, place);
    let best = -Infinity;
    const line = means.map((mean, k) => `${x(k).toFixed(1)} ${y((best = Math.max(best, mean))).toFixed(1)}`);
    means.forEach((mean, k) => drawn("circle", { class: "dot before", cx: x(k), cy: y(mean), r: 3 }, picture));
    drawn("path", { class: "curve", d: `M${line.join("L")}` }, picture);
    for (const value of [low, high]) drawn("text", { class: "tick", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, picture).textContent = shown(value, 3);
    drawn("text", { class: "tick", x: wide - 10, y: tall - 6, "text-anchor": "end" }, picture).textContent = `trial ${made_.at(-1).number}: circles are means, the line is the best so far`;
  }

  function parallel(study) {
    const picture = one("#parallel");
    picture.replaceChildren();
    const axes = [...study.parameters.map((name) => [name, (trial) => trial.parameters[name]]), ["mean", (trial) => trial.mean]];
    const [step, high, top, left] = [130, 260, 40, 60];
    const wide = left + step * (axes.length - 1) + 80;
    picture.setAttribute("viewBox", `0 0 ${wide} ${high + top + 30}`);
    picture.style.minWidth = `${Math.min(wide, 1400) * 0.7}px`;
    picture.style.maxWidth = `${wide * 1.4}px`;
    const places = axes.map(([, value]) => {
      const values = study.trials.map(value).filter((found) => found !== undefined && found !== null);
      if (values.every((found) => typeof found === "number")) {
        const [low, most] = [Math.min(...values), Math.max(...values)];
        return { ends: [shown(low, 3), shown(most, 3)], at: (found) => (most > low ? (found - low) / (most - low) : 0.5) };
      }
      const kinds = [...new Set(values.map(String))].sort();
      return { ends: [kinds[0], kinds.at(-1)], at: (found) => (kinds.length > 1 ? kinds.indexOf(String(found)) / (kinds.length - 1) : 0.5) };
    });
    const strong = Math.max(1, Math.ceil(study.trials.length / 10));
    study.trials.map((trial, rank) => [trial, rank]).reverse().forEach(([trial, rank]) => {
      const points = axes.flatMap(([, value], k) => {
        const found = value(trial);
        return found === undefined || found === null ? [] : [`${left + k * step} ${(top + high * (1 - places[k].at(found))).toFixed(1)}`];
      });
      drawn("path", { class: rank < strong ? "trial best" : "trial", d: `M${points.join("L")}` }, picture);
    });
    axes.forEach(([name], k) => {
      const x = left + k * step;
      drawn("line", { class: "axis", x1: x, x2: x, y1: top, y2: top + high }, picture);
      for (const [y, words] of [[top - 22, name], [top - 6, places[k].ends[1]], [top + high + 16, places[k].ends[0]]]) {
        drawn("text", { class: "tick", x, y, "text-anchor": "middle" }, picture).textContent = text(words).slice(0, 18);
      }
    });
  }

  async function report() {
    one("#make").disabled = true;
    one("#making").textContent = "analysing; this takes from seconds to minutes …";
    const address = state.source ? "/api/studies/report" : "/api/studies/paper";
    const began = performance.now();
    const frame = one("#report");
    frame.onload = () => {
      one("#making").textContent = `made in ${Math.round((performance.now() - began) / 1000)} s`;
      one("#make").disabled = false;
    };
    frame.hidden = false;
    frame.src = address;
  }

  async function start() {
    one("#make").addEventListener("click", report);
    try {
      Object.assign(state, await ask("/api/studies"));
    } catch (error) {
      one("#problem").hidden = false;
      one("#problem").textContent = error.message;
      state.studies = [];
    }
    one("#busy").hidden = true;
    one("#none").hidden = state.studies.length > 0;
    if (!state.source) one("#make").textContent = "Make the report of the paper's tables";
    one("#choice").hidden = !state.studies.length;
    if (!state.studies.length) return;
    fill(one("#study"), state.studies.map((study) => study.name), about());
    const chosen = () => show(state.studies.find((study) => study.name === one("#study").value));
    one("#study").addEventListener("change", chosen);
    chosen();
    follow(chosen);
  }

  // A study that others are working on is read again, and shown where it has changed.
  async function follow(chosen) {
    for (;;) {
      await new Promise((go) => setTimeout(go, 5000));
      if (document.hidden || !state.source || !/\.(db|sqlite3?)$|:\/\//.test(state.source)) continue;
      try {
        const found = await ask("/api/studies");
        if (JSON.stringify(found.studies) === JSON.stringify(state.studies)) continue;
        state.studies = found.studies;
        const name = one("#study").value;
        fill(one("#study"), state.studies.map((study) => study.name), name);
        chosen();
      } catch {
        // the next time, perhaps
      }
    }
  }

  start();
  return { state };
})();
