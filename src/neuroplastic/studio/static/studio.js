"use strict";
// What all pages share. Names come from files and people: they are set as text, never as markup.
const Studio = (() => {
  function made(tag, name, parent, text) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  }

  const SVG = "http://www.w3.org/2000/svg";

  function drawn(tag, attributes, parent) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (parent) parent.append(element);
    return element;
  }

  const one = (selector) => document.querySelector(selector);

  function problem(text) {
    one("#problem").hidden = !text;
    one("#problem").textContent = text || "";
  }

  function toast(text) {
    const place = one("#toast");
    place.textContent = text;
    place.classList.add("shown");
    clearTimeout(toast.timer);
    toast.timer = setTimeout(() => place.classList.remove("shown"), 6000);
  }

  // What the studio answers as JSON; its reason, as an Error, where it refuses.
  async function ask(address, content) {
    const options = content === undefined ? {} : { method: "POST", body: JSON.stringify(content) };
    let answer;
    try {
      answer = await fetch(address, options);
    } catch {
      throw new Error("the studio does not answer; was it stopped?");
    }
    const text = await answer.text();
    if (!answer.ok) {
      let why = text;
      try {
        why = JSON.parse(text).why;
      } catch {
        // it was plain text
      }
      throw new Error(why || `the studio answered ${answer.status}`);
    }
    return JSON.parse(text);
  }

  // The second part of the address: /watch/DTC is about DTC.
  const about = () => decodeURIComponent(location.pathname.split("/")[2] || "");

  function remember(path, values) {
    const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value != null));
    history.replaceState(null, "", path + (query.size ? `?${query}` : ""));
  }

  function fill(select, names, chosen) {
    select.replaceChildren();
    for (const name of names) made("option", "", select, name).value = name;
    if (chosen !== undefined && names.includes(chosen)) select.value = chosen;
  }

  function bar(parent, name, share, value, kind = "") {
    const line = made("div", `bar ${kind}`, parent);
    made("span", "name", line, name).title = name;
    const fill = made("span", "fill", made("span", "track", line));
    made("span", "value", line, value);
    fill.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
    return line;
  }

  function shown(value, digits = 4) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    return String(Number(value.toPrecision(digits)));
  }

  const percent = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`);

  // Long work goes on as long as some page is open.
  setInterval(() => fetch("/api/here").catch(() => {}), 60000);

  return { made, drawn, one, problem, toast, ask, about, remember, fill, bar, shown, percent };
})();
