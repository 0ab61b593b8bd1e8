"use strict";
// A card per engine: how it keeps up, how long its answers take, what its cycles are made of, what the judge says.

const SPARK = {width: 300, height: 78, left: 40, right: 4, top: 6, bottom: 6};
const STEPS_SHOWN = 7;

function millisecondsText(ms) {
  return ms < 10 ? `${ms.toFixed(1)} ms` : ms < 10_000 ? `${countText(Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

// What a judge beside a run has said so far.
function judgedText({minutes: [first, last]}, faults) {
  if (last < first) return faults ? `; faults so far: ${faults}` : "; the judge waits for the first minute";
  return `; judged beside the run, minute${last > first ? "s" : ""} ${last > first ? `${first} to ` : ""}${last}: ${faults || "all right"}`;
}

class Card {
  constructor(run, frames) {
    Object.assign(this, {run, frames, kind: null, texts: new Map()});
    this.root = element("section", {class: "card"});
    const name = element("h2", {}, run.label);
    this.root.style.setProperty("--own", run.colour);
    const part = (tag, key, attributes = {}) => {
      const made = element(tag, attributes);
      this.texts.set(key, made);
      return made;
    };
    const figure = (label, key) => element("div", {}, element("dt", {}, label), part("dd", key));
    this.spark = svgElement("svg", {viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, role: "img", class: "spark"});
    this.steps = part("div", "steps", {class: "steps"});
    this.bar = element("div", {class: "stack", "aria-hidden": "true"});
    this.body = element("tbody");
    this.root.append(
      element("header", {}, name, part("span", "verdict", {class: "verdict"})),
      part("p", "state", {class: "hint"}),
      element("dl", {class: "facts"}, figure("Backlog", "backlog"), figure("Cycle", "cycle"),
        figure("Answers", "answers"), figure("Late", "late")),
      part("p", "response", {class: "response"}), this.spark,
      element("p", {class: "hint"}, "Mean cycle of the last 10 s by step, against the period"), this.bar, this.steps,
      element("details", frames.runs.length < 3 ? {open: ""} : {}, element("summary", {}, "By kind of answer"),
        element("table", {}, element("thead", {}, element("tr", {},
        ...["answer", "so far", "late", "longest", "limit"].map((text, column) =>
          element("th", column ? {class: "number"} : {}, text)))), this.body)));
  }

  say(key, text) {
    const part = this.texts.get(key);
    if (part.textContent !== text) part.textContent = text;
    return part;
  }

  draw(view) {
    const {run} = this, cycle = run.cycle(view.now), soFar = run.responses.map(one => one.soFar(view.now));
    this.sayVerdict();
    this.say("backlog", cycle ? `${countText(cycle.backlog)} s` : "–");
    this.say("cycle", cycle ? millisecondsText(cycle.ms) : "–");
    this.say("answers", countText(soFar.reduce((sum, one) => sum + one.answers, 0)));
    const late = soFar.reduce((sum, one) => sum + one.late, 0);
    this.say("late", countText(late)).classList.toggle("bad", late > 0);
    this.drawResponse(view);
    this.drawSteps(cycle);
    this.drawTable(soFar);
  }

  // Of the whole run once it is judged; so far, while a judge works beside it.
  sayVerdict() {
    const {verdict, judge, state, reason} = this.run;
    const faults = Object.entries((verdict ?? judge)?.faults ?? {}), count = faults.reduce((sum, [, one]) => sum + one, 0);
    const word = verdict ? verdict.word
      : judge && count ? `${countText(count)} fault${count === 1 ? "" : "s"} so far`
      : judge && judge.minutes[1] >= judge.minutes[0] ? "right so far"
      : state === "running" ? "under way" : "not judged";
    const look = verdict ? verdict.word.toLowerCase() : judge && count ? "fail" : word === "right so far" ? "pass" : "open";
    this.say("verdict", word).className = `verdict ${look}`;
    const clock = `${this.run.clock} clock${this.run.slower > 1 ? `, ${this.run.slower} times slower` : ""}`;
    const listed = faults.map(([fault, one]) => `${countText(one)} ${fault}`).join(", ");
    const judged = verdict ? (count ? `; faults in the whole run: ${listed}` : "; no fault found") : judge ? judgedText(judge, listed) : "";
    const ended = ["complete", "running"].includes(state) ? "" : `; ${state}: ${reason}`;
    this.say("state", `${this.run.folder}, ${clock}${judged}${ended}`);
  }

  drawResponse(view) {
    const at = this.frames.kinds.indexOf(view.kind), responses = this.run.responses[at];
    const last = responses.between(view.now - RESPONSE_WINDOW_S, view.now);
    const kind = view.kind.replace("_", " ");
    this.say("response", last
      ? `${kind} response, last minute: p50 ${secondsText(last.p50)}, p99 ${secondsText(last.p99)}, max ${secondsText(last.max)}; limit ${responses.limit} s`
      : `${kind} response: no answer in the last minute; limit ${responses.limit} s`)
      .classList.toggle("bad", Boolean(last && last.max > responses.limit));
    const window_s = view.window || Math.max(this.frames.until - this.frames.from, 60);
    const to = view.now, from = to - window_s, buckets = 60, lines = {p50: "", p99: "", max: ""};
    const floor = 0.001, ceiling = 1000;
    const x = second => SPARK.left + (second - from) / window_s * (SPARK.width - SPARK.left - SPARK.right);
    const y = seconds => SPARK.height - SPARK.bottom - Math.log(Math.min(Math.max(seconds, floor), ceiling) / floor)
      / Math.log(ceiling / floor) * (SPARK.height - SPARK.top - SPARK.bottom);
    for (let bucket = 0; bucket < buckets; bucket++) {
      const start = from + window_s * bucket / buckets, times = responses.between(start, start + window_s / buckets);
      if (!times) continue;
      for (const name of Object.keys(lines)) {
        const point = `${x(start + window_s / buckets / 2).toFixed(1)} ${y(times[name]).toFixed(1)}`;
        lines[name] += `${lines[name] ? "L" : "M"}${point}`;
      }
    }
    this.drawSpark(lines, y, responses.limit, kind);
  }

  drawSpark(lines, y, limit, kind) {
    if (!this.paths) {
      this.marks = this.spark.appendChild(svgElement("g"));
      this.paths = Object.fromEntries(["max", "p99", "p50"].map(name =>
        [name, this.spark.appendChild(svgElement("path", {class: `curve ${name}`}))]));
    }
    if (this.kind !== kind) {
      this.kind = kind;
      this.spark.setAttribute("aria-label", `Response time of ${kind} answers over the time shown: p50, p99 and max`);
      this.marks.replaceChildren(...[0.001, 0.01, 0.1, 1, 10, 100, 1000].flatMap(value => [
        svgElement("line", {class: "grid", x1: SPARK.left, x2: SPARK.width, y1: y(value), y2: y(value)}),
        svgElement("text", {x: SPARK.left - 4, y: y(value) + 3, "text-anchor": "end"}, {0.001: "1 ms", 1: "1 s", 1000: "1000 s"}[value] ?? "")]),
      svgElement("line", {class: "limit", x1: SPARK.left, x2: SPARK.width, y1: y(limit), y2: y(limit)}));
    }
    for (const [name, path] of Object.entries(lines)) this.paths[name].setAttribute("d", path);
  }

  drawSteps(cycle) {
    const period = this.run.period_s * 1000;
    const named = cycle ? this.run.steps.map((step, at) => [step, cycle.steps[at]]) : [];
    named.sort((one, other) => other[1] - one[1]);
    const shown = named.slice(0, STEPS_SHOWN);
    const rest = cycle ? Math.max(0, cycle.ms - shown.reduce((sum, [, ms]) => sum + ms, 0)) : 0;
    if (cycle) shown.push(["the rest", rest]);
    const whole = Math.max(period, cycle ? cycle.ms : 0);
    while (this.bar.children.length < shown.length) {
      this.bar.append(element("span"));
      this.steps.append(element("span", {class: "step"}, element("i"), ""));
    }
    // A step keeps its colour, wherever it stands.
    shown.forEach(([step, ms], at) => {
      const known = this.run.steps.indexOf(step), colour = known < 0 ? "var(--part-7)" : `var(--part-${known % 7})`;
      this.bar.children[at].style.width = `${(ms / whole * 100).toFixed(2)}%`;
      this.bar.children[at].style.background = colour;
      const label = this.steps.children[at], text = `${step} ${millisecondsText(ms)}`;
      label.firstChild.style.background = colour;
      if (label.lastChild.textContent !== text) label.lastChild.textContent = text;
    });
  }

  drawTable(soFar) {
    this.frames.kinds.forEach((kind, at) => {
      if (!this.body.children[at]) {
        const cells = [0, 1, 2, 3, 4].map(column => element("td", column ? {class: "number"} : {}));
        this.body.append(element("tr", {}, ...cells));
      }
      const {answers, late, longest} = soFar[at], limit = this.run.limits[kind];
      const texts = [kind.replace("_", " "), countText(answers), countText(late), secondsText(longest), `${limit} s`];
      texts.forEach((text, column) => {
        const cell = this.body.children[at].children[column];
        if (cell.textContent !== text) cell.textContent = text;
      });
      this.body.children[at].classList.toggle("bad", late > 0);
    });
  }
}
