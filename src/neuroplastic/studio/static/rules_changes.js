"use strict";
// What edits made of a rule base, rule by rule and set by set, beside what it was.
const RulesChanges = (() => {
  const { made, one, shown } = Studio;
  // Of how many cases a rule was learned is not said of one that was turned.
  const plain = (sentence) => sentence.replace(/ \([^()]*cases?\)$/, "");

  // Lines of [what, was, is]; either of the two may be empty.
  function changes(first, now) {
    const found = [];
    now.sentences.forEach((sentence, rule) => {
      const was = first.sentences[rule];
      const [off, before] = [now.off.includes(rule), first.off.includes(rule)];
      const name = `Rule ${rule + 1}`;
      if (was === undefined) found.push([`${name}, added`, "", plain(sentence)]);
      else if (off !== before) found.push([`${name}, switched ${off ? "off" : "on"}`, off ? plain(was) : "", off ? "" : plain(sentence)]);
      else if (plain(was) !== plain(sentence)) found.push([name, plain(was), plain(sentence)]);
      else if (first.conclusions[rule].some((value, k) => value !== now.conclusions[rule][k])) {
        const [a, b] = [first, now].map((view) => view.outputs.map((output, k) => `${output} ${shown(view.conclusions[rule][k], 3)}`).join(", "));
        found.push([`${name}: what it concludes`, a, b]);
      }
      if (was !== undefined && now.frozen.includes(rule) !== first.frozen.includes(rule)) found.push([`${name}, ${now.frozen.includes(rule) ? "frozen" : "free to learn"}`, "", ""]);
    });
    now.inputs.forEach((input, k) => {
      input.terms.forEach(([name, center, width], term) => {
        const [, from, wide] = first.inputs[k].terms[term] ?? [];
        if (from === undefined || (from === center && wide === width)) return;
        found.push([`${input.name} is ${name}`, `${shown(from, 3)} ± ${shown(wide, 3)}`, `${shown(center, 3)} ± ${shown(width, 3)}`]);
      });
    });
    return found;
  }

  function show(first, now) {
    const box = one("#changes");
    const found = first ? changes(first, now) : [];
    box.hidden = !found.length;
    box.querySelector("summary").textContent = `Compare: ${found.length} change${found.length > 1 ? "s" : ""}`;
    const list = one("#change-list");
    list.replaceChildren();
    for (const [what, was, is] of found) {
      const line = made("li", "", list);
      made("b", "", line, what);
      if (was) made("del", "", line, was);
      if (is) made("ins", "", line, is);
    }
  }

  return { show, changes };
})();
