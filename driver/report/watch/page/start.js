"use strict";
// Where frames come from: this file itself, or the server of this page, whose events follow a run under way.

// The bytes that stand in the page in base 64.
function embedded(id) {
  const text = document.getElementById(id).textContent;
  return Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
}

class FileSource {
  async frames() {
    const frames = new Frames(await unpack(embedded("frames")));
    // Nothing follows, even if the run was under way.
    frames.live = false;
    return frames;
  }

  async vehicle(query, frames) {
    this.vehicles ??= new Vehicles(await unpack(embedded("vehicles")), frames);
    return {vehicles: this.vehicles, id: query.id ?? this.vehicles.nearest(query.place, query.second)};
  }

  follow() {}
}

class ServerSource {
  async frames() {
    const answer = await fetch("frames");
    return new Frames(await unpack(await answer.arrayBuffer()));
  }

  async vehicle(query, frames) {
    const answer = await fetch(`vehicle?${new URLSearchParams(query)}`);
    if (answer.status === 404) return {vehicles: null, id: null};
    const vehicles = new Vehicles(await unpack(await answer.arrayBuffer()), frames);
    return {vehicles, id: query.id ?? vehicles.id[0]};
  }

  // Listen to the events after those that the frames hold.
  follow(player) {
    this.stream?.close();
    const {broadcast, event} = player.frames;
    this.stream = new EventSource(`events?after=${broadcast}-${event}`);
    const say = text => { byId("connection").textContent = text; };
    this.stream.onopen = () => say("");
    this.stream.onerror = () => say("The server does not answer; the page shows what it has, and tries again.");
    this.stream.addEventListener("frames", message => player.extend(JSON.parse(message.data)));
    this.stream.addEventListener("state", message => player.setState(JSON.parse(message.data)));
    this.stream.addEventListener("restart", () => this.again(player));
    this.stream.addEventListener("end", () => {
      this.stream.close();
      say("The server has ended; the page shows what it has. Start it again with lrb watch.");
    });
  }

  // Another server, or this one after a long time: take all frames anew.
  async again(player) {
    this.stream.close();
    try {
      player.show(await this.frames());
      this.follow(player);
    } catch {
      setTimeout(() => this.again(player), 1000);
    }
  }
}

let player = null;

async function start() {
  const source = document.getElementById("frames") ? new FileSource() : new ServerSource();
  player = new Player(await source.frames(), source);
  source.follow(player);
}

start();
