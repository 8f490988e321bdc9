"use strict";
// The next episodes of an agent with its rules edited, beside those of the original: the same games, told as they end.
const RulesPlay = (() => {
  const { made, drawn, one, shown } = Studio;
  const ROW = 26;
  const state = { socket: null, number: 0, sent: 0, before: [], after: [], why: "", wanted: false, timer: 0, listener: null };

  function close() {
    clearTimeout(state.timer);
    const { socket } = state;
    Object.assign(state, { socket: null, before: [], after: [], why: "", wanted: false, sent: 0 });
    socket?.close();
  }

  // `listener` is told what the original met in its play, once it is known.
  function open(name, listener) {
    close();
    Object.assign(state, { listener, name });
  }

  function connect(then) {
    if (state.socket?.readyState === WebSocket.OPEN) return then();
    if (state.socket) return state.socket.addEventListener("open", then, { once: true });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/agents/${encodeURIComponent(state.name)}/play`);
    state.socket = socket;
    socket.addEventListener("open", then, { once: true });
    socket.onmessage = ({ data }) => socket === state.socket && heard(JSON.parse(data));
    socket.onclose = () => {
      if (socket !== state.socket) return;
      state.socket = null;
      if (!state.why && state.wanted && !done()) state.why = "The games have stopped. Press the button to play again.";
      show();
    };
  }

  // What is edited in quick succession is played once.
  function play(edits, wait = 0) {
    state.wanted = true;
    Object.assign(state, { edits, after: [], why: "" });
    const number = (state.number += 1);
    clearTimeout(state.timer);
    state.timer = setTimeout(() => {
      connect(() => {
        if (number !== state.number) return;
        state.before = [];
        state.sent = number;
        state.socket.send(JSON.stringify({ number, edits }));
      });
    }, wait);
    show();
  }

  function heard(message) {
    if (message.kind === "failed" || message.kind === "refused") {
      state.why = message.why;
    } else if (message.number !== state.number) {
      return;
    } else if (message.kind === "episode") {
      (message.edited ? state.after : state.before)[message.episode] = message.score;
    } else if (message.kind === "seen") {
      state.listener?.(message);
    }
    show();
  }

  const played = (scores) => scores.filter((score) => score !== undefined);
  const mean = (scores) => played(scores).reduce((sum, score) => sum + score, 0) / played(scores).length;
  const done = () => played(state.before).length >= 20 && (!state.edits?.length || played(state.after).length >= 20);

  function show() {
    const place = one("#effect");
    place.replaceChildren();
    if (state.why) made("p", "problem", place, state.why);
    if (!state.wanted || (state.why && !state.socket)) {
      const line = made("p", "line", place);
      const button = made("button", "", line, "Play 20 episodes");
      button.type = "button";
      button.addEventListener("click", () => play(Rules.state.edits));
      made("span", "soft", line, "with and without the edits, the same games by both");
      return;
    }
    const [before, after] = [played(state.before), played(state.after)];
    const line = made("p", "verdict", place);
    if (!before.length) {
      made("span", "spinner small", line).setAttribute("aria-hidden", "true");
      made("span", "how", line, " starting the games …");
      return;
    }
    made("span", "", line, `score ${shown(mean(before), 4)}`);
    if (state.edits.length) {
      made("span", "", line, " → ");
      if (after.length) {
        const better = mean(after) - mean(before);
        made("span", better > 0 ? "better" : better < 0 ? "worse" : "", line, shown(mean(after), 4));
      } else made("span", "", line, "…");
    }
    const of = state.edits.length ? after.length : before.length;
    made("span", "how", line, of < 20 ? ` on ${of} of 20 episodes so far` : " on average of 20 episodes, the same games by both");
    strips(place, before, after);
  }

  // A dot for each episode: hollow as learned, filled as edited; a line at their mean.
  function strips(place, before, after) {
    const wide = Math.min(Math.max(place.clientWidth, 240), 640);
    const rows = after.length ? [["as learned", before, "dot before"], ["edited", after, "dot"]] : [["as learned", before, "dot before"]];
    const all = rows.flatMap(([, scores]) => scores);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const [left, right] = [90, wide - 24];
    const across = (score) => (high > low ? left + ((right - left) * (score - low)) / (high - low) : (left + right) / 2);
    const picture = drawn("svg", { viewBox: `0 0 ${wide} ${ROW * rows.length + 18}`, class: "strips", role: "img" }, place);
    picture.setAttribute("aria-label", rows.map(([name, scores]) => `${name}: ${shown(mean(scores))} on average, ${shown(Math.min(...scores))} to ${shown(Math.max(...scores))}`).join("; "));
    rows.forEach(([name, scores, kind], row) => {
      const y = ROW * (row + 0.5);
      drawn("text", { class: "tick", x: 0, y: y + 4 }, picture).textContent = name;
      drawn("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }, picture);
      for (const score of scores) drawn("circle", { class: kind, cx: across(score).toFixed(1), cy: y, r: 5 }, picture);
      const at = across(mean(scores));
      drawn("line", { class: "axis", x1: at, x2: at, y1: y - 11, y2: y + 11 }, picture);
    });
    const foot = ROW * rows.length + 12;
    drawn("text", { class: "tick", x: left, y: foot, "text-anchor": "middle" }, picture).textContent = shown(low, 3);
    if (high > low) drawn("text", { class: "tick", x: right, y: foot, "text-anchor": "middle" }, picture).textContent = shown(high, 3);
  }

  return { state, open, close, play, show, done };
})();
