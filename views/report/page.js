"use strict";
// The list of collectives: a page of entries at a time, and the search. All texts go in as text, never as HTML.
const SHOWN = 100;
const data = JSON.parse(document.getElementById("data").textContent);
const say = (number) => data.texts[number];
const entries = data.entries.map((entry) => ({
  heading: say(entry.h),
  facts: entry.f.map(([name, text]) => [say(name), say(text)]),
  places: entry.p.map(say),
  numbers: entry.n,
}));
for (const entry of entries) {
  const facts = entry.facts.flat();
  entry.words = [entry.heading, entry.numbers, ...entry.places, ...facts].join("\n").toLowerCase();
}
const search = document.getElementById("search");
const list = document.getElementById("entries");
const before = document.getElementById("before");
const after = document.getElementById("after");
let found = entries;
let start = 0;

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function drawn(entry) {
  const details = document.createElement("details");
  details.append(element("summary", entry.heading));
  details.addEventListener("toggle", () => fill(details, entry), { once: true });
  return details;
}

function fill(details, entry) {
  const facts = document.createElement("dl");
  const rows = entry.numbers ? [...entry.facts, ["numbers", entry.numbers]] : entry.facts;
  let last = "";
  for (const [name, text] of rows) {
    facts.append(element("dt", name === last ? "" : name), element("dd", text));
    last = name;
  }
  details.append(facts);
}

function draw() {
  list.replaceChildren(...found.slice(start, start + SHOWN).map(drawn));
  const end = Math.min(start + SHOWN, found.length);
  document.getElementById("page").textContent = found.length ? `${start + 1} to ${end} of ${found.length}` : "";
  document.getElementById("found").textContent =
    found.length === entries.length ? `${entries.length} entries` : `${found.length} of ${entries.length} entries`;
  before.disabled = start === 0;
  after.disabled = end >= found.length;
}

function matches(entry, asked) {
  if (asked.startsWith("at:")) return entry.places.some((place) => place.toLowerCase() === asked.slice(3));
  return asked.split(/\s+/).every((word) => entry.words.includes(word));
}

function filter() {
  const asked = search.value.trim().toLowerCase();
  found = asked ? entries.filter((entry) => matches(entry, asked)) : entries;
  start = 0;
  draw();
}

function turn(step) {
  start += step;
  draw();
  list.scrollIntoView();
}

search.addEventListener("input", filter);
search.form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("clear").addEventListener("click", () => {
  search.value = "";
  filter();
  search.focus();
});
before.addEventListener("click", () => turn(-SHOWN));
after.addEventListener("click", () => turn(SHOWN));
for (const button of document.querySelectorAll("[data-place]")) {
  button.addEventListener("click", () => {
    search.value = `at:${button.dataset.place}`;
    filter();
    document.getElementById("collectives").scrollIntoView();
    search.focus({ preventScroll: true });
  });
}
draw();
