"use strict";
// Frames as the page uses them: unpacked from a blob, and extended by events.

const RESPONSE_WINDOW_S = 60;

// The head and the arrays of a blob, which is compressed by gzip.
async function unpack(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const types = {Uint8Array, Int8Array, Uint16Array, Int16Array, Int32Array, Float32Array, Float64Array};
  const arrays = {};
  for (const [name, place] of Object.entries(head.arrays)) {
    arrays[name] = new types[place.type](buffer, 4 + length + place.offset, place.length);
  }
  return {head, arrays};
}

// How many of the first entries do not exceed a value; the array rises.
function countUpTo(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] <= value) low = middle + 1; else high = middle;
  }
  return low;
}

// Answers of one kind: entries by the moment of their Emit, with sums over all up to each.
class Responses {
  constructor(limit) {
    Object.assign(this, {limit, second: [], emit: [], took: [], count: [], answers: [], late: [], longest: []});
  }

  add(second, emit, count) {
    const before = this.emit.length - 1;
    // Workers may write in another order than they commit.
    this.emit.push(Math.max(emit, before >= 0 ? this.emit[before] : emit));
    const took = emit - second, late = took > this.limit + 1e-9 ? count : 0;
    this.second.push(second);
    this.took.push(took);
    this.count.push(count);
    this.answers.push((before >= 0 ? this.answers[before] : 0) + count);
    this.late.push((before >= 0 ? this.late[before] : 0) + late);
    this.longest.push(Math.max(before >= 0 ? this.longest[before] : 0, took));
  }

  // Number, late ones and the longest response time up to a moment.
  soFar(now) {
    const at = countUpTo(this.emit, now) - 1;
    return at < 0 ? {answers: 0, late: 0, longest: null}
      : {answers: this.answers[at], late: this.late[at], longest: this.longest[at]};
  }

  // Percentiles of the response times of the answers between two moments; null where there are none.
  between(from, to) {
    const first = countUpTo(this.emit, from), last = countUpTo(this.emit, to), entries = [];
    let total = 0;
    for (let at = first; at < last; at++) {
      entries.push([this.took[at], this.count[at]]);
      total += this.count[at];
    }
    if (!total) return null;
    entries.sort((one, other) => one[0] - other[0]);
    const reach = share => {
      let seen = 0;
      for (const [took, count] of entries) if ((seen += count) >= share * total) return took;
      return entries[entries.length - 1][0];
    };
    return {p50: reach(0.5), p99: reach(0.99), max: entries[entries.length - 1][0]};
  }
}

// One run: its cycles, its answers in time, and what it told in each segment and minute.
class Run {
  constructor(number, head, arrays, kinds) {
    Object.assign(this, head, {number, kinds, version: 0});
    const own = name => arrays[`${number}.${name}`];
    this.cycles = {};
    for (const name of ["first", "last", "rows", "backlog", "started", "committed", "ended"]) {
      this.cycles[name] = Array.from(own(`cycles.${name}`));
    }
    this.stepTimes = this.steps.map(step => Array.from(own(`cycles.step ${step}`)));
    this.responses = kinds.map(kind => new Responses(this.limits[kind]));
    this.addResponses({kind: own("responses.kind"), second: own("responses.second"),
      emit_ms: own("responses.emit_ms"), count: own("responses.count")});
    this.told = {lav: own("told.lav"), toll: own("told.toll"), alerts: own("told.alerts")};
  }

  addResponses({kind, second, emit_ms, count}) {
    for (let at = 0; at < kind.length; at++) this.responses[kind[at]].add(second[at], emit_ms[at] / 1000, count[at]);
  }

  // What came since, as an event tells it.
  extend(piece) {
    if (!this.steps.length && piece.steps.length) {
      this.steps = piece.steps;
      this.stepTimes = piece.steps.map(() => []);
    }
    for (const [name, values] of Object.entries(piece.cycles)) {
      const column = name.startsWith("step ") ? this.stepTimes[this.steps.indexOf(name.slice(5))] : this.cycles[name];
      for (const value of values) column.push(value);
    }
    this.addResponses(piece.responses);
    piece.told.cell.forEach((cell, at) => {
      for (const name of ["lav", "toll", "alerts"]) this.told[name][cell] = piece.told[name][at];
    });
    if (piece.told.cell.length) this.version++;
  }

  // The number of cycles that were done by then.
  done(now) {
    return countUpTo(this.cycles.committed, now);
  }

  // All input before this second has been answered.
  front(now, from) {
    const done = this.done(now);
    return done ? this.cycles.last[done - 1] + 1 : from;
  }

  // How old the oldest input is that has arrived and was not answered.
  behind(now, from) {
    return Math.max(0, now - this.front(now, from));
  }

  // The most that `behind` was in the last minute.
  worst(now, from) {
    let worst = this.behind(now, from);
    for (let at = this.done(now) - 1; at >= 0 && this.cycles.committed[at] > now - RESPONSE_WINDOW_S; at--) {
      worst = Math.max(worst, this.cycles.committed[at] - this.cycles.first[at]);
    }
    return worst;
  }

  // The mean of the cycles of the last seconds, in milliseconds, whole and by step; null if there are none.
  cycle(now, seconds = 10) {
    const last = this.done(now), steps = this.steps.map(() => 0);
    let count = 0, whole = 0;
    for (let at = last - 1; at >= 0 && (count === 0 || this.cycles.committed[at] > now - seconds); at--, count++) {
      whole += (this.cycles.ended[at] - this.cycles.started[at]) * 1000;
      steps.forEach((_, step) => { steps[step] += this.stepTimes[step][at]; });
    }
    if (!count) return null;
    return {ms: whole / count, steps: steps.map(ms => ms / count), backlog: this.cycles.backlog[last - 1]};
  }

  get end() {
    const committed = this.cycles.committed;
    return committed.length ? committed[committed.length - 1] : 0;
  }
}

// All that the page shows.
class Frames {
  constructor({head, arrays}) {
    Object.assign(this, head);
    this.speed = arrays.speed;
    this.minutes = Math.round((this.until - this.from) / 60);
    this.rows = Math.ceil((this.until - this.from) / this.row_s);
    this.runs = head.runs.map((run, number) => new Run(number, run, arrays, head.kinds));
  }

  // The last moment that can be shown.
  get end() {
    if (this.live) return Math.max(this.from, this.now ?? this.from);
    return Math.max(this.until, ...this.runs.map(run => Math.ceil(run.end)));
  }

  // Accidents that stand at a second; on one road, or on all.
  accidentsAt(second, road) {
    return this.accidents.filter(accident => accident.from_second <= second && second <= accident.to_second
      && (!road || (accident.xway === road.xway && accident.dir === road.dir)));
  }

  cellOf(place, second) {
    const minute = Math.floor((second - this.from) / 60), road = Math.floor(place / 100);
    return (road * this.minutes + minute) * 100 + place % 100;
  }
}

function clockText(second) {
  const whole = Math.floor(second), two = number => String(number).padStart(2, "0");
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

// A duration in seconds, as precise as it is useful.
function secondsText(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  return `${seconds < 1 ? seconds.toFixed(3) : seconds < 100 ? seconds.toFixed(2) : Math.round(seconds).toLocaleString("en")} s`;
}

const countText = number => number.toLocaleString("en");
const DIRECTIONS = ["eastbound", "westbound"];

// An element with attributes and children; text is text.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter(child => child !== null));
  return made;
}

function svgElement(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}
