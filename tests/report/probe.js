/*
 * Put at the end of a report by browser.py: looks at the page as it was drawn,
 * draws a brush with the mouse, changes the theme, and leaves what it saw in
 * an element "probe".  window.seen holds what went wrong before.
 */
"use strict";

/* How many colours a chart's pixels have, and how many are not the ground. */
function pixels(place) {
  const canvas = place.querySelector("canvas");
  if (!canvas) return {colors: 0, drawn: 0};
  const image = canvas.getContext("2d")
      .getImageData(0, 0, canvas.width, canvas.height).data;
  const words = new Uint32Array(image.buffer);
  const colors = new Set();
  let drawn = 0;
  for (const w of words) {
    if (w >>> 24 > 0) { drawn++; colors.add(w); }
  }
  return {colors: colors.size, drawn};
}

function look() {
  const places = {};
  for (const place of document.querySelectorAll(".chart")) {
    places[place.dataset.chart] = place.classList.contains("none")
        ? null : pixels(place);
  }
  return places;
}

const count = () => document.querySelector("#trials .count").textContent;
const rowsShown = () => document.querySelectorAll("#trials tbody tr").length;

/* Drag along the last axis of the parallel coordinates, from a third of its
   height to its lower end. */
function brush() {
  const chart = charts.get("parallel");
  if (!chart) return null;
  const model = chart.getModel();
  const system = model.getComponent("parallel").coordinateSystem;
  const dims = model.getComponent("parallel").dimensions;
  const at = system.getAxisLayout(dims[dims.length - 1]);
  const rect = system.getRect();
  const box = chart.getDom().getBoundingClientRect();
  const x = box.left + at.position[0];
  const root = chart.getZr().painter.getViewportRoot();
  const event = (type, y) => root.dispatchEvent(new MouseEvent(type, {
    bubbles: true, cancelable: true, clientX: x, clientY: y, button: 0,
    buttons: type === "mouseup" ? 0 : 1, view: window}));
  const from = box.top + rect.y + rect.height * 0.33;
  const to = box.top + rect.y + rect.height;
  event("mousemove", from);
  event("mousedown", from);
  for (let i = 1; i <= 8; i++) event("mousemove", from + (to - from) * i / 8);
  event("mouseup", to);
  return () => inside(model, dims.length - 1);
}

/* Trials whose objective lies in the interval that the axis was given. */
function inside(model, axisNumber) {
  const [interval] = model.getComponent("parallelAxis", axisNumber)
      .activeIntervals;
  return interval && (columns.objective || []).filter(v => v !== null
      && v >= interval[0] && v <= interval[1]).length;
}

/* Values of the parallel coordinates that lie beyond the ends of their axis,
   of all series; null without the chart. */
function outside() {
  const chart = charts.get("parallel");
  if (!chart) return null;
  const {series, parallelAxis} = chart.getOption();
  const at = dim => chart.getModel().getComponent("parallelAxis", dim).axis;
  return parallelAxis.map((a, dim) => {
    if (a.type === "category") return 0;
    const [lo, hi] = at(dim).scale.getExtent();
    const slack = 1e-9 * (Math.abs(lo) + Math.abs(hi));
    return series.flatMap(s => s.data).map(row => row[dim]).filter(v =>
        typeof v === "number" && (v < lo - slack || v > hi + slack)).length;
  }).reduce((a, b) => a + b, 0);
}

function settled(then) { setTimeout(then, 300); }

settled(() => {
  const result = {title: document.title, charts: look(),
                  name: document.getElementById("name").textContent,
                  tables: document.querySelectorAll("table").length,
                  why: document.querySelectorAll(".why").length,
                  outside: outside(), all: {count: count(), rows: rowsShown()}};
  const brushes = brush();
  settled(() => {
    result.brushed = brushes && {count: count(), rows: rowsShown(),
        inside: brushes()};
    const remove = document.querySelector("#trials .bar button");
    if (remove) remove.click();
    settled(() => {
      result.removed = {count: count(), rows: rowsShown()};
      const before = getComputedStyle(document.body).backgroundColor;
      document.getElementById("theme").click();
      result.themes = [before,
                       getComputedStyle(document.body).backgroundColor];
      settled(() => {
        result.changed = look();
        result.seen = window.seen;
        const out = document.createElement("pre");
        out.id = "probe";
        out.textContent = JSON.stringify(result);
        document.body.replaceChildren(out);
      });
    });
  });
});
