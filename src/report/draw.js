/*
 * Puts the charts' options where the page has places for them, in the colours
 * of the screen or of paper, and lets brushes filter the table.
 */
const options = {finals, history, rungs, ladders, parallel, importance, pairs,
                 pair0: pair(0), pair1: pair(1), pair2: pair(2), calibration,
                 memory, pool, timeline};
const charts = new Map();

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark"
                : matchMedia("(prefers-color-scheme: dark)").matches;
}

function height(name) {
  if (name === "timeline") return 110 + 18 * data.timeline.rows.length;
  if (name === "finals") return 110 + 42 * data.finals.length;
  if (name === "importance") {
    return Math.max(300, 90 + 24 * Math.min(15,
        data.importance.parameters.length));
  }
  return 0;
}

function showNone(place) {
  place.classList.add("none");
  place.replaceChildren();
}

function draw(place, theme) {
  const name = place.dataset.chart;
  const option = options[name](theme);
  if (!option) { showNone(place); return; }
  let chart = charts.get(name);
  if (!chart) {
    const h = height(name);
    if (h) place.style.height = `${h}px`;
    chart = echarts.init(place);
    charts.set(name, chart);
    if (name === "parallel") {
      chart.on("axisareaselected", () => filterTrials(brushed(chart)));
    }
  }
  chart.setOption(option, {notMerge: true});
}

function drawAll(dark) {
  const theme = dark ? themes.dark : themes.light;
  for (const place of document.querySelectorAll(".chart")) {
    if (data.library) draw(place, theme); else showNone(place);
  }
  section("theme").textContent = isDark() ? "Light" : "Dark";
}

function clearBrushes() {
  filterTrials(null);
  if (charts.has("parallel")) {
    charts.get("parallel").setOption(
        options.parallel(isDark() ? themes.dark : themes.light),
        {notMerge: true});
  }
}

section("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  drawAll(isDark());
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
    () => drawAll(isDark()));
addEventListener("resize", () => charts.forEach(c => c.resize()));

/* On paper: dark on white, as wide as a page of A4 or Letter holds. */
const PAPER = 630;
let screenTheme;
addEventListener("beforeprint", () => {
  screenTheme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  drawAll(false);
  charts.forEach(c => {
    const half = c.getDom().parentNode.classList.contains("three");
    c.resize({width: half ? PAPER / 2 : PAPER});
    c.getZr().flush();
  });
});
addEventListener("afterprint", () => {
  if (screenTheme) document.documentElement.dataset.theme = screenTheme;
  else delete document.documentElement.dataset.theme;
  drawAll(isDark());
  charts.forEach(c => c.resize({width: "auto"}));
});

if (!data.library) {
  section("main").prepend(el("p", {class: "why"}, "This trireme was built "
      + "without ECharts, so this page has its tables and no charts. With it "
      + "(scripts/deps fetches it, then build anew) the same command draws "
      + "them."));
}
drawTrials();
drawAll(isDark());
