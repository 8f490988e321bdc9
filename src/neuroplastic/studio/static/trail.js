"use strict";
// The last decisions as a strip: a row for each button, marks where a decision presses it, the score's rises above.
const Trail = (() => {
  const { made, one } = Studio;
  const [ROW, HEAD] = [18, 16];
  const state = { rows: [], pressed: [], trail: [], back: 0, canvas: null, go: null, colours: null };

  function colours() {
    const style = getComputedStyle(document.body);
    return Object.fromEntries(["ink", "soft", "accent", "hl", "good", "bad"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }

  // An action's name says the buttons that it presses. `go` is told how many decisions before the last was chosen.
  function begin(actions, go) {
    const place = one("#trail");
    place.replaceChildren();
    const names = made("div", "names", place);
    names.style.paddingTop = `${HEAD}px`;
    const rows = [...new Set(actions.flatMap((name) => name.split(" + ")))];
    const pressed = actions.map((name) => name.split(" + ").map((part) => rows.indexOf(part)));
    rows.forEach((name, row) => {
      const button = made("button", "trail-name", names, name);
      Object.assign(button, { type: "button", title: `the last time: ${name}` });
      button.setAttribute("aria-label", `go to the last time it did: ${name}`);
      button.addEventListener("click", () => last(row));
    });
    const canvas = made("canvas", "", place);
    canvas.setAttribute("aria-hidden", "true"); // the slider and the names do the same
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      const column = Math.floor(((event.clientX - box.left) / box.width) * 300) - (300 - state.trail.length);
      if (column >= 0) go(state.trail.length - 1 - column);
    });
    Object.assign(state, { rows, pressed, trail: [], back: 0, canvas, go, colours: colours() });
  }

  function last(row) {
    // From where one is, further back: pressed again, the time before that.
    const { trail } = state;
    for (let k = trail.length - 1 - state.back - (state.back ? 1 : 0); k >= 0; k -= 1) {
      if (state.pressed[trail[k][0]].includes(row)) return state.go(trail.length - 1 - k);
    }
    Studio.toast(`Not done in the last ${trail.length} decisions: ${state.rows[row]}.`);
  }

  function show(trail, back) {
    Object.assign(state, { trail, back });
    const { canvas, rows, colours: paint } = state;
    if (!canvas) return;
    const wide = Math.max(1, canvas.clientWidth);
    const high = HEAD + ROW * rows.length;
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(wide * scale)) {
      [canvas.width, canvas.height] = [Math.round(wide * scale), Math.round(high * scale)];
      canvas.style.height = `${high}px`;
    }
    const brush = canvas.getContext("2d");
    brush.setTransform(scale, 0, 0, scale, 0, 0);
    brush.clearRect(0, 0, wide, high);
    const step = wide / 300;
    brush.fillStyle = paint.hl;
    for (let row = 0; row < rows.length; row += 1) brush.fillRect(0, HEAD + row * ROW + ROW / 2, wide, 1);
    const scored = trail.filter(([, gain]) => gain).length < trail.length / 2;
    trail.forEach(([action, gain], k) => {
      const x = (300 - trail.length + k) * step;
      brush.fillStyle = k === trail.length - 1 - back ? paint.ink : paint.accent;
      for (const row of state.pressed[action]) brush.fillRect(x, HEAD + row * ROW + 2, Math.max(1.5, step - 0.4), ROW - 4);
      if (!gain || !scored) return;
      brush.fillStyle = gain > 0 ? paint.good : paint.bad;
      brush.beginPath(); // up for a rise, down for a fall: told apart in grey, too
      const [tip, foot] = gain > 0 ? [3, 11] : [11, 3];
      brush.moveTo(x + step / 2, tip);
      brush.lineTo(x + step / 2 - 4, foot);
      brush.lineTo(x + step / 2 + 4, foot);
      brush.fill();
    });
    brush.fillStyle = paint.ink;
    brush.fillRect((299 - back) * step, HEAD - 2, 1.5, high);
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    state.colours = colours();
    show(state.trail, state.back);
  });
  return { begin, show, last, state };
})();
