/*
 * The page's texts and tables.  Data come from the JSON above; whatever a study
 * names goes into text nodes only, so nothing in it can become markup.
 */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const objective = data.study.objective;
const unit = objective.unit;

/* ---- small things ------------------------------------------------------- */

/* el("td", {class: "n"}, "text", node, ...) */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null) node.setAttribute(name, value);
  }
  for (const child of children) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

const section = id => document.getElementById(id);
const missing = v => v === null || v === undefined;

/* Four or five figures, never an exponent where a plain number reads better. */
function number(v) {
  if (missing(v)) return "–";
  const size = Math.abs(v);
  if (Number.isInteger(v) && size < 1e7) return String(v);
  if (size >= 1e15 || (size < 1e-4 && size > 0)) return v.toExponential(3);
  if (size >= 1e4) return v.toFixed(0);
  return String(Number(v.toPrecision(4)));
}

function interval(lo, hi) {
  return missing(lo) || missing(hi) ? "" : `[${number(lo)}, ${number(hi)}]`;
}

function duration(s) {
  if (missing(s)) return "–";
  if (s < 60) return `${number(s)} s`;
  const step = s < 3600 ? 1 : 60;
  const n = Math.round(s / step);
  const [large, small] = s < 3600 ? ["min", "s"] : ["h", "min"];
  const rest = n % 60 ? ` ${n % 60} ${small}` : "";
  return `${Math.floor(n / 60)} ${large}${rest}`;
}

const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
const resourceText = n => `${n} ${data.study.resource.unit}`;

/* "1,200 tokens/s", "loss 1.4": as the program itself prints objectives. */
function objectiveText(v) {
  const named = unit === objective.name || unit === "loss";
  return named ? `${unit} ${number(v)}` : `${number(v)} ${unit}`;
}

/* rows of [text | number | node]; numbers are aligned to the right */
function table(heads, rows, rowClass) {
  const isNumber = heads.map((_, i) =>
      rows.some(r => typeof r[i] === "number"));
  const cell = (tag, v, i) => el(tag,
      {class: isNumber[i] ? "n" : tag === "td" && (v instanceof Node
          || String(v).length > 40) ? "text" : null},
      v instanceof Node ? v : typeof v === "number" ? number(v)
                                                    : missing(v) ? "–" : v);
  return el("div", {class: "scroll"}, el("table", {},
      el("thead", {}, el("tr", {}, ...heads.map((h, i) => cell("th", h, i)))),
      el("tbody", {}, ...rows.map((r, k) => el("tr",
          {class: rowClass ? rowClass(k) : null},
          ...r.map((v, i) => cell("td", v, i)))))));
}

/* Why a section has nothing to show, in place of what it would show. */
function why(id, key) {
  if (!data.why[key]) return;
  section(id).append(el("p", {class: "why"}, data.why[key]));
  if (data[key] === null && key !== "ladders") {
    section(id).querySelectorAll(".note").forEach(note => note.remove());
  }
}

/* A table behind a chart: open where there are no charts. */
function behind(id, title, ...args) {
  section(id).append(el("details",
      data.library ? {} : {open: ""}, el("summary", {}, title),
      table(...args)));
}

const configuration = text => el("code", {class: "configuration"}, text);

/* ---- headline ----------------------------------------------------------- */

function card(title, big, small, lines, wide) {
  return el("div", {class: wide ? "card wide" : "card"},
      el("h3", {}, title),
      el("div", {class: "big"}, big, " ", el("small", {}, small)),
      ...lines.map(line => line instanceof Node ? line : el("p", {}, line)));
}

function winnerCard() {
  const w = data.answer.winner;
  if (!w) return card("Winner", "none", "", [data.why.answer], true);
  const how = w.finals
      ? `${w.repeats} × ${resourceText(w.resource)} in the finals`
      : `${resourceText(w.resource)} in the search, not measured again`;
  return card(w.finals ? "Winner" : "Best of the search",
      objectiveText(w.objective), interval(w.lo, w.hi), [
        `trial ${w.trial} (${w.origin}) on ${plural(w.ranks, "rank")}, ${how}`,
        el("p", {}, configuration(w.configuration))], true);
}

function speedupCard() {
  const s = data.answer.speedup;
  if (!s) return card("Against the baseline", "–", "", [data.why.speedup]);
  const b = data.answer.baseline;
  const c = data.answer.challenger;
  const won = s.significant && data.answer.winner.trial !== b.trial;
  const verdict = won ? "better than the baseline at 95 %"
                      : "no significant difference: the baseline stands";
  /* where less is better the ratio says how many times lower */
  const worse = !objective.maximize && s.value < 1;
  const [value, lo, hi] = worse ? [1 / s.value, 1 / s.hi, 1 / s.lo]
                                : [s.value, s.lo, s.hi];
  const words = objective.maximize ? "times the baseline"
      : worse ? "times higher than the baseline"
              : "times lower than the baseline";
  return card(won ? "Against the baseline" : "Best challenger",
      `${number(value)} ×`, `${words} ${interval(lo, hi)}`, [
        el("p", {class: won ? "good" : "bad"}, verdict),
        `trial ${c.trial}: ${objectiveText(c.objective)}; `
        + `baseline, trial ${b.trial}: ${objectiveText(b.objective)}`]);
}

function costCard() {
  const c = data.cost;
  /* of a short study hours say nothing */
  const [times, name] = c.total < 0.1 ? [3600, "rank-seconds"]
      : c.total < 10 ? [60, "rank-minutes"] : [1, "rank-hours"];
  const cost = v => missing(v) ? "–" : number(times * v);
  return card("Cost", cost(c.total), name, [
    `search ${cost(c.search)}, finals ${cost(c.finals)}, `
    + `failed, lost or interrupted ${cost(c.wasted)}`,
    `${duration(data.state.time_s)} of study time on `
    + plural(data.state.ranks, "rank")]);
}

function countCard() {
  const s = data.state;
  return card("Measured", number(s.trials), s.trials === 1 ? "configuration"
                                                         : "configurations", [
    `${plural(s.runs, "run")}: ${number(s.finished)} finished in the search`,
    `${plural(s.failed, "trial")} failed` + (s.parked
        ? `, ${number(s.parked)} parked: they need more ranks` : ""),
    ...(s.oversubscribed ? [el("p", {class: "bad"},
        `${number(s.oversubscribed)} of ${plural(s.measured, "finished run")} `
        + "had more ranks than cores on a host: their times say little")]
      : [])]);
}

function headline() {
  const s = data.state;
  document.title = `${data.study.name}: trireme report`;
  section("name").textContent = data.study.name;
  section("subtitle").textContent = [
    `${objective.maximize ? "maximize" : "minimize"} ${objective.name}`,
    `state: ${s.state}` + (s.why ? ` (${s.why})` : ""),
    data.file, data.made].filter(v => v).join(" · ");
  section("answer").querySelector(".cards").append(winnerCard(), speedupCard(),
      costCard(), countCard());
}

function topTable() {
  if (data.top.length === 0) {
    section("top").append(el("p", {class: "why"}, data.why.answer));
    return;
  }
  if (data.finals) {
    section("top").append(el("p", {class: "note"}, "What the finals measured "
        + "comes first, by its mean there; then the rest of the search, by "
        + "how far it came and what it measured."));
  }
  section("top").append(table(
      ["trial", unit, "95 %", "measured", "ranks", "from", "configuration"],
      data.top.map(t => [t.trial, t.objective, interval(t.lo, t.hi),
        (t.finals ? `${t.repeats} × ` : "") + resourceText(t.resource),
        t.ranks, t.origin, configuration(t.configuration)]),
      k => data.answer.winner && data.top[k].trial === data.answer.winner.trial
           ? "winner" : null));
}

/* ---- tables behind charts ----------------------------------------------- */

function finalsTable() {
  why("finals", "finals");
  if (!data.finals) return;
  behind("finals", "As a table",
      ["trial", unit, "95 %", "repeats", "ranks", "configuration"],
      data.finals.map(f => [f.baseline ? `${f.trial} (baseline)`
                                       : String(f.trial),
        f.objective, interval(f.lo, f.hi), f.repeats.map(number).join(", "),
        f.ranks, configuration(f.configuration)]));
}

function historyTable() {
  why("history", "results");
  if (!data.results) return;
  const r = data.results;
  if (r.shown < r.total) {
    section("history").append(el("p", {class: "note"},
        `Of ${number(r.total)} results ${number(r.shown)} are drawn: an even `
        + "choice, and all that were the best so far."));
  }
  behind("history", "Each new best as a table",
      ["study time", "rank-hours", unit, "trial", "rung"],
      data.best.map(b => [duration(b[0]), b[1], b[2], b[3], b[4]]));
}

function rungTable() {
  why("rungs", "rungs");
  if (!data.rungs) return;
  why("rungs", "ladders");
  behind("rungs", "As a table",
      ["bracket", "rung", data.study.resource.unit, "results", "promoted",
       "failed", "running", `best ${unit}`, "median", "worst"],
      data.rungs.map(r => [r.bracket, r.rung, r.resource, r.results,
        r.promoted, r.failed, r.running, r.best, r.median, r.worst]));
}

function importanceTable() {
  why("importance", "importance");
  const i = data.importance;
  const note = section("importance").querySelector(".note");
  if (!i) return;
  const good = missing(i.tau) ? "" : " It orders results that it has not seen "
      + `with a rank correlation (Kendall's tau) of ${number(i.tau)}`
      + (i.tau < 0.3 ? ": little, so trust the shares little." : ".");
  note.textContent = "By a functional analysis of variance: a tree ensemble, "
      + `learned from ${number(i.records)} of this study's `
      + `${number(i.measured)} results, predicts ${number(i.drawn)} valid `
      + `configurations at ${resourceText(i.resource)}; a share is the part of `
      + "the variance of their order that a parameter alone accounts for, or "
      + "two together beyond their own." + good
      + (["random", "quasi"].includes(data.study.search) ? ""
          : " (trireme explain asks the search's own model instead, which may "
            + "order the parameters otherwise.)");
  behind("importance", "As a table", ["parameter", "share, %"],
      i.parameters.map(p => [p.name, 100 * p.share]));
  behind("importance", "Pairs as a table", ["parameters", "share, %"],
      i.pairs.slice(0, 20).map(p => [`${p.a} × ${p.b}`, 100 * p.share]));
}

function calibrationNote() {
  const c = data.calibration;
  const note = section("calibration").querySelector(".note");
  why("calibration", "calibration");
  if (!c) return;
  note.textContent = (c.same > 0
      ? `Of ${plural(c.same, "prediction")}, ${number(c.inside)} `
        + `(${Math.round(100 * c.inside / c.same)} %) have the measured value `
        + "in their 95 % interval; that is one of the true value, without a "
        + "run's noise, so somewhat fewer than 95 % are expected. "
      : "No trial with a prediction was measured at the resource that it is "
        + "for, the top rung's. ")
      + (c.other > 0 ? `${plural(c.other, c.same > 0 ? "more trial" : "trial")}`
          + " with a prediction ended at a lower rung (drawn pale, not "
          + "counted)." : "")
      + " On the diagonal both are equal.";
}

function memoryNote() {
  why("memory", "memory");
  if (!data.memory) return;
  const limit = data.memory.limit;
  section("memory").querySelector(".note span").textContent = limit
      ? `; the limit is ${number(limit / 1048576)} MiB a rank`
      : "; the study sets no limit of its own";
}

function timelineTable() {
  const t = data.timeline;
  const note = section("timeline").querySelector(".note");
  why("timeline", "timeline");
  if (!t) return;
  const mean = list => list.reduce((a, b) => a + b, 0) / list.length;
  note.textContent = `On average ${Math.round(mean(t.pool))} % of the pool `
      + `were held by runs. Each column is ${duration(t.bin_s)} of study time, `
      + "each row a "
      + (t.by === "rank" ? "rank." : "node (and its number of ranks).");
  behind("timeline", "As a table", [t.by, "held by runs, %"],
      t.rows.map((name, i) => [name, mean(t.busy[i])]));
}

/* ---- failures, facts ---------------------------------------------------- */

function failures() {
  why("failures", "failures");
  if (!data.failures) return;
  section("failures").append(table(["class", "runs", "trials that ended so"],
      data.failures.map(f => [f.class, f.runs, f.trials])));
  for (const f of data.failures) {
    for (const e of f.examples) {
      section("failures").append(el("div", {class: "failure"},
          el("h3", {}, `${f.class}: ${plural(e.runs, "run")}`),
          e.sentence ? el("div", {}, e.sentence) : null,
          el("p", {class: "note"},
             `for one, run ${e.run} of trial ${e.trial}: `,
             configuration(e.configuration)),
          e.stderr ? el("pre", {}, e.stderr) : null));
    }
  }
}

function facts() {
  const f = data.facts;
  const list = rows => el("dl", {}, ...rows.flatMap(([name, value]) =>
      [el("dt", {}, name), el("dd", {}, missing(value) ? "–"
                                                       : String(value))]));
  section("facts").append(
      el("h3", {}, "Machine"), list(f.machine),
      table(["host", "ranks", "cores", "device", "binding"], f.hosts),
      el("h3", {}, "Record"), list(f.record),
      table(["opening", "begun", "study time, s", "trireme", "survival level",
             "pml", "machine class", "command line"], f.openings),
      el("details", {}, el("summary", {}, "The study file"),
         el("pre", {}, data.study.text)));
  section("footer").append(
      `Made by ${data.program}. It needs no network and sends nothing. `,
      data.library ? `Charts by Apache ${data.library} (Apache License 2.0, `
          + "Copyright 2017-2024 The Apache Software Foundation)."
        : "Without charts: the library ECharts was not found when this "
          + "trireme was built (scripts/deps fetches it).");
}

/* ---- trials ------------------------------------------------------------- */

const trials = data.trials;
const columns = trials.columns;

function paramText(k, i) {
  const v = columns.params[k][i];
  const levels = data.params[k].levels;
  return missing(v) ? "–" : levels ? levels[v] : v;
}

/* [heading, value by row] */
const trialColumns = [
  ["trial", i => columns.trial[i]],
  [unit, i => columns.objective && columns.objective[i]],
  ...(columns.lo ? [["95 %", i => interval(columns.lo[i], columns.hi[i])]]
                 : []),
  ["rung", i => columns.rung && columns.rung[i]],
  ["state", i => trials.states[columns.state[i]]
     + (columns.reason && columns.reason[i] ? `: ${columns.reason[i]}` : "")],
  ["from", i => trials.origins[columns.origin[i]]],
  ["ranks", i => columns.ranks[i]],
  ...(columns.mib ? [["peak, MiB", i => columns.mib[i]]] : []),
  ...data.params.map((p, k) => [p.name, i => paramText(k, i), p.constant])
      .filter(c => !c[2])];

const shown = {rows: null, by: 1, down: objective.maximize, pages: 1};
const PAGE = 25;

function compare(x, y, down) {
  if (missing(x) || missing(y)) return missing(x) - missing(y);
  const order = typeof x === "string" || typeof y === "string"
      ? String(x).localeCompare(String(y), undefined, {numeric: true}) : x - y;
  return down ? -order : order;
}

function sortBy(k) {
  shown.down = shown.by === k ? !shown.down : k === 1 && objective.maximize;
  shown.by = k;
  drawTrials();
}

/* Rows inside the brushes; null: all of them. */
function filterTrials(rows) {
  shown.rows = rows;
  shown.pages = 1;
  drawTrials();
}

function drawTrials() {
  const all = columns.trial.map((_, i) => i);
  const value = trialColumns[shown.by][1];
  const rows = (shown.rows || all).slice().sort((a, b) =>
      compare(value(a), value(b), shown.down) || a - b);
  const some = rows.slice(0, PAGE * shown.pages);
  const heads = trialColumns.map(([name], k) => el("button",
      {type: "button", click: () => sortBy(k)},
      name + (k === shown.by ? (shown.down ? " ↓" : " ↑") : "")));
  const body = table(heads, some.map(i => trialColumns.map(c => c[1](i))),
      k => data.answer.winner
           && columns.trial[some[k]] === data.answer.winner.trial
           ? "winner" : null);
  heads.forEach((h, k) => h.parentNode.setAttribute("aria-sort",
      k !== shown.by ? "none" : shown.down ? "descending" : "ascending"));
  const count = (shown.rows ? `${number(rows.length)} of ` : "")
      + plural(trials.shown, "trial")
      + (shown.rows ? " inside the brushes" : "")
      + (trials.shown < trials.total
         ? ` (those that came furthest, of ${number(trials.total)})` : "");
  section("trials").replaceChildren(
      el("div", {class: "bar"}, el("span", {class: "count", role: "status"},
                                   count),
         shown.rows ? el("button", {type: "button", click: clearBrushes},
                         "Remove the brushes") : null), body,
      some.length < rows.length
          ? el("button", {type: "button", class: "more",
                          click: () => { shown.pages += 4; drawTrials(); }},
               `More (${number(rows.length - some.length)} left)`) : "");
}

headline();
topTable();
finalsTable();
historyTable();
rungTable();
importanceTable();
calibrationNote();
memoryNote();
timelineTable();
failures();
facts();
for (const note of document.querySelectorAll(".learned")) {
  note.hidden = !objective.learned;
}
if (trials.shown === 0) {
  section("space").append(el("p", {class: "why"}, "There is no trial yet."));
}
