// The charts of a report, drawn by uPlot from the JSON of the page. Colours come from the style sheet each time that a
// chart is drawn, so that they follow light, dark and paper.
(() => {
  "use strict";
  const report = JSON.parse(document.getElementById("outcore-report").textContent);
  const section = document.getElementById("charts");
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const charts = [];
  // All charts are over the same time.
  const end = Math.max(0, ...[report.timeline.seconds, report.steps.seconds_end].map((times) => times.at(-1) ?? 0));

  const short = (value) => {
    if (value >= 100 || Number.isInteger(value)) return value.toFixed(0);
    return String(Number(value.toPrecision(3)));
  };
  const scaled = (value, base, units) => {
    let unit = 0;
    while (value >= base && unit + 1 < units.length) { value /= base; unit += 1; }
    return short(value) + units[unit];
  };
  const bytes = (value) => scaled(value, 1024, [" B", " KiB", " MiB", " GiB", " TiB"]);
  const count = (value) => scaled(value, 1000, ["", " k", " M", " G"]);
  const time = (value) => {
    if (value >= 120) return short(value / 60) + " min";
    if (value >= 1 || value === 0) return short(value) + " s";
    return value >= 1e-3 ? short(value * 1e3) + " ms" : short(value * 1e6) + " µs";
  };
  // Where numbers stand on axes: on logarithmic ones at powers of ten, and of bytes at powers of two.
  const tens = Array.from({ length: 16 }, (_, power) => 10 ** power);
  const powers = Array.from({ length: 48 }, (_, power) => 2 ** power);

  // A chart: a title, times, series of [name, values, colour, how], and the form of its numbers. Series are filled
  // with the shade of their colour, or with one that covers what is behind it, or are a dashed limit.
  function chart(title, x, series, form, options = {}) {
    if (x.length < 2 || series.every(([, values]) => values.length === 0)) return;
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    for (const [name, , colour] of series) {
      if (series.length === 1) break;
      const key = document.createElement("span");
      key.textContent = name;
      key.style.setProperty("--key", `var(${colour})`);
      caption.append(key);
    }
    const output = document.createElement("output");
    caption.append(output);
    figure.append(caption);
    section.append(figure);
    const axis = {
      stroke: () => css("--faint"), font: "12px system-ui, sans-serif",
      grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1 },
    };
    const stepped = uPlot.paths.stepped({ align: 1 });
    const drawn = new uPlot({
      width: section.clientWidth, height: 170, padding: [12, 10, 0, 0],
      cursor: { sync: { key: "time" }, y: false, points: { show: false } },
      legend: { show: false },
      scales: {
        x: { time: false, range: (_, low, high) => low <= x[0] && high >= x.at(-1) ? [0, end] : [low, high] },
        y: options.log
          ? { distr: 3, range: (_, low, high) => [low, 1.5 * Math.max(high, 10 * low)] }
          : { range: (_, low, high) => [0, options.most ?? (high > 0 ? high * 1.08 : 1)] },
      },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((tick) => time(tick)) },
        { ...axis, size: 82, incrs: form === bytes || form === rate ? powers : undefined, space: 34,
          splits: options.log ? (_, __, low, high) => tens.filter((ten) => ten >= low && ten <= high) : undefined,
          values: (_, ticks) => ticks.map((tick) => tick === null ? null : form(tick)) },
      ],
      series: [{}, ...series.map(([name, , colour, how]) => ({
        label: name, width: how === "limit" ? 1.5 : 1.25, dash: how === "limit" ? [6, 4] : undefined,
        stroke: () => css(colour), fill: how === "limit" ? undefined : () => css(`${colour}-${how}`),
        paths: stepped, points: { show: false },
      }))],
      hooks: { setCursor: [(plot) => {
        const left = plot.cursor.left;
        const at = left < 0 ? -1 : plot.posToVal(left, "x");
        // What is drawn at a time began at the last one before it.
        const place = x.findLastIndex((begin) => begin <= at);
        output.textContent = place < 0 || at > x.at(-1) ? "" : [time(at), ...series.map(([name, values]) => {
          const value = values[place] === null ? "none" : form(values[place]);
          return series.length > 1 ? `${name} ${value}` : value;
        })].join(", ");
      }] },
    }, [x, ...series.map(([, values]) => values)], figure);
    charts.push(drawn);
  }
  const rate = (value) => bytes(value) + "/s";
  const cores = (value) => short(value);
  const percent = (value) => short(value) + " %";
  // The value between two times is drawn from the first on: the last one is said twice.
  const held = (values) => values.length === 0 ? [] : [...values, values[values.length - 1]];

  const { timeline, steps, stats } = report;
  section.hidden = false;
  const x = timeline.seconds;
  if (timeline.bytes_per_second.some((read) => read > 0)) {
    chart("Read bandwidth", x, [["read", held(timeline.bytes_per_second), "--one", "shade"]], rate);
  }
  chart("Busy cores", x, [
    ["busy", held(timeline.busy_cores), "--one", "shade"],
    ["workers", x.map(() => stats.threads), "--limit", "limit"],
  ], cores);
  // What is taken covers what stands behind it.
  const memory = [["taken", held(timeline.memory_bytes), "--one", "solid"]];
  if (timeline.cache_bytes.length > 0) {
    const both = timeline.memory_bytes.map((taken, place) => taken + timeline.cache_bytes[place]);
    memory.unshift(["with page caches", held(both), "--two", "shade"]);
  }
  chart("Memory", x, [...memory, ["limit", x.map(() => stats.memory_limit_bytes), "--limit", "limit"]], bytes);

  // Steps: what each was is drawn from its beginning to its end.
  const ends = steps.seconds_end;
  if (ends.length > 0) {
    const edges = [0, ...ends];
    const active = steps.active.map((vertices) => vertices > 0 ? vertices : null);
    const most = Math.max(...steps.active), least = Math.min(...steps.active.filter((vertices) => vertices > 0));
    chart("Active vertices per step", edges, [["active", held(active), "--one", "shade"]], count,
      { log: most > 50 * least });
    const hits = steps.pages_wanted.map((wanted, place) => wanted > 0 ? 100 * steps.cache_hits[place] / wanted : null);
    if (hits.some((share) => share !== null)) {
      chart("Wanted pages that were in the cache", edges, [["hits", held(hits), "--one", "shade"]], percent,
        { most: 105 });
    }
  }
  if (charts.length === 0) section.hidden = true;

  const redraw = () => charts.forEach((drawn) => drawn.redraw(false, true));
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    window.matchMedia(query).addEventListener("change", redraw);
  }
  const paper = (on) => () => { document.documentElement.classList.toggle("paper", on); redraw(); };
  window.addEventListener("beforeprint", paper(true));
  window.addEventListener("afterprint", paper(false));
  new ResizeObserver(() => {
    const width = section.clientWidth;
    for (const drawn of charts) {
      if (width > 0 && drawn.width !== width) drawn.setSize({ width, height: drawn.height });
    }
  }).observe(section);
})();
