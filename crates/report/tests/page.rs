//! Pages of runs that are made up: as long as runs can be, with names as hostile as they can be.

use outcore_image::{Stats, StatsBuilder, SweepStats};
use outcore_io::{MOST_SAMPLES, Runtime, Sample};
use outcore_report::{OptionText, Planned, Report, SomeRows, Summary, data, escape, page};
use serde_json::{Map, Value, json};

const HOSTILE: &str = "</script><script>alert(1)</script>&quot;'\"<!--\u{202e}";
/// Numbers that take as many digits as they can in a run of days.
const LARGE: u64 = 123_456_789_012;

fn stats(steps: usize) -> Stats {
    let seconds = 1.234_567_891 / 7.0;
    let mut sweep = SweepStats::default();
    (sweep.seconds, sweep.seconds_io_wait) = (seconds, seconds / 3.0);
    (sweep.pages_wanted, sweep.pages_read, sweep.cache_hits) = (LARGE / 4096 + 2, LARGE / 4096, 2);
    (sweep.requests, sweep.bytes_read) = (LARGE / 65_536, LARGE);
    let mut stats = StatsBuilder::start();
    for place in 0..steps {
        stats.step(if place.is_multiple_of(2) { "push" } else { "asynchronous" }, 4_000_000_000, sweep);
    }
    let mut stats = stats.finish(&Runtime::new(Default::default()).unwrap(), 1);
    for (step, at) in stats.steps.iter_mut().zip(1..) {
        step.seconds_end = f64::from(at) * seconds * 1.1;
        (step.seconds_cpu_end, step.memory_bytes) = (f64::from(at) * seconds * 1.7, LARGE);
    }
    stats.total.seconds = stats.steps.last().map_or(1.0, |step| step.seconds_end);
    (stats.passes, stats.seconds_cpu, stats.threads, stats.backend) = (3.5, 3.0, 2, "sim");
    (stats.memory_limit_bytes, stats.memory_peak_bytes) = (LARGE * 10, LARGE);
    stats.weights = Some(HOSTILE.to_owned());
    stats
}

fn report(steps: usize, samples: usize) -> Report {
    let sample = |place: usize| {
        let mut sample = Sample::default();
        (sample.seconds, sample.seconds_cpu) = (place as f64 * 1.234_567_89, place as f64 * 2.345_678_91);
        sample.bytes_read = place as u64 * LARGE;
        (sample.memory_bytes, sample.cache_bytes) = (LARGE, LARGE);
        sample
    };
    let mut facts = Map::new();
    facts.insert(HOSTILE.to_owned(), json!(HOSTILE));
    Report {
        name: "pagerank".to_owned(),
        input: HOSTILE.to_owned(),
        call: format!("outcore run pagerank '{HOSTILE}'"),
        options: vec![OptionText::new("source", HOSTILE)],
        facts,
        result: Summary {
            attributes: [("residual".to_owned(), json!(2.5e-9)), ("of".to_owned(), json!(HOSTILE))]
                .into_iter()
                .collect(),
            lines: vec![HOSTILE.to_owned()],
            tables: vec![SomeRows {
                title: HOSTILE.to_owned(),
                columns: vec!["vertex".to_owned(), HOSTILE.to_owned()],
                rows: vec![vec![HOSTILE.to_owned(), "0.25".to_owned()]],
            }],
        },
        ended: Some(1_709_164_799),
        plan: Planned { notes: vec![HOSTILE.to_owned()], ..Planned::default() },
        stats: stats(steps),
        samples: (0..samples).map(sample).collect(),
    }
}

/// The text of the JSON that a page holds.
fn text(html: &str) -> &str {
    let (_, rest) = html.split_once("id=\"outcore-report\">").unwrap();
    rest.split_once("</script>").unwrap().0
}

/// The JSON that a page holds. The last digit of a number may be lost here, not in the page.
fn found(html: &str) -> Value {
    serde_json::from_str(text(html)).unwrap()
}

#[test]
fn the_longest_page_is_below_a_megabyte() {
    let report = report(4096, MOST_SAMPLES);
    let html = page(&report);
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    let escapes = [("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&"), ("\\u202e", "\u{202e}")];
    let plain = escapes.iter().fold(text(&html).to_owned(), |text, (from, to)| text.replace(from, to));
    let numbers = data(&report).to_string();
    assert!(plain == numbers, "the numbers of the page are not those of the run");
    // No row of the table is lost: the first is of step 1, the last of 4096.
    assert!(html.contains("<td>1–21<td>") && html.contains("<tr><td>4096<td>"));
    assert!(html.matches("<tr><td>").count() < 260);
}

#[test]
fn no_name_leaves_its_place() {
    let report = report(3, 0);
    let html = page(&report);
    assert_eq!(html.matches("<script").count(), 3);
    assert_eq!(html.matches("</script>").count(), 3);
    assert!(!html.contains("<!--") && !html.contains('\u{202e}'));
    // In the title twice, and in the call, an option, a fact and its value, a note, and the weights; in the result an
    // attribute, a line, and the title, a column and a cell of a table.
    assert_eq!(html.matches(&escape(HOSTILE)).count(), 13, "{html}");
    assert!(
        html.contains("<p>Ended at 2024-02-28T23:59:59Z.</p>")
            && html.contains("<td>residual<td class=\"value\">2.500e-9")
    );
    let data = found(&html);
    assert_eq!([&data["input"], &data["facts"][HOSTILE], &data["plan"]["notes"][0]], [HOSTILE; 3]);
    assert_eq!([&data["options"][0]["value"], &data["stats"]["weights"]], [HOSTILE; 2]);
}

/// Bytes and CPU time of a timeline.
fn sums(timeline: &Value) -> (f64, f64) {
    let list = |name: &str| timeline[name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let lengths: Vec<f64> = list("seconds").windows(2).map(|pair| pair[1] - pair[0]).collect();
    let sum = |rates: Vec<f64>| lengths.iter().zip(rates).map(|(length, rate)| length * rate).sum::<f64>();
    (sum(list("bytes_per_second")), sum(list("busy_cores")))
}

#[test]
fn a_timeline_has_all_bytes_and_all_cpu_time() {
    let cases = [(4096, 0, "steps"), (5, 3, "steps"), (5, 20, "samples"), (0, 2, "samples")];
    for (is_short, (steps, samples, of)) in
        [false, true].into_iter().flat_map(|is_short| cases.map(|case| (is_short, case)))
    {
        let mut report = report(steps, samples);
        if let ([.., before, last], true) = (&mut report.stats.steps[..], is_short) {
            last.seconds_end = before.seconds_end + 1e-3;
            report.stats.total.seconds = last.seconds_end;
        }
        report.stats.seconds_cpu = report.stats.steps.last().map_or(3.0, |step| step.seconds_cpu_end);
        let data = data(&report);
        assert_eq!(data["timeline"]["of"], of);
        assert!(data["timeline"]["seconds"].as_array().unwrap().len() <= 513);
        let (bytes, cpu) = sums(&data["timeline"]);
        let (all_bytes, all_cpu) = match of {
            "steps" => (report.stats.total.bytes_read, report.stats.seconds_cpu),
            _ => (report.samples.last().unwrap().bytes_read, report.samples.last().unwrap().seconds_cpu),
        };
        assert!((bytes / all_bytes as f64 - 1.0).abs() < 1e-3, "{bytes} of {all_bytes}");
        assert!((cpu / all_cpu - 1.0).abs() < 1e-2, "{cpu} of {all_cpu}");
    }
}

#[test]
fn runs_without_steps_or_reads_have_pages_too() {
    let mut empty = report(0, 0);
    empty.stats.total = SweepStats::default();
    empty.options.clear();
    empty.facts.clear();
    empty.result = Summary::default();
    let html = page(&empty);
    assert!(!html.contains("NaN") && !html.contains("inf "), "{html}");
    assert_eq!(found(&html)["read_amplification"], Value::Null);
    let html = page(&report(3, 0));
    // Two cached pages of each step were not read; all others were.
    let (ratio, wanted) = (found(&html)["read_amplification"].as_f64().unwrap(), LARGE / 4096 * 4096);
    assert!((ratio - LARGE as f64 / wanted as f64).abs() < 1e-12, "{ratio}");
}
