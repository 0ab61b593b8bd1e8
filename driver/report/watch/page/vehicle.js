"use strict";
// A vehicle: its trip, and what each engine told it, as far as it had been told by now.

const VALUES = {
  toll: ["lav", "toll"], accident: ["seg"], balance: ["result_second", "balance"], expenditure: ["tolls"],
  travel_time: ["travel_s", "toll"],
};
const ASKS = {balance: "asks for its account balance", expenditure: "asks for the expenditure of a day",
  travel_time: "asks for a travel time"};

// The vehicles of a blob: all of a file, or one that the server was asked for.
class Vehicles {
  constructor({head, arrays}, frames) {
    Object.assign(this, {frames, arrays, relative: head.relative, untold: head.untold, extra: head.extra});
    this.id = summed(arrays["visits.vehicle_id"], Int32Array);
    this.second = summed(arrays["visits.second"], Uint16Array);
    this.place = summed(arrays["visits.place"], Uint16Array);
    this.askedBy = summed(arrays["requests.vehicle_id"], Int32Array);
  }

  has(id) {
    return this.id[countUpTo(this.id, id) - 1] === id || this.askedBy[countUpTo(this.askedBy, id) - 1] === id;
  }

  // Who entered a segment at about a second; null if nobody did.
  nearest(place, second) {
    let best = null, least = 61;
    for (let at = 0; at < this.place.length; at++) {
      if (this.place[at] === place && Math.abs(this.second[at] - second) < least) {
        least = Math.abs(this.second[at] - second);
        best = this.id[at];
      }
    }
    return best;
  }

  // What happened to a vehicle, by second: visits of segments and requests, with what each run told.
  story(id) {
    const rows = [];
    const first = countUpTo(this.id, id - 1), last = countUpTo(this.id, id);
    for (let at = first; at < last; at++) {
      const second = this.second[at], place = this.place[at], lane = this.arrays["visits.lane"][at];
      const told = this.frames.runs.map((_, run) => ["toll", "accident"].map(kind =>
        this.answer(run, kind, at, second, place)).filter(Boolean));
      rows.push({second, place, lane, told});
    }
    const kinds = this.arrays["requests.kind"], ranks = new Map();
    for (let at = 0; at < kinds.length; at++) {
      const kind = this.frames.kinds[kinds[at]], rank = ranks.get(kind) ?? 0, second = this.arrays["requests.second"][at];
      ranks.set(kind, rank + 1);
      if (this.askedBy[at] !== id) continue;
      const told = this.frames.runs.map((_, run) => [this.answer(run, kind, rank, second)].filter(Boolean));
      rows.push({second, asks: kind, told});
    }
    this.extra.forEach((list, run) => list.filter(one => one.vehicle_id === id).forEach(one => {
      const told = this.frames.runs.map((_, other) => other === run ? [{...one, emit: one.emit_ms / 1000}] : []);
      rows.push({second: one.second, extra: true, told});
    }));
    return rows.sort((one, other) => one.second - other.second);
  }

  answer(run, kind, at, second, place) {
    const value = name => this.arrays[`${run}.${kind}.${name}`][at];
    if (value("emit_ms") === this.untold) return null;
    const usual = name => this.relative && kind === "toll" ? this.frames.runs[run].told[name][this.frames.cellOf(place, second)] : 0;
    const answer = {kind, emit: (value("emit_ms") + (this.relative ? this.firstEmit(run, kind, second) : 0)) / 1000};
    for (const name of VALUES[kind]) answer[name] = value(name) + usual(name);
    return answer;
  }

  // When the first answer of a kind to a second came, in milliseconds.
  firstEmit(run, kind, second) {
    this.firsts ??= new Map();
    const key = `${run} ${kind}`;
    if (!this.firsts.has(key)) {
      const responses = this.frames.runs[run].responses[this.frames.kinds.indexOf(kind)], first = new Map();
      responses.second.forEach((one, at) => { if (!first.has(one)) first.set(one, Math.round((one + responses.took[at]) * 1000)); });
      this.firsts.set(key, first);
    }
    return this.firsts.get(key).get(second) ?? 0;
  }
}

// The running sums of steps, which wrap around.
function summed(steps, type) {
  const sums = new type(steps.length);
  let sum = 0;
  for (let at = 0; at < steps.length; at++) sums[at] = sum = (sum + steps[at]) | 0;
  return sums;
}

function answerText(answer, second) {
  const took = ` (${secondsText(answer.emit - second)})`;
  if (answer.kind === "toll") return `toll ${countText(answer.toll)}, LAV ${answer.lav < 0 ? "none" : answer.lav}${took}`;
  if (answer.kind === "accident") return `accident ahead in segment ${answer.seg}${took}`;
  if (answer.kind === "balance") return `balance ${countText(answer.balance)} as of ${clockText(answer.result_second)}${took}`;
  if (answer.kind === "expenditure") return `${countText(answer.tolls)}${took}`;
  return answer.travel_s < 0 ? `no history${took}` : `${countText(answer.travel_s)} s, toll ${countText(answer.toll)}${took}`;
}

function eventText(row, frames) {
  if (row.asks) return ASKS[row.asks];
  if (row.extra) return "told without a report that asks for it";
  const road = frames.roads.find(one => one.place === Math.floor(row.place / 100));
  const lane = ["on the entry lane", "on lane 1", "on lane 2", "on lane 3", "on the exit lane"][row.lane];
  return `in segment ${row.place % 100} ${DIRECTIONS[road.dir]}, expressway ${road.xway}, ${lane}`;
}

// The table of a story: what lies in the future is not there yet.
class Story {
  constructor(root, frames, id, rows) {
    Object.assign(this, {root, frames, id, rows, shown: ""});
  }

  get path() {
    return this.rows.filter(row => row.place !== undefined);
  }

  draw(now) {
    const rows = this.rows.filter(row => row.second <= now);
    const told = rows.map(row => row.told.map(list => list.filter(answer => answer.emit <= now)));
    const state = `${rows.length} ${told.flat(2).length}`;
    if (state === this.shown) return;
    this.shown = state;
    const head = element("tr", {}, ...["time", "the vehicle", ...this.frames.runs.map(run => run.label)].map(text =>
      element("th", {}, text)));
    const lines = rows.map((row, at) => element("tr", {}, element("td", {}, clockText(row.second)),
      element("td", {}, eventText(row, this.frames)),
      ...told[at].map(list => element("td", {}, list.map(answer => answerText(answer, row.second)).join("; ") || "–"))));
    this.root.replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines.reverse())));
  }

  // What each engine has said of the account last.
  account(now) {
    return this.frames.runs.map((run, number) => {
      const told = this.rows.flatMap(row => row.told[number]).filter(one => one.kind === "balance" && one.emit <= now);
      const tolls = this.rows.flatMap(row => row.told[number]).filter(one => one.kind === "toll" && one.emit <= now);
      const sum = countText(tolls.reduce((total, one) => total + one.toll, 0));
      const last = told.length ? `account ${countText(told[told.length - 1].balance)}` : "account not asked for";
      return `${run.label}: ${last}, tolls told ${sum}`;
    }).join("; ");
  }
}
