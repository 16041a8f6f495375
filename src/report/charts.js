/*
 * The charts: for each a function of the theme that returns an option object of
 * ECharts, and nothing that draws.  Follows tables.js, whose helpers it uses.
 * An option of null is a chart that this study has no data for; the sentence
 * that says why is in the page already.
 */
const themes = {
  light: {ink: "#1b1f24", quiet: "#5a636e", line: "#d9dee4", paper: "#ffffff",
          veil: "rgba(255,255,255,0.75)",
          blue: "#0072b2", orange: "#c77700", green: "#00805a",
          red: "#c44e00", sky: "#3b8fc4", grey: "#9aa3ad",
          scale: ["#d9a800", "#5cb04a", "#21918c", "#3b528b", "#440154"],
          heat: ["#f2f5f8", "#9ecae1", "#2171b5", "#08306b"]},
  dark: {ink: "#e6eaee", quiet: "#9aa5b1", line: "#303841", paper: "#181d23",
         veil: "rgba(24,29,35,0.75)",
         blue: "#62b5f0", orange: "#e8a33d", green: "#3fc79a",
         red: "#ff9457", sky: "#8fd0ff", grey: "#707b87",
         scale: ["#8d63c8", "#5b86cf", "#35b0a8", "#7fd873", "#fde725"],
         heat: ["#20272e", "#1f4e79", "#3d94d6", "#d6ecff"]}};

const valueOf = (name, i) => columns[name] ? columns[name][i] : null;
const trialName = i => `trial ${columns.trial[i]}`;

/* ---- shared pieces of options ------------------------------------------- */

/* Positive values over more than two decades read better by logarithms. */
function isWide(values) {
  let lo = Infinity, hi = -Infinity;
  for (const v of values) {
    if (missing(v)) continue;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  return lo > 0 && hi / lo > 100;
}

function axis(c, name, more) {
  return {name, nameLocation: "middle", nameGap: 34, type: "value", scale: true,
          nameTextStyle: {color: c.quiet}, axisLabel: {color: c.quiet,
          hideOverlap: true}, axisLine: {lineStyle: {color: c.line}},
          splitLine: {lineStyle: {color: c.line}}, ...more};
}

/* An axis of objectives. */
const objectiveAxis = (c, values, more) => axis(c, unit,
    {nameGap: 58, type: isWide(values) ? "log" : "value",
     axisLabel: {color: c.quiet, hideOverlap: true, formatter: number},
     ...more});

function base(c, description, more) {
  return {
    aria: {enabled: true, label: {description}},
    animation: false, textStyle: {color: c.ink, fontFamily: "inherit"},
    grid: {left: 84, right: 24, top: 36, bottom: 54},
    legend: {top: 0, textStyle: {color: c.ink}, inactiveColor: c.grey,
             type: "scroll", pageTextStyle: {color: c.ink}},
    tooltip: {backgroundColor: c.paper, borderColor: c.line, confine: true,
              textStyle: {color: c.ink, fontSize: 12},
              extraCssText: "max-width:420px;white-space:normal"},
    ...more};
}

/* A unit in which so many seconds read well. */
function timeScale(s) {
  if (s < 240) return [1, "s"];
  if (s < 4 * 3600) return [60, "min"];
  return s < 4 * 86400 ? [3600, "h"] : [86400, "d"];
}

/* Text of a tooltip: lines, escaped. */
const lines = (...list) => list.filter(v => v !== null)
    .map(v => echarts.format.encodeHTML(String(v))).join("<br>");

const gradient = (list, n) => Array.from({length: n}, (_, i) => {
  return list[Math.round(i * (list.length - 1) / Math.max(1, n - 1))];
});

/* Intervals as short pieces of a line; data [[lo x, lo y], [hi x, hi y]]. */
const intervals = (color, data, width) => ({
  type: "line", symbol: "none", silent: true, z: 2, connectNulls: false,
  lineStyle: {color, width, opacity: width > 2 ? 0.6 : 0.5, cap: "butt"},
  data: data.flatMap(([lo, hi]) => [lo, hi, ["-", "-"]])});

/* ---- the best, the rungs ------------------------------------------------ */

function history(c) {
  const r = data.results;
  if (!r) return null;
  const [second, name] = timeScale(r.time_s[r.shown - 1]);
  const rungs = [...new Set(r.rung)].sort((a, b) => a - b);
  const colors = gradient(c.scale, rungs.length);
  const last = data.best.length ? data.best[data.best.length - 1] : null;
  return base(c, `Results of the search over study time; the best is ${
      last ? objectiveText(last[2]) : "not known"}.`, {
    xAxis: axis(c, `study time, ${name}`, {scale: false, min: 0}),
    yAxis: objectiveAxis(c, r.objective),
    series: [
      ...rungs.map((rung, k) => ({
        name: `rung ${rung}`, type: "scatter",
        symbolSize: r.shown < 200 ? 8 : 5,
        large: r.shown > 4000, color: colors[k],
        itemStyle: {opacity: 0.75},
        data: r.rung.flatMap((v, i) => v !== rung ? [] :
            [[r.time_s[i] / second, r.objective[i], r.trial[i]]]),
        tooltip: {formatter: p => lines(`trial ${p.value[2]}, rung ${rung}`,
            objectiveText(p.value[1]))}})),
      {name: "best so far", type: "line", step: "end", symbol: "none",
       color: c.red, lineStyle: {width: 2.5}, z: 5,
       data: data.best.map(b => [b[0] / second, b[2]]).concat(
           last ? [[r.time_s[r.shown - 1] / second, last[2]]] : [])}]});
}

function rungs(c) {
  const r = data.rungs;
  if (!r) return null;
  const many = r.some(x => x.bracket !== r[0].bracket);
  const names = r.map(x => (many ? `bracket ${x.bracket}, ` : "")
      + `rung ${x.rung}: ${resourceText(x.resource)}`);
  const bar = (name, color, f, pattern) => ({
    name, type: "bar", stack: "n", color, barMaxWidth: 34, data: r.map(f),
    itemStyle: pattern ? {decal: {symbol: "rect", dashArrayX: [1, 0],
        dashArrayY: [2, 4], rotation: 0.8, color: c.paper}} : {}});
  return base(c, "Results of each rung: promoted, not promoted, failed.", {
    tooltip: {...base(c).tooltip, trigger: "axis",
              axisPointer: {type: "shadow"}},
    grid: {left: 150, right: 24, top: 36, bottom: 54},
    xAxis: axis(c, "runs", {scale: false, minInterval: 1}),
    yAxis: {type: "category", data: names, inverse: true,
            axisLabel: {color: c.quiet, width: 140, overflow: "break"},
            axisLine: {lineStyle: {color: c.line}}},
    series: [
      bar("promoted", c.green, x => x.promoted),
      bar("result, not promoted", c.sky,
          x => Math.max(0, x.results - x.promoted)),
      bar("failed", c.red, x => x.failed, true),
      bar("running", c.grey, x => x.running)]});
}

function ladders(c) {
  const list = data.ladders;
  if (!list) return null;
  const all = list.flatMap(l => l.points);
  const winner = data.answer.winner ? data.answer.winner.trial : -1;
  return base(c, "The objective of trials that were promoted, at each rung.", {
    legend: {show: false},
    tooltip: {...base(c).tooltip, trigger: "item", formatter: p => lines(
        p.seriesName, `${objectiveText(p.value[1])} at ${
        resourceText(p.value[0])}`)},
    xAxis: axis(c, `resource, ${data.study.resource.unit}`,
        {type: all.every(q => q[0] > 0) ? "log" : "value"}),
    yAxis: objectiveAxis(c, all.map(q => q[1])),
    series: list.map(l => ({
      name: `trial ${l.trial}`, type: "line", symbol: "circle", data: l.points,
      symbolSize: l.trial === winner ? 8 : 5, z: l.trial === winner ? 5 : 2,
      color: l.trial === winner ? c.red : c.blue,
      lineStyle: {width: l.trial === winner ? 3 : 1,
                  opacity: l.trial === winner ? 1 : 0.45}}))});
}

/* ---- parallel coordinates ----------------------------------------------- */

const MOST_AXES = 12;
const FEW_VALUES = 12;

/* Parameters that vary, those that matter most where they are too many. */
function chosenParams() {
  const share = {};
  for (const p of data.importance ? data.importance.parameters : []) {
    share[p.name] = p.share;
  }
  const vary = data.params.map((p, k) => k).filter(k =>
      !data.params[k].constant
      && new Set(columns.params[k]).size > 1);
  if (vary.length <= MOST_AXES) return vary;
  return vary.sort((a, b) => (share[data.params[b].name] || 0)
                           - (share[data.params[a].name] || 0))
             .slice(0, MOST_AXES).sort((a, b) => a - b);
}

/* The ends of an axis that holds all values: ECharts takes them from the first
 * series alone, and those without a result are in another. */
function ends(values, log) {
  const list = values.filter(v => !missing(v));
  if (list.length === 0) return {};
  const lo = list.reduce((a, b) => Math.min(a, b));
  const hi = list.reduce((a, b) => Math.max(a, b));
  const step = 10 ** Math.floor(Math.log10((hi - lo || 1) / 5));
  return log ? {min: 10 ** Math.floor(Math.log10(lo)),
                max: 10 ** Math.ceil(Math.log10(hi))}
      : {min: Math.floor(lo / step) * step, max: Math.ceil(hi / step) * step};
}

/* {name, values, axis} of one coordinate; few values are categories. */
function coordinate(name, values, log, levels) {
  const distinct = [...new Set(values.filter(v => !missing(v)))]
      .sort((a, b) => a - b);
  if (levels || distinct.length <= FEW_VALUES) {
    const place = new Map(distinct.map((v, i) => [v, i]));
    return {name, axis: {type: "category", data: distinct.map(v =>
                levels ? levels[v] : number(v))},
            values: values.map(v => missing(v) ? null : place.get(v))};
  }
  const isLog = (log || isWide(values)) && distinct[0] > 0;
  return {name, values, axis: {
    type: isLog ? "log" : "value", scale: true, ...ends(values, isLog),
    axisLabel: {formatter: number}}};
}

function coordinates() {
  const list = chosenParams().map(k => coordinate(data.params[k].name,
      columns.params[k], data.params[k].log, data.params[k].levels));
  if (new Set(columns.ranks).size > 1
      && !data.params.some(p => p.name === "ranks")) {
    list.push(coordinate("ranks", columns.ranks, false));
  }
  if (columns.rung && new Set(columns.rung).size > 1) {
    list.push(coordinate("rung", columns.rung, false));
  }
  if (columns.objective) {
    list.push({...coordinate(unit, columns.objective, false),
               values: columns.objective,
               axis: {type: isWide(columns.objective) ? "log" : "value",
                      scale: true, axisLabel: {formatter: number}}});
  }
  return list;
}

/* Rows of the two series: with a result, without. */
const rowsOf = has => columns.trial.map((_, i) => i)
    .filter(i => missing(valueOf("objective", i)) !== has);
const parallelRows = [rowsOf(true).sort((a, b) => /* the best on top */
    compare(columns.objective[a], columns.objective[b], !objective.maximize)),
    rowsOf(false)];

/* Middle nine tenths of the objectives, so that no outlier takes all colours.
 */
function colorRange() {
  const list = parallelRows[0].map(i => columns.objective[i])
      .sort((a, b) => a - b);
  const at = q => list[Math.round(q * (list.length - 1))];
  const [lo, hi] = objective.maximize ? [at(0.1), at(1)] : [at(0), at(0.9)];
  return lo < hi ? [lo, hi] : [lo - 1, lo + 1];
}

function parallelSeries(c, list, name, rows, style) {
  return {name, type: "parallel", smooth: false, progressive: 0,
          inactiveOpacity: 0.02, activeOpacity: Math.min(1, 0.25 + style),
          lineStyle: {width: rows.length > 1000 ? 0.7 : 1.3, opacity: style,
                      color: c.grey},
          data: rows.map(i => list.map(d =>
              missing(d.values[i]) ? "-" : d.values[i]))};
}

function parallel(c) {
  const list = trials.shown > 0 ? coordinates() : [];
  if (list.length < 2) return null;
  const n = parallelRows[0].length;
  const opacity = n > 3000 ? 0.08 : n > 500 ? 0.3 : 0.7;
  const last = list.length - 1;
  const [min, max] = columns.objective ? colorRange() : [0, 1];
  const scale = objective.maximize ? c.scale : c.scale.slice().reverse();
  return base(c, "All trials; brushes on the axes filter the table.", {
    legend: {show: false}, tooltip: {show: false},
    parallel: {left: 60, right: columns.objective ? 130 : 60, top: 46,
               bottom: 26, parallelAxisDefault: {
      nameTextStyle: {color: c.ink, fontSize: 12, width: 110,
                      overflow: "truncate"}, nameGap: 16,
      axisLabel: {color: c.quiet, fontSize: 11},
      axisLine: {lineStyle: {color: c.quiet}},
      areaSelectStyle: {width: 20, color: c.orange, borderColor: c.orange,
                        opacity: 0.35}}},
    parallelAxis: list.map((d, dim) => ({dim, name: d.name, ...d.axis,
        axisLabel: {color: c.ink, fontSize: 11, padding: [1, 3],
                    backgroundColor: c.veil, ...d.axis.axisLabel}})),
    visualMap: columns.objective ? {
      seriesIndex: 0, dimension: last, min, max, calculable: false,
      right: 4, top: "middle", text: [number(max), number(min)],
      textStyle: {color: c.quiet, fontSize: 11}, formatter: number,
      inRange: {color: scale}, outOfRange: {
        color: [objective.maximize ? scale[0] : scale[scale.length - 1]]}}
      : undefined,
    series: [parallelSeries(c, list, "measured", parallelRows[0], opacity),
             parallelSeries(c, list, "no result", parallelRows[1],
                            parallelRows[1].length > 500 ? 0.2 : 0.6)]});
}

/* Trials inside all brushes; null where there is none. */
function brushed(chart) {
  const series = chart.getModel().getSeries();
  const rows = series.flatMap((s, k) =>
      s.getRawIndicesByActiveState("active").map(i => parallelRows[k][i]));
  const out = series.some(s =>
      s.getRawIndicesByActiveState("inactive").length > 0);
  return rows.length > 0 || out ? rows.sort((a, b) => a - b) : null;
}

/* ---- importance --------------------------------------------------------- */

function importance(c) {
  const i = data.importance;
  if (!i || i.parameters.length === 0) return null;
  const list = i.parameters.slice(0, 15);
  return base(c, `The parameter that matters most is ${list[0].name}.`, {
    legend: {show: false},
    tooltip: {...base(c).tooltip, formatter: p => lines(p.name,
        `${number(p.value)} % of the variance`)},
    grid: {left: 130, right: 40, top: 30, bottom: 54},
    title: {text: "alone", left: "center",
            textStyle: {color: c.quiet, fontSize: 13, fontWeight: "normal"}},
    xAxis: axis(c, "share of the variance, %", {scale: false, min: 0}),
    yAxis: {type: "category", inverse: true, data: list.map(p => p.name),
            axisLabel: {color: c.quiet, width: 118, overflow: "truncate"},
            axisLine: {lineStyle: {color: c.line}}},
    series: [{type: "bar", color: c.blue, barMaxWidth: 22,
              data: list.map(p => 100 * p.share)}]});
}

function pairs(c) {
  const i = data.importance;
  if (!i || i.pairs.length === 0) return null;
  const names = i.parameters.map(p => p.name).filter(n =>
      i.pairs.some(p => p.a === n || p.b === n));
  const cells = i.pairs.flatMap(p => {
    const a = names.indexOf(p.a), b = names.indexOf(p.b);
    const v = 100 * p.share;
    return [[a, b, v], [b, a, v]];
  });
  return base(c, `The pair that acts together most is ${i.pairs[0].a} and ${
      i.pairs[0].b}.`, {
    legend: {show: false},
    tooltip: {...base(c).tooltip, formatter: p => lines(
        `${names[p.value[0]]} × ${names[p.value[1]]}`,
        `${number(p.value[2])} % of the variance, beyond their own`)},
    title: {text: "in pairs, beyond their own", left: "center",
            textStyle: {color: c.quiet, fontSize: 13, fontWeight: "normal"}},
    grid: {left: 110, right: 90, top: 30, bottom: 84},
    xAxis: {type: "category", data: names, axisLabel: {color: c.quiet,
            rotate: 40, width: 90, overflow: "truncate"},
            axisLine: {lineStyle: {color: c.line}}},
    yAxis: {type: "category", data: names, inverse: true,
            axisLabel: {color: c.quiet, width: 100, overflow: "truncate"},
            axisLine: {lineStyle: {color: c.line}}},
    visualMap: {min: 0, max: Math.max(1, 100 * i.pairs[0].share), right: 0,
                top: "middle",
                text: [`${number(100 * i.pairs[0].share)} %`, "0 %"],
                textStyle: {color: c.quiet, fontSize: 11},
                inRange: {color: c.heat}},
    series: [{type: "heatmap", data: cells,
              itemStyle: {borderColor: c.paper, borderWidth: 1}}]});
}

/* Ranges follow each other: the upper end of one is enough. */
const upper = name => label => data.params.some(p => p.name === name
    && p.levels) ? label : label.replace(/^.* … /, "≤ ");

const pair = k => c => {
  const i = data.importance;
  const p = i && i.pairs[k];
  if (!p || !p.mean) return null;
  const cells = p.mean.flatMap((row, a) => row.flatMap((v, b) =>
      missing(v) ? [] : [[a, b, v]]));
  return base(c, `Mean place of ${p.a} and ${p.b} in the predicted order.`, {
    legend: {show: false},
    tooltip: {...base(c).tooltip, formatter: q => lines(
        `${p.a}: ${p.labels_a[q.value[0]]}`,
        `${p.b}: ${p.labels_b[q.value[1]]}`,
        `better than ${number(q.value[2])} % of the space, on average`)},
    title: {text: `${p.a} × ${p.b}: ${number(100 * p.share)} %`,
            left: "center", textStyle: {color: c.quiet, fontSize: 13,
            fontWeight: "normal", width: 300, overflow: "truncate"}},
    grid: {left: 104, right: 62, top: 54, bottom: 64},
    xAxis: {type: "category", data: p.labels_a, name: p.a,
            nameLocation: "middle", nameGap: 46,
            nameTextStyle: {color: c.ink},
            axisLabel: {color: c.quiet, fontSize: 10,
                        formatter: upper(p.a),
                        rotate: p.labels_a.some(l => l.length > 6) ? 30 : 0},
            axisLine: {lineStyle: {color: c.line}}},
    yAxis: {type: "category", data: p.labels_b, name: p.b,
            nameLocation: "end", nameGap: 8,
            nameTextStyle: {color: c.ink, align: "right"},
            axisLabel: {color: c.quiet, fontSize: 10, formatter: upper(p.b)},
            axisLine: {lineStyle: {color: c.line}}},
    visualMap: {min: 0, max: 100, right: 0, top: "middle", itemWidth: 12,
                itemHeight: 100, text: ["best", "worst"], precision: 0,
                textStyle: {color: c.quiet, fontSize: 10},
                inRange: {color: c.heat}},
    series: [{type: "heatmap", data: cells,
              itemStyle: {borderColor: c.paper, borderWidth: 1}}]});
};

/* ---- predictions, memory ------------------------------------------------ */

const MOST_INTERVALS = 400;

function calibration(c) {
  if (!data.calibration || !columns.predicted) return null;
  const top = Math.max(...data.rungs.map(r => r.rung));
  const rows = columns.trial.map((_, i) => i).filter(i =>
      !missing(columns.predicted[i]) && !missing(columns.objective[i]));
  const counts = i => !objective.learned || columns.rung[i] === top;
  const inside = i => columns.objective[i] >= columns.predicted_lo[i]
      && columns.objective[i] <= columns.predicted_hi[i];
  const point = i => [columns.objective[i], columns.predicted[i], i];
  const both = rows.flatMap(i => [columns.objective[i], columns.predicted[i]]);
  const type = isWide(both) ? "log" : "value";
  const lo = both.reduce((a, b) => Math.min(a, b), Infinity);
  const hi = both.reduce((a, b) => Math.max(a, b), -Infinity);
  const ends = rows.length <= MOST_INTERVALS ? rows.filter(i => counts(i)
      && !missing(columns.predicted_lo && columns.predicted_lo[i])) : [];
  const dots = (name, color, symbol, list, opacity) => ({
    name, type: "scatter", symbol, symbolSize: 7, color, z: 3,
    itemStyle: {opacity}, data: list.map(point)});
  const measured = rows.filter(counts);
  return base(c, "Predicted against measured objective of each trial.", {
    tooltip: {...base(c).tooltip, formatter: p => lines(trialName(p.value[2]),
        `measured ${objectiveText(p.value[0])}`,
        `predicted ${objectiveText(p.value[1])} ${interval(
          valueOf("predicted_lo", p.value[2]),
          valueOf("predicted_hi", p.value[2]))}`)},
    xAxis: axis(c, `measured, ${unit}`, {type,
        axisLabel: {color: c.quiet, hideOverlap: true, formatter: number}}),
    yAxis: axis(c, `predicted, ${unit}`, {type, nameGap: 58,
        axisLabel: {color: c.quiet, hideOverlap: true, formatter: number}}),
    series: [
      {name: "equal", type: "line", symbol: "none", silent: true,
       color: c.quiet, lineStyle: {type: "dashed", width: 1},
       data: [[lo, lo], [hi, hi]]},
      intervals(c.grey, ends.map(i => [
        [columns.objective[i], columns.predicted_lo[i]],
        [columns.objective[i], columns.predicted_hi[i]]]), 1),
      dots("measured value inside the interval", c.blue, "circle",
           measured.filter(inside), 0.85),
      dots("outside", c.red, "diamond", measured.filter(i => !inside(i)), 0.9),
      dots("ended at a lower rung", c.grey, "circle",
           rows.filter(i => !counts(i)), 0.35)]});
}

function memory(c) {
  if (!data.memory || !columns.mib) return null;
  const limit = data.memory.limit ? data.memory.limit / 1048576 : null;
  const rows = columns.trial.map((_, i) => i);
  const oom = i => String(valueOf("reason", i) || "").startsWith("oom");
  const dots = (name, color, symbol, column, list) => ({
    name, type: "scatter", symbol, symbolSize: 6, color,
    large: list.length > 4000, itemStyle: {opacity: 0.75},
    data: list.filter(i => !missing(valueOf(column, i))).map(i =>
        [columns.trial[i], columns[column][i]])});
  const series = [
    dots("peak", c.blue, "circle", "mib", rows.filter(i => !oom(i))),
    dots("peak, out of memory", c.red, "diamond", "mib", rows.filter(oom)),
    dots("predicted", c.orange, "triangle", "predicted_mib", rows)];
  if (limit) {
    series[0].markLine = {symbol: "none", silent: true, data: [{yAxis: limit}],
      lineStyle: {color: c.red, type: "dashed"},
      label: {formatter: "limit", color: c.red, position: "insideEndTop"}};
  }
  if (limit) { /* the axis reaches as far */
    series.push({type: "scatter", symbolSize: 0, silent: true,
                 data: [[columns.trial[0], limit]]});
  }
  return base(c, "Peak memory of the largest rank of each trial.", {
    tooltip: {...base(c).tooltip, formatter: p => lines(`trial ${p.value[0]}`,
        `${p.seriesName}: ${number(p.value[1])} MiB`)},
    xAxis: axis(c, "trial", {minInterval: 1}),
    yAxis: axis(c, "memory of a rank, MiB", {nameGap: 58, scale: false,
        axisLabel: {color: c.quiet, formatter: number}}),
    series: series.filter(s => s.data.length > 0)});
}

/* ---- ranks over time ---------------------------------------------------- */

/* Names of the bins, and an axis of them with some ten round labels. */
function bins(c, t, more) {
  const [second, unitName] = timeScale(data.state.time_s);
  const at = i => (t.begin_s + i * t.bin_s) / second;
  const round = v => [1, 2, 5, 10, 20, 50, 100, 200, 500].some(n =>
      Math.abs(v - n) < 1e-9 || Math.abs(v * 100 - n) < 1e-7);
  let step = Math.ceil(t.pool.length / 12);
  while (step < t.pool.length / 3 && !round(at(step))) step++;
  if (!round(at(step))) step = Math.ceil(t.pool.length / 10);
  const list = t.pool.map((_, i) => number(Number(at(i).toPrecision(4))));
  return [list, axis(c, `study time, ${unitName}`, {type: "category",
      data: list, ...more, axisTick: {interval: i => i % step === 0},
      axisLabel: {color: c.quiet, interval: i => i % step === 0}}), unitName];
}

function pool(c) {
  const t = data.timeline;
  if (!t) return null;
  return base(c, "Share of the pool that was held by runs, over study time.", {
    legend: {show: false},
    tooltip: {...base(c).tooltip, trigger: "axis",
              valueFormatter: v => `${v} %`},
    grid: {left: 150, right: 90, top: 14, bottom: 50},
    xAxis: bins(c, t, {splitLine: {show: false}})[1],
    yAxis: axis(c, "pool in use, %", {min: 0, max: 100, interval: 50,
                                      nameGap: 40}),
    series: [{name: "pool in use", type: "line", step: "middle", symbol: "none",
              color: c.blue, areaStyle: {opacity: 0.2}, data: t.pool}]});
}

function timeline(c) {
  const t = data.timeline;
  if (!t) return null;
  const [names, xAxis, unitName] = bins(c, t, {});
  return base(c, `Use of each ${t.by} over study time.`, {
    legend: {show: false},
    tooltip: {...base(c).tooltip, formatter: p => lines(t.rows[p.value[1]],
        `from ${names[p.value[0]]} ${unitName} on: ${p.value[2]} %`)},
    grid: {left: 150, right: 90, top: 10, bottom: 54},
    xAxis,
    yAxis: {type: "category", data: t.rows, inverse: true, name: t.by,
            nameLocation: "middle", nameGap: 136,
            nameTextStyle: {color: c.quiet},
            axisLabel: {color: c.quiet, width: 120, overflow: "truncate"},
            axisLine: {lineStyle: {color: c.line}}},
    visualMap: {min: 0, max: 100, right: 0, top: "middle",
                text: ["% busy", ""], textStyle: {color: c.quiet, fontSize: 11},
                inRange: {color: c.heat}, precision: 0},
    series: [{type: "heatmap", progressive: 0, data: t.busy.flatMap((row, y) =>
        row.map((v, x) => [x, y, v]))}]});
}

/* ---- finals ------------------------------------------------------------- */

function finals(c) {
  const list = data.finals;
  if (!list) return null;
  const names = list.map(f => `trial ${f.trial}`
      + (f.baseline ? " (baseline)" : f.winner ? " (winner)" : ""));
  const at = f => list.indexOf(f);
  const color = f => f.baseline ? c.orange : f.winner ? c.green : c.blue;
  const known = list.filter(f => !missing(f.lo) && !missing(f.hi));
  return base(c, "Objectives of the finals with their intervals.", {
    tooltip: {...base(c).tooltip, formatter: p => lines(names[p.value[1]],
        `${p.seriesName}: ${objectiveText(p.value[0])}`,
        p.seriesName === "mean" ? interval(list[p.value[1]].lo,
                                           list[p.value[1]].hi) : null)},
    grid: {left: 150, right: 30, top: 36, bottom: 54},
    xAxis: objectiveAxis(c, [], {nameGap: 34}),
    yAxis: {type: "category", data: names, inverse: true,
            axisLabel: {color: c.quiet, width: 140, overflow: "truncate"},
            axisLine: {lineStyle: {color: c.line}},
            splitLine: {show: true, lineStyle: {color: c.line}}},
    series: [ /* the first for the axis, that spans the intervals too */
      {type: "scatter", symbolSize: 0, silent: true, data: known.flatMap(f =>
          [[f.lo, at(f)], [f.hi, at(f)]])},
      ...known.map(f => intervals(color(f),
          [[[f.lo, at(f)], [f.hi, at(f)]]], 9)),
      {name: "repeat", type: "scatter", symbolSize: 7, z: 4, color: c.quiet,
       itemStyle: {color: "transparent", borderColor: c.quiet,
                   borderWidth: 1.5},
       data: list.flatMap((f, i) =>
           f.repeats.map(v => [v, i]))},
      {name: "mean", type: "scatter", symbol: "rect", symbolSize: [4, 20],
       color: c.ink, z: 5, data: list.map((f, i) => [f.objective, i])}]});
}
