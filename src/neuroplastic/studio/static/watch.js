"use strict";
// One game over one WebSocket. A message is a frame with what is told of it; the next one is asked for once it is drawn.
const Watch = (() => {
  const { made, one, ask, about, remember, shown, percent, toast } = Studio;
  const state = { socket: null, facts: null, ready: null, paused: false, back: 0, frames: [], drawn: 0, asked: null };
  const canvas = one("#picture");
  const brush = canvas.getContext("2d");
  const rows = { values: [], fired: [] };

  const tell = (kind, value) => {
    if (state.socket?.readyState === WebSocket.OPEN) state.socket.send(JSON.stringify({ do: kind, value }));
  };

  function cover(text, problem = false) {
    one("#cover").hidden = text === "";
    one("#cover").classList.toggle("problem", problem);
    one("#cover-text").textContent = text;
  }

  function connect() {
    state.socket?.close();
    const [name, seed, episode] = ["#agent", "#seed", "#episode"].map((place) => one(place).value);
    if (!name) return cover("There is no agent to watch. Train one first.", true);
    remember(`/watch/${encodeURIComponent(name)}`, { seed, episode: episode === "0" ? "" : episode });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const query = new URLSearchParams({ seed, episode });
    const socket = new WebSocket(`${scheme}://${location.host}/api/watch/${encodeURIComponent(name)}?${query}`);
    socket.binaryType = "arraybuffer";
    Object.assign(state, { socket, facts: null, ready: null, paused: false, back: 0 });
    one("#status").textContent = "starting the game …";
    one("#pause").textContent = "Pause";
    cover("Starting the game. This takes some seconds.");
    socket.onopen = () => {
      tell("speed", Number(one("#speed").value));
      tell("heat", one("#with-heat").checked);
      tell("ready");
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? answered(JSON.parse(data)) : framed(data));
    socket.onclose = () => {
      if (state.socket !== socket) return;
      one("#status").textContent = "stopped";
      if (!one("#cover").classList.contains("problem")) cover("The game has stopped. Press Start to play on.", true);
    };
  }

  function answered(message) {
    if (message.kind === "failed") {
      cover(`It cannot be played: ${message.why}`, true);
    } else if (message.kind === "ready") {
      state.ready = message;
      one("#status").textContent = message.title;
      one("#heat-label").hidden = !message.picture;
      one("#words").hidden = !message.rules;
      one("#student").textContent = "";
      one("#turn").hidden = !message.rules;
      one("#turn").href = `/rules/${encodeURIComponent(one("#agent").value)}?agent=1`;
      begin(message.actions);
    } else if (message.why !== undefined) {
      if (message.number !== state.facts?.number || message.episode !== state.facts?.episode) return;
      answerWhy(message);
    } else if (message.note !== undefined) {
      one("#with-heat").checked = false;
      toast(message.note);
    }
  }

  // Of the decision that is shown: it goes when another one is. What a rule over nameless features asks for is folded.
  function answerWhy({ why, details, number, episode }) {
    state.why = { number, episode };
    const place = one("#why");
    place.hidden = false;
    place.replaceChildren(why);
    if (!details) return;
    const more = made("details", "", place);
    made("summary", "", more, "its own rule");
    made("p", "how", more, details);
  }

  function begin(actions) {
    const place = one("#values");
    place.replaceChildren();
    rows.values = actions.map((name, action) => {
      const button = made("button", "bar value-bar", place);
      button.type = "button";
      button.addEventListener("click", () => whyNot(action));
      made("span", "name", button, name).title = name;
      const fillBar = made("span", "fill", made("span", "track", button));
      return { button, fillBar, value: made("span", "value", button) };
    });
    one("#fired").replaceChildren();
    rows.fired = [];
    Trail.begin(actions, goBack);
    one("#why").hidden = true;
  }

  async function framed(data) {
    const view = new DataView(data);
    const [told, hot] = [view.getUint32(0), view.getUint32(4)];
    const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, told)));
    const socket = state.socket;
    try {
      const picture = await createImageBitmap(new Blob([new Uint8Array(data, 8 + told + hot)], { type: "image/jpeg" }));
      if (canvas.width !== picture.width || canvas.height !== picture.height) {
        [canvas.width, canvas.height] = [picture.width, picture.height];
        one("#screen").style.setProperty("--shape", `${picture.width} / ${picture.height}`);
        one("#screen").style.setProperty("--ratio", picture.width / picture.height);
      }
      brush.drawImage(picture, 0, 0);
      picture.close();
    } catch {
      // a broken picture is skipped: the next one comes at once
    }
    if (socket !== state.socket) return;
    cover("");
    state.drawn += 1;
    if (state.drawn > 20 && !state.titled) titles();
    rate();
    if (facts) {
      show(facts);
      if (hot) heat(new Uint8Array(data, 8 + told, hot));
      one("#heat").hidden = one("#heat-key").hidden = !hot || !one("#with-heat").checked;
    }
    tell("ready");
  }

  function rate() {
    const now = performance.now();
    state.frames.push(now);
    while (state.frames[0] < now - 2000) state.frames.shift();
    const span = now - state.frames[0];
    if (state.frames.length > 2) one("#rate").textContent = String(Math.round((1000 * (state.frames.length - 1)) / span));
  }

  function show(facts) {
    state.facts = facts;
    if (facts.number !== state.why?.number || facts.episode !== state.why?.episode) one("#why").hidden = true;
    const { actions } = state.ready;
    one("#score").textContent = shown(facts.score);
    one("#at-episode").textContent = facts.over ? `${facts.episode} (over)` : facts.episode;
    one("#number").textContent = facts.number;
    const plain = actions[state.ready.plain[facts.action]];
    const done = uncancelled(plain);
    one("#action").textContent = done;
    one("#pressed").textContent = plain !== actions[facts.action] ? `(it presses ${actions[facts.action]}, which does the same)` : done === plain ? "" : `(it presses ${plain}: both ways at once cancel out)`;
    const low = Math.min(...facts.values);
    const span = Math.max(...facts.values) - low || 1;
    const digits = enough(facts.values, facts.action);
    facts.values.forEach((value, action) => {
      const row = rows.values[action];
      row.fillBar.style.width = `${(100 * (value - low)) / span}%`;
      row.value.textContent = value.toFixed(digits);
      row.button.classList.toggle("best", action === facts.action);
      row.button.setAttribute("aria-label", `${actions[action]}, worth ${value.toFixed(digits)}: why not?`);
    });
    fired(facts, actions);
    inWords(facts, actions);
    if (facts.held !== undefined) {
      const slider = one("#back");
      slider.min = -Math.max(1, facts.held - 1);
      one("#held").textContent = facts.held;
      state.back = facts.back;
      if (document.activeElement !== slider || !facts.back) slider.value = -facts.back;
      one("#back-value").textContent = facts.back ? `${facts.back} back` : "now";
      Trail.show(facts.trail, facts.back);
    }
  }

  // What is left of buttons of which two pull opposite ways; only to be read: it is not quite as if none were pressed.
  function uncancelled(name) {
    const buttons = name.split(" + ");
    const other = (button) => (/\bleft$/.test(button) ? button.replace(/left$/, "right") : button.replace(/right$/, "left"));
    const left = buttons.filter((button) => other(button) === button || !buttons.includes(other(button)));
    return left.length ? left.join(" + ") : "nothing";
  }

  // A rule's sentence, its conclusion as it is said above.
  function concluding(sentence) {
    const at = sentence.lastIndexOf(" THEN ") + 6;
    const done = at > 5 ? uncancelled(sentence.slice(at)) : "";
    return !done || done === sentence.slice(at) ? sentence : `${sentence.slice(0, at)}${done}`;
  }

  // Digits by which the best can be told from the next: two where they do, at most five.
  function enough(values, best) {
    const lead = values[best] - Math.max(...values.filter((value, action) => action !== best && value < values[best]));
    return Number.isFinite(lead) ? Math.min(5, Math.max(2, Math.ceil(-Math.log10(lead)))) : 2;
  }

  function fired(facts, actions) {
    const place = one("#fired");
    if (!state.ready.rules) {
      one("#fired-count").textContent = "This agent is a plain network: it has no rules.";
      return;
    }
    const share = facts.fired.reduce((total, rule) => total + rule[1], 0);
    const nameless = state.ready.picture ? " It sees pictures: what its rules ask for are features without names." : "";
    one("#fired-count").textContent =
      `${facts.count} of ${facts.rules} rules fired; these ${facts.fired.length} carry ${percent(share)}.${nameless}`;
    while (rows.fired.length < facts.fired.length) {
      const card = made("article", "fired-rule", place);
      const head = made("p", "head", card);
      rows.fired.push({ card, name: made("b", "", head), share: made("span", "share-text", head), for_: made("span", "for", head), sentence: made("p", "sentence", card) });
    }
    rows.fired.forEach((row, k) => {
      const rule = facts.fired[k];
      row.card.hidden = !rule;
      if (!rule) return;
      const [number, level, sentence, action] = rule;
      row.name.textContent = `Rule ${number}`;
      row.share.textContent = percent(level);
      row.for_.textContent = `for ${actions[state.ready.plain[action]]}`;
      row.card.title = sentence;
      row.for_.classList.toggle("agrees", state.ready.plain[action] === state.ready.plain[facts.action]);
      row.sentence.textContent = premises(sentence);
      row.card.style.setProperty("--share", level);
    });
  }

  // What a rule asks for; what it is for stands above it.
  function premises(sentence) {
    const end = sentence.lastIndexOf(" THEN ");
    return end > 0 ? sentence.slice(0, end) : sentence;
  }

  // The rule that speaks most for what is done, in words. A pixel agent's has none: there its student speaks, few short rules over what is
  // seen, which agree with it mostly.
  function inWords(facts, actions) {
    if (!facts.words) {
      if (!facts.reason) return;
      const [, sentence, note] = facts.reason;
      one("#sentence").textContent = concluding(sentence);
      one("#sentence").classList.remove("differs");
      one("#because").textContent = "because";
      one("#student").textContent = note;
      return;
    }
    const [sentence, action] = facts.words;
    const { student, plain } = state.ready;
    const concluded = actions.indexOf(sentence.slice(sentence.lastIndexOf(" THEN ") + 6));
    const agrees = plain[concluded] === plain[facts.action];
    one("#sentence").textContent = concluding(sentence);
    one("#sentence").classList.toggle("differs", !agrees);
    const same = plain[action] === plain[facts.action];
    one("#because").textContent = agrees ? "because" : same ? "its student's strongest rule:" : "its student would say:";
    const outvoted = plain[action] === plain[concluded] ? "" : ` The student's other rules outvote this one, for ${actions[plain[action]]}.`;
    const mark = agrees ? "✓ That is what the agent does." : same ? "✓ The student does the same." : "✗ Here the agent does otherwise.";
    const mostly = student.agreement === null ? "" : `; it does the same in ${percent(student.agreement)} of its own decisions`;
    one("#student").textContent = `${mark}${outvoted} In the words of ${student.name}, which learned to do what this agent does${mostly}.`;
  }

  // Warm colour speaks for the decision, cold against it; what is brighter counts more, in grey too.
  function heat(levels) {
    const side = Math.round(Math.sqrt(levels.length));
    const layer = one("#heat");
    if (layer.width !== side) layer.width = layer.height = side;
    const image = new ImageData(side, side);
    levels.forEach((level, k) => {
      const strength = (level - 127.5) / 127.5;
      const colour = strength > 0 ? [255, 176, 0] : [60, 120, 255];
      image.data.set([...colour, Math.min(210, 260 * Math.abs(strength))], 4 * k);
    });
    layer.getContext("2d").putImageData(image, 0, 0);
  }

  function setPaused(paused) {
    state.paused = paused;
    one("#pause").textContent = paused ? "Play" : "Pause";
    if (!paused) one("#why").hidden = true;
  }

  function pause() {
    setPaused(!state.paused);
    tell(state.paused ? "pause" : "go");
  }

  function step() {
    setPaused(true);
    tell("step");
  }

  function goBack(back) {
    const most = -Number(one("#back").min);
    const wanted = Math.min(Math.max(back, 0), most);
    setPaused(true);
    state.back = wanted; // at once: the next key counts from here
    one("#back").value = -wanted;
    if (state.facts?.made) tell("show", state.facts.made - wanted); // by its number: the game may have gone on
  }

  function whyNot(action) {
    if (!state.facts) return;
    if (!state.paused) pause();
    tell("why-not", [state.back, action]);
  }

  function keys(event) {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const button = event.target.tagName === "BUTTON" || event.target.tagName === "A";
    if (event.key === " " && !button && event.target.type !== "checkbox") pause();
    else if (event.key === ".") step();
    else if (event.key === "ArrowLeft") goBack(state.back + 1);
    else if (event.key === "ArrowRight") goBack(state.back - 1);
    else if (event.key === "h") one("#with-heat").click();
    else return;
    event.preventDefault();
  }

  // Agents by where they lie; what they play is asked for once the first picture stands.
  function choices(agents, boxed, wanted) {
    const choice = one("#agent");
    choice.replaceChildren();
    const own = agents.filter((name) => !boxed.includes(name));
    for (const [label, names] of [["In the box", boxed], ["Your runs", own]]) {
      if (!names.length) continue;
      const group = made("optgroup", "", choice);
      group.label = label;
      for (const name of names) made("option", "", group, name).value = name;
    }
    if (agents.includes(wanted)) choice.value = wanted;
  }

  async function titles() {
    state.titled = true;
    const found = await ask("/api/titles").catch(() => ({}));
    for (const option of one("#agent").options) {
      if (option.selected && found[option.value]) one("#status").textContent = "";
      if (found[option.value]) option.textContent = `${option.value}: ${found[option.value]}${/-student/.test(option.value) ? ", in words" : ""}`;
    }
  }

  async function start() {
    const query = new URLSearchParams(location.search);
    one("#seed").value = query.get("seed") ?? 7;
    one("#episode").value = query.get("episode") ?? 0;
    try {
      const { agents, boxed } = await ask("/api/agents");
      const wanted = about() || agents[0];
      choices(agents, boxed, wanted);
      if (about() && !agents.includes(wanted)) return cover(`There is no agent called ${wanted} here. Choose another above.`, true);
    } catch (error) {
      return cover(error.message, true);
    }
    connect();
  }

  one("#choice").addEventListener("submit", (event) => {
    event.preventDefault();
    connect();
  });
  one("#pause").addEventListener("click", pause);
  one("#step").addEventListener("click", step);
  one("#speed").addEventListener("change", () => tell("speed", Number(one("#speed").value)));
  one("#with-heat").addEventListener("change", () => {
    if (!one("#with-heat").checked) one("#heat").hidden = true;
    tell("heat", one("#with-heat").checked);
  });
  one("#back").addEventListener("input", () => goBack(-Number(one("#back").value)));
  document.addEventListener("keydown", keys);
  document.addEventListener("visibilitychange", () => tell("rest", document.hidden));
  start();
  return { state };
})();
