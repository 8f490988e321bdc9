"use strict";
// Sliders for the columns; what the rules say, and which of them fire, follows. Text is set as text, never as markup.
const WhatIf = (() => {
  const FIRING_SHOWN = 5;
  const CHANCES_SHOWN = 8;
  const DAY = 24 * 60 * 60 * 1000;

  function made(tag, name, parent, text) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  }

  function shown(value, digits = 4) {
    const text = Number(value.toPrecision(digits));
    return Math.abs(text) >= 1e7 || (text !== 0 && Math.abs(text) < 1e-4) ? text.toExponential() : String(text);
  }

  function shownOf(control, value) {
    if (control.kind !== "date") return shown(value, 5);
    return new Date(Date.parse(control.origin) + value * DAY).toISOString().slice(0, 10);
  }

  // A control's element, and how a row is read from it and written to it.
  function slider(control, number, parent) {
    const label = made("label", "control", parent);
    made("span", "name", label, control.name);
    const value = made("output", "value", label);
    const input = document.createElement("input");
    Object.assign(input, { type: "range", min: control.low, max: control.high, step: control.step });
    input.dataset.control = number;
    label.append(input);
    const told = (row) => (value.textContent = shownOf(control, row[control.input]));
    return {
      input,
      read: (row) => ((row[control.input] = Number(input.value)), told(row)),
      write: (row) => ((input.value = row[control.input]), told(row)),
    };
  }

  function choice(control, number, parent) {
    const label = made("label", "control", parent);
    made("span", "name", label, control.name);
    const input = made("select", "", label);
    input.dataset.control = number;
    control.options.forEach((option, k) => (made("option", "", input, option.name).value = k));
    return {
      input,
      read: (row) => control.options[input.value].sets.forEach(([place, value]) => (row[place] = value)),
      write: (row) => {
        const fits = ({ sets }) => sets.every(([place, value]) => row[place] === value);
        input.value = Math.max(0, control.options.findIndex(fits));
      },
    };
  }

  function bar(parent, name, share, value, kind) {
    const line = made("div", `bar ${kind}`, parent);
    made("span", "name", line, name);
    const track = made("span", "track", line);
    made("span", "fill", track).style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
    made("span", "value", line, value);
    return line;
  }

  function percent(share) {
    const text = (100 * share).toFixed(1);
    return `${text === "100.0" && share < 1 ? ">99.9" : text} %`;
  }

  function showOutputs(given, outputs, place) {
    place.replaceChildren();
    if (!given.classes) {
      const [value] = outputs;
      const [low, high] = given.range;
      bar(place, given.target, (value - low) / (high - low || 1), shown(value, 5), "number");
      return;
    }
    const chances = RuleBase.softmax(outputs);
    const best = chances.indexOf(Math.max(...chances));
    const order = chances.map((_, k) => k);
    if (order.length > CHANCES_SHOWN) order.sort((a, b) => chances[b] - chances[a]);
    for (const k of order.slice(0, CHANCES_SHOWN)) {
      bar(place, given.classes[k], chances[k], percent(chances[k]), k === best ? "best" : "");
    }
  }

  function showFiring(given, firing, place) {
    place.replaceChildren();
    const order = firing.map((_, k) => k).sort((a, b) => firing[b] - firing[a]);
    for (const k of order.slice(0, FIRING_SHOWN).filter((k) => firing[k] >= 0.005)) {
      const line = bar(place, `Rule ${k + 1}`, firing[k], percent(firing[k]), "rule");
      made("p", "sentence", line, given.sentences[k]);
    }
  }

  // Beyond what is usual in a column, the rules of some models see the nearest value that is.
  function clipped({ clip }, row) {
    return clip ? row.map((value, k) => Math.min(Math.max(value, clip[0][k]), clip[1][k])) : row;
  }

  function start(root) {
    const given = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const row = [...given.starts[0].row];
    const places = Object.fromEntries(
      ["starts", "controls", "outputs", "firing"].map((name) => [name, root.querySelector(`.${name}`)]),
    );
    const controls = given.controls.map((control, number) =>
      (control.kind === "category" ? choice : slider)(control, number, places.controls),
    );
    const show = () => {
      const { firing, outputs } = RuleBase.evaluate(given.rules, clipped(given, row));
      showOutputs(given, outputs, places.outputs);
      showFiring(given, firing, places.firing);
    };
    for (const { input, read } of controls) {
      input.addEventListener("input", () => {
        read(row);
        show();
      });
    }
    const begin = (values) => {
      values.forEach((value, place) => (row[place] = value));
      for (const control of controls) control.write(row);
      show();
    };
    for (const { name, row: values } of given.starts) {
      const button = made("button", "", places.starts, name);
      button.type = "button";
      button.addEventListener("click", () => begin(values));
    }
    begin(given.starts[0].row);
    root.hidden = false;
    return { given, row, show };
  }

  return { start, pages: [...document.querySelectorAll(".what-if")].map(start) };
})();
