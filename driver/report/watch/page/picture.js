"use strict";
// The picture of one direction of an expressway: segments across, time downwards.

// Dark to light: slow to fast, the same order to every eye.
const VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"];
// Light to dark: cheap to dear.
const HEAT = ["f7e9a0", "f9c667", "f59b4c", "e66b3d", "c53f3f", "8f2045", "55103f"];
const FASTEST_MPH = 70;
const DEAREST = 500_000;
const GUTTER = {left: 56, right: 6, top: 6, bottom: 20};

function ramp(colours) {
  const stops = colours.map(colour => [0, 2, 4].map(at => parseInt(colour.slice(at, at + 2), 16)));
  return Array.from({length: 256}, (_, level) => {
    const at = level / 255 * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
    return stops[low].map((value, part) => Math.round(value + (stops[low + 1][part] - value) * (at - low)));
  });
}

const SPEED_RAMP = ramp(VIRIDIS), TOLL_RAMP = ramp(HEAT);
const speedLevel = mph => Math.round(Math.min(Math.max(mph, 0) / FASTEST_MPH, 1) * 255);
// Tolls grow with the square of the cars.
const tollLevel = toll => Math.round(Math.min(Math.sqrt(toll / DEAREST), 1) * 255);

const MODES = {
  speed: {
    text: "mean speed of the reports in 10 s and a segment, from the data set",
    legend: {colours: VIRIDIS, text: `0 to ${FASTEST_MPH} mph and more`, none: "no report"},
  },
  lav: {
    text: "LAV (mean speed of the five minutes before) by minute and segment, as told",
    legend: {colours: VIRIDIS, text: `0 to ${FASTEST_MPH} mph and more`, none: "nothing told"},
  },
  toll: {
    text: "toll by minute and segment, as told",
    legend: {colours: HEAT, text: `1 to ${countText(DEAREST)} and more`, none: "nothing told", zero: "no toll"},
  },
};

class Picture {
  constructor(road, frames) {
    Object.assign(this, {road, frames, cache: new Map()});
    this.canvas = element("canvas", {role: "img", tabindex: "-1"});
    const way = road.dir ? "westbound, traffic runs to the left ←" : "eastbound, traffic runs to the right →";
    this.figure = element("figure", {class: "road"},
      element("figcaption", {}, `Expressway ${road.xway}, ${way}`), this.canvas);
  }

  // The cells of a mode as a small image, a pixel each; made again only when there is more to show.
  image(mode, run) {
    const key = mode === "speed" ? mode : `${mode} ${run.number}`, version = mode === "speed" ? 0 : run.version;
    const kept = this.cache.get(key);
    if (kept && kept.version === version) return kept.canvas;
    const rows = mode === "speed" ? this.frames.rows : this.frames.minutes;
    const canvas = kept ? kept.canvas : element("canvas", {width: 100, height: rows});
    const context = canvas.getContext("2d"), data = context.createImageData(100, rows);
    const values = mode === "speed" ? this.frames.speed : run.told[mode];
    const none = mode === "speed" ? this.frames.no_speed : this.frames.untold, first = this.road.place * rows * 100;
    for (let cell = 0; cell < rows * 100; cell++) {
      const value = values[first + cell];
      if (value === none || (mode === "lav" && value < 0)) continue;
      const colour = mode === "toll" ? (value ? TOLL_RAMP[tollLevel(value)] : null) : SPEED_RAMP[speedLevel(value)];
      data.data.set(colour ?? [128, 138, 150], cell * 4);
      data.data[cell * 4 + 3] = colour ? 255 : 70;
    }
    context.putImageData(data, 0, 0);
    this.cache.set(key, {version, canvas});
    return canvas;
  }

  // The seconds at the top and at the bottom.
  span(view) {
    if (!view.window) return [this.frames.from, Math.max(this.frames.until, view.now)];
    const bottom = Math.max(view.now, this.frames.from + view.window) + view.window * 0.04;
    return [bottom - view.window * 1.04, bottom];
  }

  fit() {
    const scale = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return {context, width, height};
  }

  draw(view) {
    const {context, width, height} = this.fit();
    if (!width) return;
    const [top, bottom] = this.span(view);
    const box = {left: GUTTER.left, top: GUTTER.top, width: width - GUTTER.left - GUTTER.right,
      height: height - GUTTER.top - GUTTER.bottom};
    const x = segment => box.left + segment / 100 * box.width;
    const y = second => box.top + (second - top) / (bottom - top) * box.height;
    Object.assign(this, {box, top, bottom});
    context.clearRect(0, 0, width, height);
    context.fillStyle = view.colours.panel;
    context.fillRect(box.left, box.top, box.width, box.height);
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    this.drawCells(context, view, x, y);
    if (view.mode !== "speed") this.drawAlerts(context, view, x, y);
    this.drawAccidents(context, view, x, y);
    if (view.path) this.drawPath(context, view, x, y);
    this.drawFronts(context, view, y, box);
    context.restore();
    this.drawAxes(context, view, x, y, box);
    this.describe(view);
  }

  drawCells(context, view, x, y) {
    const run = this.frames.runs[view.teller], from = this.frames.from;
    const known = view.mode === "speed" ? view.now : Math.min(view.now, run.front(view.now, from));
    const image = this.image(view.mode, run), step = view.mode === "speed" ? this.frames.row_s : 60;
    context.save();
    context.beginPath();
    context.rect(x(0), y(from), x(100) - x(0), y(known) - y(from));
    context.clip();
    context.imageSmoothingEnabled = false;
    context.drawImage(image, x(0), y(from), x(100) - x(0), y(from + image.height * step) - y(from));
    context.restore();
  }

  // A dot in each cell in which the engine told somebody of an accident ahead.
  drawAlerts(context, view, x, y) {
    const run = this.frames.runs[view.teller], front = run.front(view.now, this.frames.from);
    const last = Math.min(this.frames.minutes, Math.ceil((front - this.frames.from) / 60));
    const first = Math.max(0, Math.floor((this.top - this.frames.from) / 60));
    context.fillStyle = view.colours.runs[view.teller];
    context.strokeStyle = view.colours.paper;
    for (let minute = first; minute < last; minute++) {
      for (let segment = 0; segment < 100; segment++) {
        if (!run.told.alerts[(this.road.place * this.frames.minutes + minute) * 100 + segment]) continue;
        context.beginPath();
        context.arc(x(segment + 0.5), y(this.frames.from + minute * 60 + 30), 2.2, 0, 7);
        context.fill();
        context.stroke();
      }
    }
  }

  // A cross where an accident begins, a line as long as it stands, a cross that rides on the line of now.
  drawAccidents(context, view, x, y) {
    for (const accident of this.frames.accidents) {
      if (accident.xway !== this.road.xway || accident.dir !== this.road.dir) continue;
      if (accident.from_second > view.now || accident.to_second < this.top) continue;
      const at = x(accident.position_ft / 5280), stands = view.now <= accident.to_second;
      const end = Math.min(view.now, accident.to_second + 1);
      for (const [colour, wide] of [["#000", 5], ["#fff", 2.2]]) {
        context.strokeStyle = colour;
        context.lineWidth = wide;
        context.lineCap = "round";
        context.beginPath();
        context.moveTo(at, y(accident.from_second));
        context.lineTo(at, y(end));
        cross(context, at, y(accident.from_second), 4);
        if (stands) cross(context, at, y(view.now), 8);
        else { context.moveTo(at - 4, y(end)); context.lineTo(at + 4, y(end)); }
        context.stroke();
      }
    }
    context.lineWidth = 1;
  }

  // Where the picked vehicle was, as far as it is known now.
  drawPath(context, view, x, y) {
    for (const [colour, wide] of [[view.colours.paper, 6], [view.colours.ink, 2.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = wide;
      context.lineJoin = "round";
      context.beginPath();
      let before = null;
      for (const visit of view.path) {
        if (visit.second > view.now) break;
        const here = Math.floor(visit.place / 100) === this.road.place;
        const goesOn = before !== null && visit.second - before < 900;
        const method = here && goesOn ? "lineTo" : "moveTo";
        if (here) context[method](x(visit.place % 100 + 0.5), y(visit.second));
        if (here && !goesOn) context.lineTo(x(visit.place % 100 + 0.5), y(visit.second + 5));
        before = here ? visit.second : null;
      }
      context.stroke();
    }
    context.lineWidth = 1;
  }

  // Up to where each engine has answered; what lies between that and now is hatched.
  drawFronts(context, view, y, box) {
    this.frames.runs.forEach((run, number) => {
      const front = Math.min(view.now, run.front(view.now, this.frames.from));
      context.strokeStyle = view.colours.runs[number];
      if (y(view.now) - y(front) > 3) {
        const share = box.width / this.frames.runs.length, left = box.left + number * share;
        context.save();
        context.beginPath();
        context.rect(left, y(front), share, y(view.now) - y(front));
        context.clip();
        context.globalAlpha = 0.45;
        context.beginPath();
        for (let at = left - box.height; at < left + share; at += 9) {
          context.moveTo(at, y(view.now));
          context.lineTo(at + box.height, y(view.now) - box.height);
        }
        context.stroke();
        context.restore();
      }
      context.lineWidth = 3;
      context.setLineDash(run.dashed ? [9, 5] : []);
      context.beginPath();
      context.moveTo(box.left, y(front) - 1.5 * number);
      context.lineTo(box.left + box.width, y(front) - 1.5 * number);
      context.stroke();
    });
    context.setLineDash([]);
    context.lineWidth = 1.5;
    context.strokeStyle = view.colours.ink;
    context.beginPath();
    context.moveTo(box.left, y(view.now) + 2);
    context.lineTo(box.left + box.width, y(view.now) + 2);
    context.stroke();
    context.lineWidth = 1;
  }

  drawAxes(context, view, x, y, box) {
    context.fillStyle = view.colours.faint;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    const step = [60, 120, 300, 600, 1200, 1800, 3600].find(one => (this.bottom - this.top) / one <= 7) ?? 3600;
    for (let second = Math.ceil(this.top / step) * step; second <= this.bottom; second += step) {
      if (second < this.frames.from || Math.abs(y(second) - y(view.now)) < 14) continue;
      context.fillText(clockText(second), box.left - 6, y(second));
    }
    context.fillStyle = view.colours.ink;
    context.fillText("now", box.left - 6, Math.min(y(view.now), box.top + box.height - 5));
    context.fillStyle = view.colours.faint;
    context.textAlign = "center";
    const wide = box.width >= 420;
    for (let segment = 0; x(segment) < x(100) - (wide ? 145 : 75); segment += wide ? 10 : 25) {
      context.fillText(segment, x(segment + 0.5), box.top + box.height + 11);
    }
    context.textAlign = "right";
    context.fillText(wide ? "segment (a mile each)" : "segment", box.left + box.width, box.top + box.height + 11);
  }

  describe(view) {
    const standing = this.frames.accidentsAt(Math.floor(view.now), this.road).length;
    const text = `${MODES[view.mode].text}; ${standing} accident${standing === 1 ? "" : "s"} now`;
    if (this.text !== text) this.canvas.setAttribute("aria-label", this.text = text);
  }

  // The place and second under a point of the canvas; null outside.
  at(left, top) {
    const {box} = this, segment = Math.floor((left - box.left) / box.width * 100);
    const second = Math.round(this.top + (top - box.top) / box.height * (this.bottom - this.top));
    if (segment < 0 || segment > 99 || second < this.frames.from) return null;
    return {place: this.road.place * 100 + segment, second};
  }
}

function cross(context, x, y, size) {
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x - size, y + size);
  context.lineTo(x + size, y - size);
}
