"use strict";
// The race: for each engine a bar as long as its oldest input has waited, against the limit.

const LANE = {height: 34, label: 15, left: 6, right: 6, axis: 22, width: 720};
const SCALES_S = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600, 10800];

class Race {
  constructor(figure, frames) {
    this.frames = frames;
    this.svg = figure.querySelector("svg");
    this.svg.replaceChildren();
    this.height = frames.runs.length * LANE.height + LANE.axis;
    this.axis = this.svg.appendChild(svgElement("g"));
    this.lanes = frames.runs.map((run, number) => this.lane(run, number));
    this.scale = null;
  }

  lane(run, number) {
    const top = number * LANE.height, bar = top + LANE.label + 1, high = LANE.height - LANE.label - 6;
    const add = (name, attributes, text) => this.svg.appendChild(svgElement(name, attributes, text));
    add("rect", {class: "track", x: LANE.left, y: bar, height: high, rx: 2, "data-wide": 1});
    const lane = {
      bar: add("rect", {class: "bar", x: LANE.left, y: bar, height: high, rx: 2, width: 0}),
      worst: add("rect", {class: "worst", y: bar - 2, height: high + 4, width: 3}),
      text: add("text", {class: "lane", x: LANE.left, y: top + LANE.label - 3}),
      // How much of the text was cut for want of room.
      cut: 0,
    };
    lane.bar.style.fill = lane.worst.style.fill = run.colour;
    return lane;
  }

  draw(view) {
    const {runs, from} = this.frames, kind = this.frames.kinds.indexOf(view.kind);
    // Coordinates are pixels, so letters have the size of the page's.
    const width = Math.max(this.svg.clientWidth, 200), room = width - LANE.left - LANE.right;
    const behind = runs.map(run => run.behind(view.now, from)), worst = runs.map(run => run.worst(view.now, from));
    const limit = runs[0].limits[view.kind], longest = Math.max(limit * 1.15, ...worst);
    const scale = SCALES_S.find(one => one >= longest) ?? longest;
    const x = seconds => LANE.left + Math.min(seconds / scale, 1) * room;
    if (this.scale !== `${scale} ${limit} ${width}`) this.drawAxis(scale, limit, width, x, `${scale} ${limit} ${width}`);
    runs.forEach((run, number) => {
      const lane = this.lanes[number];
      lane.bar.setAttribute("width", Math.max(x(behind[number]) - LANE.left, 1).toFixed(1));
      lane.worst.setAttribute("x", (x(worst[number]) - 1.5).toFixed(1));
      lane.text.classList.toggle("late", worst[number] > run.responses[kind].limit);
      fit(lane, room, run.label, secondsText(behind[number]), secondsText(worst[number]));
    });
  }

  drawAxis(scale, limit, width, x, key) {
    this.scale = key;
    for (const lane of this.lanes) lane.cut = 0;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.setAttribute("height", this.height);
    for (const track of this.svg.querySelectorAll("[data-wide]")) {
      track.setAttribute("width", width - LANE.left - LANE.right);
    }
    const bottom = this.height - LANE.axis;
    this.axis.replaceChildren();
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      if (Math.abs(x(scale * share) - x(limit)) < 55) continue;
      const anchor = share === 0 ? "start" : share === 1 ? "end" : "middle";
      this.axis.append(svgElement("text", {x: x(scale * share), y: bottom + 16, "text-anchor": anchor},
        share === 1 ? `${scale * share} s` : String(scale * share)));
    }
    this.limit?.remove();
    this.limit = this.svg.appendChild(svgElement("g"));
    const place = x(limit) > width - 60 ? {x: x(limit) + 4, "text-anchor": "end"}
      : x(limit) < 40 ? {x: LANE.left, "text-anchor": "start"} : {x: x(limit), "text-anchor": "middle"};
    for (let number = 0; number < this.lanes.length; number++) {
      const top = number * LANE.height + LANE.label;
      this.limit.append(svgElement("line", {class: "limit", x1: x(limit), x2: x(limit), y1: top, y2: top + LANE.height - LANE.label}));
    }
    this.limit.append(svgElement("text", {class: "limit", y: bottom + 16, ...place}, `limit ${limit} s`));
  }
}

// As much as there is room for: the name gives way last, from its end.  What did not fit once is not tried again.
function fit(lane, room, label, behind, worst) {
  const form = () => `${lane.cut < 2 ? label : `${label.slice(0, 1 - lane.cut).trimEnd()}…`}: ${behind}, at most ${worst}`
    + (lane.cut ? "" : " in the last minute");
  if (lane.text.textContent === form()) return;
  lane.text.textContent = form();
  while (lane.text.getComputedTextLength() > room && lane.cut < label.length - 2) {
    lane.cut++;
    lane.text.textContent = form();
  }
}
