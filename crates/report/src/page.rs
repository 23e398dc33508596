//! The page itself: text, tables, numbers as JSON, and what draws charts of them.

use crate::data::data;
use crate::escape::{escape, in_script};
use crate::options::OptionText;
use crate::steps::{Row, amplification, bytes_wanted, rows};
use crate::summary::{SomeRows, Summary};
use crate::{Planned, Report};
use outcore_image::Stats;
use outcore_io::backend::calendar_text;
use outcore_io::bytes_text;
use serde_json::{Map, Value};
use std::fmt::Write;

/// The charts' script and style (`vendor/uplot/README.md` gives the reason). The licence must accompany the library.
const UPLOT_LICENSE: &str = include_str!("../vendor/uplot/LICENSE");
const UPLOT_JS: &str = include_str!("../vendor/uplot/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../vendor/uplot/uPlot.min.css");
const PAGE_CSS: &str = include_str!("../assets/page.css");
const PAGE_JS: &str = include_str!("../assets/page.js");

/// The page of a run.
pub fn page(report: &Report) -> String {
    let numbers = in_script(&data(report).to_string());
    let title = format!("{} of {}", report.name, report.input);
    let (title, call) = (escape(&title), escape(&report.call));
    let parts = [
        figures(report),
        result(&report.result),
        options_section(&report.options),
        planned(&report.plan, report),
        charts(),
        table_of_steps(&report.stats),
        facts(&report.facts),
    ];
    let parts = parts.concat();
    let version = env!("CARGO_PKG_VERSION");
    let ended = report.ended.map_or_else(String::new, |at| format!("<p>Ended at {}.</p>\n", calendar_text(at)));
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>{UPLOT_CSS}
{PAGE_CSS}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<pre class="call">{call}</pre>
{ended}{parts}<footer>Made by Outcore {version}. The numbers of this page are in it as JSON, in the element <code>outcore-report</code>.</footer>
</main>
<script type="application/json" id="outcore-report">{numbers}</script>
<script>/*
{UPLOT_LICENSE}*/
{UPLOT_JS}</script>
<script>{PAGE_JS}</script>
</body>
</html>
"#
    )
}

/// The figures that one looks for first.
fn figures(report: &Report) -> String {
    let (stats, total) = (&report.stats, &report.stats.total);
    let cores = stats.seconds_cpu / total.seconds.max(1e-9);
    let rate = total.bytes_read as f64 / total.seconds.max(1e-9);
    let hits = 100.0 * total.cache_hits as f64 / total.pages_wanted.max(1) as f64;
    let limit = bytes_text(stats.memory_limit_bytes);
    let mut all = vec![("Time", time_text(total.seconds), format!("{:.2} of {} cores busy", cores, stats.threads))];
    if has_passes(stats) {
        all.push(("Passes", number_text(stats.passes), format!("{} steps", steps_text(stats))));
        let reads = format!("{}/s in {} reads", bytes_text(rate as u64), total.requests);
        all.push(("Read", bytes_text(total.bytes_read), reads));
    }
    if let Some(ratio) = amplification(stats) {
        all.push(("Read amplification", format!("{ratio:.2}"), "bytes read over bytes wanted".to_owned()));
    }
    if total.pages_wanted > 0 {
        let detail = format!("{} of {} wanted pages", total.cache_hits, total.pages_wanted);
        all.push(("Cache hits", format!("{hits:.0} %"), detail));
    }
    if let Some(most_memory) = most_taken(report) {
        let share = 100.0 * most_memory as f64 / stats.memory_limit_bytes.max(1) as f64;
        let detail = format!("{share:.0} % of the limit of {limit}, without page caches");
        all.push(("Memory taken", bytes_text(most_memory), detail));
    }
    all.push(("Memory peak", bytes_text(stats.memory_peak_bytes), "of the whole process".to_owned()));
    let mut html = "<div class=\"figures\">\n".to_owned();
    for (name, value, detail) in all {
        let (value, detail) = (escape(&value), escape(&detail));
        _ = writeln!(html, "<div><h2>{name}</h2><strong>{value}</strong><small>{detail}</small></div>");
    }
    html + "</div>\n"
}

/// Whether there were passes over lists or rows, of which an import has none.
fn has_passes(stats: &Stats) -> bool {
    stats.passes > 0.0 || stats.total.requests > 0 || !stats.steps.is_empty()
}

/// The most memory that was taken, as far as it was looked at.
fn most_taken(report: &Report) -> Option<u64> {
    let steps = report.stats.steps.iter().map(|step| step.memory_bytes);
    steps.chain(report.samples.iter().map(|sample| sample.memory_bytes)).max().filter(|&bytes| bytes > 0)
}

/// The section of the result: sentences, attributes, a few rows.
fn result(result: &Summary) -> String {
    if result.attributes.is_empty() && result.lines.is_empty() && result.tables.is_empty() {
        return String::new();
    }
    let mut html = "<section><h2>Result</h2>\n".to_owned();
    if !result.lines.is_empty() {
        _ = writeln!(html, "<pre class=\"call\">{}</pre>", escape_lines(&result.lines));
    }
    if !result.attributes.is_empty() {
        html += &named_values(&result.attributes);
    }
    for SomeRows { title, columns, rows } in &result.tables {
        _ = write!(html, "<h3>{}</h3>\n<div class=\"wide\"><table><thead><tr>", escape(title));
        columns.iter().for_each(|name| _ = write!(html, "<th>{}", escape(name)));
        html += "</thead><tbody>\n";
        for row in rows {
            html += "<tr>";
            row.iter().for_each(|cell| _ = write!(html, "<td class=\"value\">{}", escape(cell)));
            html.push('\n');
        }
        html += "</tbody></table></div>\n";
    }
    html + "</section>\n"
}

/// Lines as HTML, one below the other.
fn escape_lines(lines: &[String]) -> String {
    lines.iter().map(|line| escape(line)).collect::<Vec<_>>().join("\n")
}

/// The section of options.
fn options_section(options: &[OptionText]) -> String {
    if options.is_empty() {
        return String::new();
    }
    let table = |options: &[&OptionText]| {
        let mut html = "<table><thead><tr><th>option<th>value<th>default</thead><tbody>\n".to_owned();
        for option in options {
            let (name, value) = (escape(&option.name), escape(&option.value));
            let default = option.default.as_deref().map_or("none".to_owned(), escape);
            _ = writeln!(html, "<tr><td><code>{name}</code><td class=\"value\">{value}<td>{default}");
        }
        html + "</tbody></table>\n"
    };
    let (given, rest): (Vec<_>, Vec<_>) = options.iter().partition(|option| option.is_given);
    let mut html = "<section><h2>Options</h2>\n".to_owned();
    html += &match given.is_empty() {
        true => "<p>All options had their defaults.</p>\n".to_owned(),
        false => table(&given),
    };
    if !rest.is_empty() {
        let count = rest.len();
        _ = writeln!(html, "<details><summary>{count} options had their defaults</summary>{}</details>", table(&rest));
    }
    html + "</section>\n"
}

/// The section that compares the estimate with the run.
fn planned(plan: &Planned, report: &Report) -> String {
    let (stats, unknown) = (&report.stats, || "not said".to_owned());
    let bound = plan.bound.map_or_else(String::new, |words| format!("{words} "));
    let passes = plan.passes.map_or_else(unknown, |passes| bound.clone() + &number_text(passes));
    let reads = plan.read_bytes.map_or_else(unknown, |bytes| bound.clone() + &bytes_text(bytes));
    let most_memory = most_taken(report).map_or_else(|| "not looked at".to_owned(), bytes_text);
    let happened = format!("{most_memory} taken, the process held {}", bytes_text(stats.memory_peak_bytes));
    let mut rows = vec![
        ("passes", passes, number_text(stats.passes)),
        ("bytes to read", reads, bytes_text(stats.total.bytes_read)),
        ("memory", plan.memory_bytes.map_or_else(unknown, bytes_text), happened),
        ("memory of the state", plan.state_bytes.map_or_else(unknown, bytes_text), String::new()),
        ("memory limit", bytes_text(stats.memory_limit_bytes), String::new()),
        ("time", String::new(), time_text(stats.total.seconds)),
        ("CPU time", String::new(), time_text(stats.seconds_cpu)),
        ("waiting for reads", String::new(), time_text(stats.total.seconds_io_wait) + ", summed over the workers"),
        ("workers", stats.threads.to_string(), format!("files were read by {}", stats.backend)),
    ];
    if !has_passes(stats) {
        rows.retain(|(name, ..)| {
            !["passes", "bytes to read", "memory of the state", "waiting for reads"].contains(name)
        });
    }
    let mut html =
        "<section><h2>Planned, and what happened</h2>\n<table><thead><tr><th><th>planned<th>happened</thead>\
                    <tbody>\n"
            .to_owned();
    for (name, planned, happened) in rows {
        let (planned, happened) = (escape(&planned), escape(&happened));
        _ = writeln!(html, "<tr><td>{name}<td>{planned}<td>{happened}");
    }
    html += "</tbody></table>\n";
    for (what, text) in [("Stopped by", stats.stopped_by), ("Edges count by their weights,", stats.weights.as_deref())]
    {
        if let Some(text) = text {
            _ = writeln!(html, "<p>{what} <code>{}</code>.</p>", escape(text));
        }
    }
    plan.notes.iter().for_each(|note| _ = writeln!(html, "<p>{}</p>", escape(note)));
    html + "</section>\n"
}

/// The place of the charts, if scripts run.
fn charts() -> String {
    "<section id=\"charts\" hidden><h2>When it happened</h2></section>\n\
     <noscript><p>Charts need JavaScript; their numbers are in the tables and in the JSON of this page.</p></noscript>\n"
        .to_owned()
}

/// The steps.
fn table_of_steps(stats: &Stats) -> String {
    let rows = rows(&stats.steps);
    if rows.is_empty() {
        return String::new();
    }
    let mut html = format!("<section><h2>Steps</h2>\n<p>{} steps", steps_text(stats));
    if rows.len() < stats.steps.len() {
        html += "; adjacent ones are summed up, and <em>active</em> is that of the greatest";
    }
    html += ".</p>\n<div class=\"wide\"><table class=\"numbers\"><thead><tr><th>step<th>name<th>begin<th>time<th>busy \
             cores<th>active<th>read<th>wanted<th>reads<th>cache hits<th>memory</thead><tbody>\n";
    rows.iter().for_each(|row| step(&mut html, row));
    html + "</tbody></table></div></section>\n"
}

fn step(html: &mut String, row: &Row) {
    let sweep = &row.sweep;
    let number = if row.first == row.last { row.first.to_string() } else { format!("{}–{}", row.first, row.last) };
    let seconds = row.seconds_end - row.seconds_begin;
    // Shorter steps may have no CPU time of their own.
    let cores = if seconds < 2e-3 { String::new() } else { format!("{:.2}", row.seconds_cpu / seconds) };
    let (read, wanted) = (bytes_text(sweep.bytes_read), bytes_text(bytes_wanted(sweep)));
    let memory = if row.memory_bytes == 0 { String::new() } else { bytes_text(row.memory_bytes) };
    let (begin, time) = (time_text(row.seconds_begin), time_text(seconds));
    let (name, active) = (escape(&row.name), number_text(row.active as f64));
    let (requests, hits) = (sweep.requests, sweep.cache_hits);
    _ = writeln!(
        html,
        "<tr><td>{number}<td>{name}<td>{begin}<td>{time}<td>{cores}<td>{active}<td>{read}<td>{wanted}<td>{requests}\
         <td>{hits}<td>{memory}"
    );
}

/// The section of the input's facts.
fn facts(facts: &Map<String, Value>) -> String {
    if facts.is_empty() {
        return String::new();
    }
    format!("<section><h2>Input</h2>\n{}</section>\n", named_values(facts))
}

/// A table of names and values; what is null is left out.
fn named_values(all: &Map<String, Value>) -> String {
    let mut html = "<table><tbody>\n".to_owned();
    for (name, value) in all.iter().filter(|(_, value)| !value.is_null()) {
        let name = name.replace('_', " ");
        _ = writeln!(html, "<tr><td>{}<td class=\"value\">{}", escape(&name), escape(&value_text(&name, value)));
    }
    html + "</tbody></table>\n"
}

/// A value as people read it: the members of a list one after the other, a pair of a name and a type as `name (type)`.
fn value_text(name: &str, value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(flag) => (if *flag { "yes" } else { "no" }).to_owned(),
        Value::Number(number) => match number.as_u64() {
            Some(bytes) if name.ends_with("bytes") => bytes_text(bytes),
            Some(whole) if name != "format version" => number_text(whole as f64),
            _ => number.as_f64().map_or_else(String::new, number_text),
        },
        Value::Array(members) if members.is_empty() => "none".to_owned(),
        Value::Array(members) => members.iter().map(|member| member_text(name, member)).collect::<Vec<_>>().join(", "),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{name}: {}", value_text(name, value));
            members.iter().map(member).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A member of a list; a pair of texts is a name and a type.
fn member_text(name: &str, member: &Value) -> String {
    match member.as_array().map(Vec::as_slice) {
        Some([Value::String(own), Value::String(kind)]) => format!("{own} ({kind})"),
        _ => value_text(name, member),
    }
}

/// Number of steps as text: the last entry may be the sum of several.
fn steps_text(stats: &Stats) -> String {
    match stats.steps.len() {
        4096 => "4096 or more".to_owned(),
        count => count.to_string(),
    }
}

/// A number with thousands apart, fractions to four digits, and small ones with an exponent.
fn number_text(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-4 {
        return format!("{number:.3e}");
    }
    if number.fract() != 0.0 && number < 1e6 {
        let digits = (3 - number.abs().max(1e-3).log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{number:.digits$}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digit.is_ascii_digit() {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A time in a unit that suits it.
pub(crate) fn time_text(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.0} µs", seconds * 1e6),
        ..1.0 => format!("{:.1} ms", seconds * 1e3),
        ..120.0 => format!("{seconds:.2} s"),
        _ => format!("{:.0} min {:.0} s", (seconds / 60.0).floor(), seconds % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 7.0, 1234.0, 1_234_567.0, 0.25, 3.45678, 1234.5678, 0.00012, 9.33e-9].map(number_text);
        assert_eq!(
            texts,
            ["0", "7", "1\u{202f}234", "1\u{202f}234\u{202f}567", "0.25", "3.457", "1235", "0.00012", "9.330e-9"]
        );
        let attributes = json!([["kind", "string"], ["since", "date"]]);
        let texts = [attributes, json!([]), json!(["a", 7]), json!({"x": 1, "y": null})].map(|of| value_text("", &of));
        assert_eq!(texts, ["kind (string), since (date)", "none", "a, 7", "x: 1, y: none"]);
        let texts = [0.0, 2.5e-6, 0.0123, 1.5, 150.0].map(time_text);
        assert_eq!(texts, ["0 µs", "2 µs", "12.3 ms", "1.50 s", "2 min 30 s"]);
    }
}
