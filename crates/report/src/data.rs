//! The numbers of a page as JSON. `docs/reports.md` is the only list of its keys; a test compares both.

use crate::Report;
use crate::steps::{amplification, bytes_wanted};
use crate::timeline::Timeline;
use outcore_image::{Stats, Step};
use outcore_io::Sample;
use outcore_io::backend::calendar_text;
use serde_json::{Map, Value, json};

/// The version of the schema: another one where a key goes or changes what it means, the same where one is added.
pub const SCHEMA: u32 = 1;

/// The numbers of a page.
pub fn data(report: &Report) -> Value {
    json!({
        "schema": SCHEMA,
        "outcore": env!("CARGO_PKG_VERSION"),
        "name": report.name,
        "input": report.input,
        "call": report.call,
        "ended": report.ended.map(calendar_text),
        "options": report.options,
        "facts": report.facts,
        "plan": report.plan,
        "result": report.result,
        "stats": stats(&report.stats),
        "read_amplification": amplification(&report.stats),
        "steps": steps(&report.stats.steps),
        "samples": samples(&report.samples),
        "timeline": timeline(&Timeline::of(report)),
    })
}

/// The statistics under the keys of `--stats`, without steps.
fn stats(stats: &Stats) -> Value {
    let mut object = json!(stats);
    object.as_object_mut().map(|object| object.remove("steps"));
    object
}

/// A list per field, in the order of the steps.
fn steps(all: &[Step]) -> Value {
    let list = |of: &dyn Fn(&Step) -> Value| Value::Array(all.iter().map(of).collect());
    let mut fields = Map::new();
    let mut field = |name: &str, of: &dyn Fn(&Step) -> Value| fields.insert(name.to_owned(), list(of));
    field("name", &|step| json!(step.name));
    field("active", &|step| json!(step.active));
    field("seconds", &|step| seconds(step.sweep.seconds));
    field("seconds_io_wait", &|step| seconds(step.sweep.seconds_io_wait));
    field("pages_wanted", &|step| json!(step.sweep.pages_wanted));
    field("pages_read", &|step| json!(step.sweep.pages_read));
    field("requests", &|step| json!(step.sweep.requests));
    field("cache_hits", &|step| json!(step.sweep.cache_hits));
    field("bytes_read", &|step| json!(step.sweep.bytes_read));
    field("bytes_wanted", &|step| json!(bytes_wanted(&step.sweep)));
    field("seconds_end", &|step| seconds(step.seconds_end));
    field("seconds_cpu_end", &|step| seconds(step.seconds_cpu_end));
    field("memory_bytes", &|step| json!(step.memory_bytes));
    Value::Object(fields)
}

fn samples(all: &[Sample]) -> Value {
    let list = |of: &dyn Fn(&Sample) -> Value| Value::Array(all.iter().map(of).collect());
    json!({
        "seconds": list(&|sample| seconds(sample.seconds)),
        "seconds_cpu": list(&|sample| seconds(sample.seconds_cpu)),
        "bytes_read": list(&|sample| json!(sample.bytes_read)),
        "memory_bytes": list(&|sample| json!(sample.memory_bytes)),
        "cache_bytes": list(&|sample| json!(sample.cache_bytes)),
    })
}

fn timeline(all: &Timeline) -> Value {
    json!({
        "of": all.of,
        "seconds": all.seconds.iter().map(|&at| seconds(at)).collect::<Vec<_>>(),
        "bytes_per_second": all.bytes_per_second.iter().map(|rate| json!(rate.round() as u64)).collect::<Vec<_>>(),
        "busy_cores": all.busy_cores.iter().map(|cores| json!((cores * 1e3).round() / 1e3)).collect::<Vec<_>>(),
        "memory_bytes": all.memory_bytes,
        "cache_bytes": all.cache_bytes,
    })
}

/// Seconds to a tenth of a microsecond: more digits would be half of a page.
fn seconds(time: f64) -> Value {
    json!((time * 1e7).round() / 1e7)
}
