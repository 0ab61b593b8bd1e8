"use strict";
// The time line: plays, pauses, scrubs, follows; draws what there is to be seen at its moment.

const byId = id => document.getElementById(id);
const CARDS_PERIOD_MS = 250, FOLLOW_PERIOD_MS = 500;
// Who wants little motion gets a picture now and then.
const CALM_PERIOD_MS = 1000;
const MODE_NAMES = Object.keys(MODES);

class Player {
  constructor(frames, source) {
    Object.assign(this, {source, playing: false, follows: frames.live, speed: 10, story: null, wanted: null});
    this.view = {now: frames.from, mode: "speed", window: 900, teller: 0, kind: "toll", path: null, colours: {}};
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.show(frames);
    this.connect();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    new ResizeObserver(() => this.wake()).observe(byId("roads"));
  }

  // Take frames anew; the time and the choices stay.
  show(frames) {
    this.frames = frames;
    this.receivedAt = performance.now();
    const names = [...new Set(frames.runs.map(run => run.label))];
    document.title = `Linear Road, watched: ${names.join(" and ")}`;
    byId("subject").textContent = [names.join(" and "), frames.dataset.name, `L = ${frames.dataset.xways}`,
      `minutes ${frames.from / 60 + 1} to ${frames.until / 60}`].join(" · ");
    byId("lede").textContent = "Time runs down to the line of now. Each engine's coloured line is the front of its answers: "
      + "what lies between the two is its response time. Watch it when a minute ends, and when jams grow.";
    const options = (values, texts) => values.map((value, at) => element("option", {value}, texts[at]));
    byId("teller").replaceChildren(...options(frames.runs.map((_, at) => at), frames.runs.map(run => run.label)));
    byId("tellers").hidden = frames.runs.length === 1;
    const xway = byId("xway").value;
    byId("xway").replaceChildren(...options(frames.xways, frames.xways));
    byId("xways").hidden = frames.xways.length === 1;
    byId("live").hidden = !frames.live;
    byId("cards").replaceChildren();
    this.cards = frames.runs.map(run => new Card(run, frames));
    byId("cards").append(...this.cards.map(card => card.root));
    this.race = new Race(byId("race"), frames);
    this.choose("xway", frames.xways.map(String).includes(xway) ? xway : String(frames.xways[0]));
    this.choose("teller", String(Math.min(this.view.teller, frames.runs.length - 1)));
    this.recolour();
    this.seek(this.view.now);
  }

  connect() {
    byId("play").addEventListener("click", () => this.play(!this.playing));
    byId("live").addEventListener("click", () => this.follow());
    byId("time").addEventListener("input", event => this.leave(Number(event.target.value)));
    byId("speed").addEventListener("change", event => { this.speed = Number(event.target.value); });
    for (const name of ["teller", "window", "xway"]) {
      byId(name).addEventListener("change", event => this.choose(name, event.target.value));
    }
    for (const radio of document.getElementsByName("mode")) {
      radio.addEventListener("change", () => this.choose("mode", radio.value));
    }
    document.addEventListener("keydown", event => this.key(event));
    byId("pick").addEventListener("submit", event => {
      event.preventDefault();
      this.pick({id: Number(byId("number").value)});
    });
    document.addEventListener("visibilitychange", () => this.wake());
  }

  choose(name, value) {
    if (name === "xway") {
      this.pictures = this.frames.roads.filter(road => String(road.xway) === value)
        .map(road => new Picture(road, this.frames));
      byId("roads").replaceChildren(...this.pictures.map(picture => picture.figure));
      for (const picture of this.pictures) {
        picture.canvas.addEventListener("click", event => {
          const at = picture.at(event.offsetX, event.offsetY);
          if (at) this.pick(at);
        });
      }
    } else {
      this.view[name] = name === "mode" ? value : Number(value);
    }
    const part = name === "mode" ? document.querySelector(`[name=mode][value=${value}]`) : byId(name);
    if (name === "mode") part.checked = true; else part.value = value;
    this.drawLegend();
    this.wake();
  }

  play(playing) {
    if (playing && this.view.now >= this.frames.end && !this.frames.live) this.view.now = this.frames.from;
    this.playing = playing;
    if (playing) this.follows = false;
    byId("play").textContent = playing ? "Pause" : "Play";
    byId("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    // Who listens hears where the time stands when it stands.
    byId("situation").setAttribute("aria-live", playing ? "off" : "polite");
    this.last = null;
    this.wake();
  }

  follow() {
    this.play(false);
    this.follows = true;
    this.wake();
  }

  // Go to a moment that the user has chosen.
  leave(second) {
    this.follows = false;
    this.seek(second);
  }

  seek(second) {
    this.view.now = Math.min(Math.max(second, this.frames.from), Math.max(this.frames.end, this.frames.from));
    this.wake();
  }

  key(event) {
    const typing = event.target.matches?.("input:not([type=range]):not([type=radio]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 60 : 10, radio = event.target.matches?.("[type=radio]");
    const actions = {
      " ": () => this.play(!this.playing),
      ArrowRight: radio ? null : () => this.leave(this.view.now + step),
      ArrowLeft: radio ? null : () => this.leave(this.view.now - step),
      Home: () => this.leave(this.frames.from),
      End: () => this.leave(this.frames.end),
      "+": () => this.faster(1),
      "-": () => this.faster(-1),
      c: () => this.choose("mode", MODE_NAMES[(MODE_NAMES.indexOf(this.view.mode) + 1) % MODE_NAMES.length]),
    };
    const action = actions[event.key] ?? actions[event.key.toLowerCase()];
    if (!action || (event.key === " " && event.target.matches?.("button") && event.target.id !== "play")) return;
    event.preventDefault();
    action();
  }

  faster(step) {
    const select = byId("speed");
    select.selectedIndex = Math.min(Math.max(select.selectedIndex + step, 0), select.options.length - 1);
    this.speed = Number(select.value);
  }

  // Draw with the next frame of the screen, once.
  wake() {
    if (this.wanted === null) this.wanted = requestAnimationFrame(time => this.tick(time));
  }

  tick(time) {
    this.wanted = null;
    const calm = this.calm.matches && (this.playing || this.follows);
    if (!calm || !this.drawnAt || time - this.drawnAt >= CALM_PERIOD_MS || this.last === null) {
      this.move(time);
      this.draw(time);
    }
    if (this.playing) this.wake();
    // A run under way moves by a second in a second: a few pictures are enough, and leave it the processor.
    else if (this.follows && this.frames.live) {
      this.timer ??= setTimeout(() => {
        this.timer = null;
        this.wake();
      }, FOLLOW_PERIOD_MS);
    }
  }

  move(time) {
    const end = this.frames.end;
    if (this.playing && this.last !== null) {
      this.view.now = Math.min(this.view.now + Math.min(time - this.last, 2000) / 1000 * this.speed, end);
      if (this.view.now >= end && !this.frames.live) this.play(false);
    } else if (this.follows && this.frames.live) {
      // Between two events the real clock goes on.
      const real = this.frames.runs.some(run => run.state === "running" && run.clock === "real");
      const on = real ? Math.min((performance.now() - this.receivedAt) / 1000, 2) : 0;
      this.view.now = Math.max(this.frames.from, end + on);
    }
    this.last = time;
  }

  draw(time) {
    const {view, frames} = this;
    this.drawnAt = time;
    for (const picture of this.pictures) picture.draw(view);
    this.race.draw(view);
    const slider = byId("time");
    slider.min = frames.from;
    slider.max = Math.ceil(frames.end);
    slider.value = Math.floor(view.now);
    slider.setAttribute("aria-valuetext", clockText(view.now));
    byId("clock").textContent = `${clockText(view.now)} of ${clockText(frames.live ? frames.until : frames.end)}`;
    byId("live").setAttribute("aria-pressed", String(this.follows));
    if (!this.cardsAt || time - this.cardsAt >= CARDS_PERIOD_MS || !this.playing) {
      this.cardsAt = time;
      for (const card of this.cards) card.draw(view);
      this.drawSituation();
      this.drawStory();
    }
  }

  drawSituation() {
    const {view, frames} = this, standing = frames.accidentsAt(Math.floor(view.now));
    const places = standing.slice(0, 4).map(one =>
      `segment ${one.seg} ${DIRECTIONS[one.dir]}${frames.xways.length > 1 ? ` of expressway ${one.xway}` : ""} since ${clockText(one.from_second)}`);
    const more = standing.length > 4 ? ` and ${standing.length - 4} more` : "";
    const accidents = standing.length ? `accident in ${places.join(", ")}${more}` : "no accident";
    const text = `${clockText(view.now)}: ${accidents}.`;
    if (byId("situation").textContent !== text) byId("situation").textContent = text;
  }

  drawLegend() {
    const {legend, text} = MODES[this.view.mode], runs = this.frames.runs;
    const sample = (name, content, style = {}) => {
      const span = element("span", {class: name});
      Object.assign(span.style, style);
      return element("li", {}, span, content);
    };
    const gradient = `linear-gradient(90deg,${legend.colours.map(colour => `#${colour}`).join(",")})`;
    byId("legend").replaceChildren(
      sample("scale", `${text}: ${legend.text}`, {background: gradient}),
      ...(legend.zero ? [sample("zero", legend.zero)] : []),
      sample("none", legend.none), sample("cross", "accident: a cross while it stands, a line as long as it stood"),
      ...(this.view.mode === "speed" ? [] : [sample("point", "accident alerts told", {color: runs[this.view.teller].colour})]),
      sample("hatch", "waits for the answers of the engine in whose colour it is hatched"),
      ...runs.map(run => sample(`line front${run.dashed ? " dashed" : ""}`, `${run.label}: answered up to here`, {color: run.colour})));
  }

  // Canvas knows no variables of style sheets.
  recolour() {
    const probe = document.body.appendChild(element("i")), resolve = colour => {
      probe.style.color = colour;
      return getComputedStyle(probe).color;
    };
    for (const name of ["ink", "faint", "paper", "panel"]) this.view.colours[name] = resolve(`var(--${name})`);
    this.view.colours.runs = this.frames.runs.map(run => resolve(run.colour));
    probe.remove();
    this.wake();
  }

  // What an event of the server tells of a run.
  extend(piece) {
    this.frames.runs[piece.run].extend(piece);
    if (piece.now !== null) this.frames.now = piece.now;
    this.receivedAt = performance.now();
    this.wake();
  }

  setState({run, live, ...state}) {
    Object.assign(this.frames.runs[run], state);
    this.frames.live = live;
    byId("live").hidden = !live;
    if (!live) this.follows = false;
    this.wake();
  }

  async pick(query) {
    byId("found").textContent = "Looking for it.";
    try {
      const {vehicles, id} = await this.source.vehicle(query, this.frames);
      if (!vehicles || !vehicles.has(id)) {
        this.story = null;
        byId("story").replaceChildren();
        byId("found").textContent = query.id === undefined ? "No vehicle entered that segment then; click where traffic is."
          : `No vehicle ${query.id} is on ${this.frames.xways.length > 1 ? "these expressways" : `expressway ${this.frames.xways[0]}`}; click on the picture to pick one.`;
      } else {
        byId("number").value = id;
        this.story = new Story(byId("story"), this.frames, id, vehicles.story(id));
      }
    } catch {
      byId("found").textContent = "The server has ended, so no vehicle can be looked up; start it again with lrb watch.";
      this.story = null;
    }
    this.view.path = this.story?.path ?? null;
    this.wake();
  }

  drawStory() {
    if (!this.story) return;
    const {now} = this.view, trip = this.story.path;
    const text = `Vehicle ${this.story.id}: ${countText(trip.length)} segments from ${clockText(trip[0]?.second ?? 0)} to `
      + `${clockText(trip[trip.length - 1]?.second ?? 0)}. ${this.story.account(now)}.`;
    if (byId("found").textContent !== text) byId("found").textContent = text;
    this.story.draw(now);
  }
}
