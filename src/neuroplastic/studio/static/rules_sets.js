"use strict";
// The sets of a rule base over the histogram of what is known of each input, moved by mouse and keys; and the map.
const RulesSets = (() => {
  const { made, drawn, one, shown } = Studio;
  const [WIDE, HIGH, ROOM] = [320, 110, 14];

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
    const key = made("ul", "set-key", figure);
    input.terms.forEach(([name, center, width], term) => {
      const line = made("li", "", key);
      drawn("path", { class: `curve dash-${term % 4}`, d: "M0 4L30 4" }, drawn("svg", { viewBox: "0 0 30 8", class: "key-line", "aria-hidden": "true" }, line));
      made("span", "", line, name);
      made("span", "soft", line, `${shown(center, 3)} ± ${shown(width, 3)}`);
    });
  }

  function handle(picture, { input, place, name, center, width, term, low, high, across }) {
    const seen = Math.min(Math.max(center, low), high); // a centre beyond the data is held at its rim
    const key = `${place}-${term}`;
    const dot = drawn("circle", { class: "handle", cx: across(seen), cy: 12, r: 8, tabindex: 0, role: "slider", "data-handle": key }, picture);
    dot.setAttribute("aria-label", `${input.name} is ${name}: centre; up and down change its width`);
    dot.setAttribute("aria-valuenow", shown(center, 4));
    const move = (to, wide, drag) => {
      const least = Math.max(wide, (high - low) / 1000);
      const now = Rules.state.view.inputs[place].terms[term];
      [now[1], now[2]] = [to, least]; // at once: the next key counts from here
      Rules.edit({ kind: "set", input: place, term, center: to, width: least, drag });
    };
    dot.addEventListener("keydown", (event) => {
      const step = (high - low) / 100;
      const moves = { ArrowLeft: [-step, 1], ArrowRight: [step, 1], ArrowUp: [0, 1.05], ArrowDown: [0, 1 / 1.05] };
      if (!moves[event.key] || event.ctrlKey) return;
      event.preventDefault();
      const [by, factor] = moves[event.key];
      const [, now, wide] = Rules.state.view.inputs[place].terms[term];
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

  return { showSets, showMap };
})();
