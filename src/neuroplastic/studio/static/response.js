"use strict";
// How an output of a table's rules follows one column, or two: a curve, or a surface whose darkness is the height.
const Response_ = (() => {
  const { one, shown } = Studio;
  const CELLS = 48;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  function evaluated(content, row) {
    const { clip } = content;
    const given = clip ? row.map((value, k) => Math.min(Math.max(value, clip[0][k]), clip[1][k])) : row;
    const { outputs } = RuleBase.evaluate(content.rules, given);
    return content.classes ? RuleBase.softmax(outputs) : outputs;
  }

  const at = (control, share) => control.low + share * (control.high - control.low);
  const share = (control, value) => Math.min(Math.max((value - control.low) / (control.high - control.low || 1), 0), 1);

  // All other columns stay where the sliders stand.
  function respond(play) {
    if (!play) return;
    const { given: content, row } = play;
    const output = one("#output").selectedIndex;
    const [along, second] = ["#along", "#across"].map((place) => content.controls.find((c) => c.name === one(place).value));
    if (!along) return;
    const across = second === along ? undefined : second;
    const canvas = one("#curve");
    const brush = canvas.getContext("2d");
    const style = getComputedStyle(document.body);
    const [ink, soft, accent] = ["--ink", "--soft", "--accent"].map((name) => style.getPropertyValue(name).trim());
    const box = { left: 84, right: canvas.width - 16, top: 18, bottom: canvas.height - 52 };
    Object.assign(box, { wide: box.right - box.left, high: box.bottom - box.top });
    const [low, most] = content.classes ? [0, 1] : content.range;
    const span = most - low || 1;
    const height = (x, y) => {
      const there = [...row];
      there[along.input] = at(along, x);
      if (across) there[across.input] = at(across, y);
      return (evaluated(content, there)[output] - low) / span;
    };
    brush.clearRect(0, 0, canvas.width, canvas.height);
    brush.font = "15px sans-serif";
    if (across) surface(brush, box, height);
    else curve(brush, box, height, accent);
    brush.strokeStyle = soft;
    brush.lineWidth = 1;
    brush.strokeRect(box.left, box.top, box.wide, box.high);
    const here = across ? share(across, row[across.input]) : Math.min(Math.max(height(share(along, row[along.input]), 0), 0), 1);
    dot(brush, box.left + box.wide * share(along, row[along.input]), box.bottom - box.high * here);
    const name = one("#output").value;
    const upward = across ? [across.low, across.high, across.name] : [low, most, name];
    labels(brush, box, ink, along, upward);
    one("#curve-told").textContent = across
      ? `${dark.matches ? "Lighter" : "Darker"} is more of ${name}, from ${shown(low)} (${dark.matches ? "dark" : "light"}) to ${shown(most)} (${dark.matches ? "light" : "dark"}). The dot is where the sliders stand.`
      : `${name} as ${along.name} changes, all else where the sliders stand. The dot is where they stand now.`;
  }

  function surface(brush, box, height) {
    const [wide, high] = [box.wide / CELLS, box.high / CELLS];
    for (let j = 0; j < CELLS; j += 1) {
      for (let i = 0; i < CELLS; i += 1) {
        const level = Math.min(Math.max(height((i + 0.5) / CELLS, (j + 0.5) / CELLS), 0), 1);
        // From near white through the studio's blue to near black: darker is more, in grey too. On a dark page lighter is.
        const [r, g, b] = dark.matches ? [28 + 92 * level, 32 + 148 * level, 40 + 210 * level] : level < 0.5 ? [240 - 380 * level * 0.9, 245 - 260 * level, 250 - 150 * level] : [69 - 98 * (level - 0.5), 115 - 150 * (level - 0.5), 175 - 220 * (level - 0.5)];
        brush.fillStyle = `rgb(${Math.round(r)}, ${Math.round(g)}, ${Math.round(b)})`;
        brush.fillRect(box.left + i * wide, box.bottom - (j + 1) * high, wide + 0.6, high + 0.6);
      }
    }
  }

  function curve(brush, box, height, colour) {
    brush.strokeStyle = colour;
    brush.lineWidth = 3;
    brush.beginPath();
    for (let i = 0; i <= 160; i += 1) {
      brush.lineTo(box.left + (i * box.wide) / 160, box.bottom - box.high * Math.min(Math.max(height(i / 160, 0), -0.03), 1.03));
    }
    brush.stroke();
  }

  function dot(brush, x, y) {
    brush.beginPath();
    brush.arc(x, y, 6, 0, 2 * Math.PI);
    brush.fillStyle = "#ffb000";
    brush.fill();
    brush.strokeStyle = "#111";
    brush.lineWidth = 2;
    brush.stroke();
  }

  function labels(brush, box, ink, along, [low, high, upward]) {
    brush.fillStyle = ink;
    brush.textAlign = "left";
    brush.fillText(shown(along.low), box.left, box.bottom + 19);
    brush.textAlign = "right";
    brush.fillText(shown(along.high), box.right, box.bottom + 19);
    brush.fillText(shown(low), box.left - 8, box.bottom);
    brush.fillText(shown(high), box.left - 8, box.top + 12);
    brush.textAlign = "center";
    brush.font = "bold 15px sans-serif";
    brush.fillText(along.name, (box.left + box.right) / 2, box.bottom + 40, box.wide);
    brush.save();
    brush.translate(20, (box.top + box.bottom) / 2);
    brush.rotate(-Math.PI / 2);
    brush.fillText(upward, 0, 0, box.high);
    brush.restore();
  }

  return { evaluated, respond };
})();
