//! `cargo xtask tidy`: checks that the source keeps its shape.
//!
//! The rules that a reviewer would otherwise have to repeat: dependencies between crates and a reason for every other
//! one, equal features of both products; places of unsafe code, of access to files and of tests; kernels and verifiers
//! apart; lengths of files, functions and lines; nothing unfinished; headers, openings of comments, files that comments
//! name, and names that say what a thing is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The crates of the workspace that a crate depends on: arrows point down only.
const ARROWS: [(&str, &[&str]); 17] = [
    ("testkit", &["outcore-io"]),
    ("io", &[]),
    ("format", &[]),
    ("image", &["outcore-io", "outcore-format"]),
    ("table", &["outcore-io", "outcore-format", "outcore-image"]),
    ("declare", &["outcore-image"]),
    ("ingest", &["outcore-io", "outcore-format", "outcore-image", "outcore-declare"]),
    ("numbers", &["outcore-io", "outcore-format", "outcore-image", "outcore-ingest"]),
    ("graph", &["outcore-io", "outcore-format", "outcore-image", "outcore-table", "outcore-ingest"]),
    (
        "algo",
        &[
            "outcore-io",
            "outcore-format",
            "outcore-image",
            "outcore-table",
            "outcore-declare",
            "outcore-ingest",
            "outcore-graph",
        ],
    ),
    ("matrix", &["outcore-io", "outcore-format", "outcore-image", "outcore-table", "outcore-ingest", "outcore-graph"]),
    (
        "linalg",
        &[
            "outcore-io",
            "outcore-image",
            "outcore-table",
            "outcore-declare",
            "outcore-ingest",
            "outcore-graph",
            "outcore-algo",
            "outcore-matrix",
        ],
    ),
    (
        "array",
        &["outcore-io", "outcore-format", "outcore-image", "outcore-ingest", "outcore-numbers", "outcore-matrix"],
    ),
    ("learn", &["outcore-io", "outcore-image", "outcore-table", "outcore-declare", "outcore-array"]),
    ("report", &["outcore-io", "outcore-image", "outcore-table", "outcore-declare", "outcore-graph", "outcore-algo"]),
    (
        "outcore",
        &[
            "outcore-io",
            "outcore-format",
            "outcore-image",
            "outcore-table",
            "outcore-declare",
            "outcore-ingest",
            "outcore-graph",
            "outcore-algo",
            "outcore-matrix",
            "outcore-linalg",
            "outcore-array",
            "outcore-learn",
            "outcore-report",
        ],
    ),
    ("cli", &["outcore"]),
];
/// The files that may hold unsafe code.
const UNSAFE_FILES: &[&str] = &[
    "crates/io/src/backend/memory.rs",
    "crates/io/src/backend/mod.rs",
    "crates/io/src/backend/metered.rs",
    "crates/io/src/backend/posix.rs",
    "crates/io/src/backend/sim.rs",
    "crates/io/src/backend/system.rs",
    "crates/io/src/backend/uring.rs",
    "crates/io/src/buffer.rs",
    "crates/io/src/cache.rs",
    "crates/io/src/cache/moving.rs",
    "crates/io/src/lanes.rs",
    "crates/io/src/process.rs",
    "crates/io/src/reader.rs",
    "crates/array/src/kernel/simd.rs",
    "crates/graph/src/engine/decode.rs",
    "crates/graph/src/engine/gather.rs",
    "crates/graph/src/program/engine.rs",
    "crates/linalg/src/tall/kernels.rs",
    "crates/matrix/src/kernel.rs",
    "python/src/array/memory.rs",
    "python/src/element.rs",
    "python/src/program/calls.rs",
    "python/src/program/functions.rs",
    "python/src/stream.rs",
];
/// Names that access files past the storage of `io` (`crates/io/src/backend/mod.rs`). No crate above `io` may use them.
const FILE_ACCESS: [&str; 19] = [
    "std::fs",
    "fs::",
    "File::open(",
    "File::create(",
    "File::create_new(",
    "OpenOptions",
    ".exists()",
    ".try_exists(",
    ".is_file()",
    ".is_dir()",
    ".is_symlink()",
    ".canonicalize(",
    ".read_dir(",
    ".read_link(",
    ".symlink_metadata(",
    ".metadata()?",
    ".metadata().map",
    ".metadata().ok",
    ".metadata().is_",
];
/// No file is longer.
const MAX_FILE_LINES: usize = 800;
/// No function is longer.
const MAX_FUNCTION_LINES: usize = 70;
/// No comment and no line of a document is longer.
const MAX_COLUMNS: usize = 120;
/// No folder has more files beside each other.
const MAX_FOLDER_FILES: usize = 25;
/// Words that mark something unfinished.
const UNFINISHED: [&str; 4] = ["todo!(", "unimplemented!(", "FIXME", "XXX"];
/// Openings of comments that hide the subject: a comment begins with the thing, in the field's term.
const RIDDLES: &[&str] = &[
    "What",
    "Whatever",
    "Who",
    "Whoever",
    "Whose",
    "Which",
    "Of",
    "Those",
    "They",
    "Such",
    "The same",
    "See above",
    "So much",
    "So many",
];
/// Participles that say what happened to a thing, not what it is: no field, variable, function or type has such a name.
const NAMELESS: [&str; 6] = ["asked", "held", "kept", "said", "taken", "told"];

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() != Some("tidy") {
        eprintln!("usage: cargo xtask tidy");
        return ExitCode::from(2);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let mut faults = Vec::new();
    check_arrows(root, &mut faults);
    let files = sources(root);
    let name_of = |file: &Path| file.strip_prefix(root).unwrap_or(file).display().to_string();
    let names: Vec<String> = files.iter().map(|file| name_of(file)).collect();
    for file in &files {
        let name = name_of(file);
        match fs::read_to_string(file) {
            Ok(text) if name.ends_with("Cargo.toml") => check_reasons(&name, &text, &mut faults),
            Ok(text) => {
                check_source(&name, &text, &mut faults);
                check_unit_tests(root, &name, &text, &mut faults);
                check_kernels(&name, &text, &mut faults);
                check_references(&name, &text, &names, &mut faults);
            }
            Err(error) => faults.push(format!("{name}: {error}")),
        }
    }
    check_folders(&names, &mut faults);
    check_features(root, &mut faults);
    if faults.is_empty() {
        println!("tidy");
        return ExitCode::SUCCESS;
    }
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    eprintln!("{} faults", faults.len());
    ExitCode::FAILURE
}

/// A folder that is too full to find a file in is parted by what files do.
fn check_folders(names: &[String], faults: &mut Vec<String>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let sources = names.iter().filter(|name| name.contains("/src/") || name.starts_with("python/outcore/"));
    for (folder, _) in sources.filter_map(|name| name.rsplit_once('/')) {
        *counts.entry(folder).or_default() += 1;
    }
    for (folder, count) in counts.into_iter().filter(|&(_, count)| count > MAX_FOLDER_FILES) {
        faults.push(format!("{folder}: {count} files; at most {MAX_FOLDER_FILES} lie in one folder"));
    }
}

/// The command and the Python package must ask for the same features of everything that both use: or it is compiled
/// twice.
fn check_features(root: &Path, faults: &mut Vec<String>) {
    let mut features: BTreeMap<String, String> = BTreeMap::new();
    for package in ["outcore-cli", "outcore-python"] {
        let tree =
            ["tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}|{f}", "--package"];
        let output = Command::new(env!("CARGO")).args(tree).arg(package).current_dir(root).output();
        let Ok(output) = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()) else {
            return faults.push("cargo tree does not run".to_owned());
        };
        for (name, found) in output.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|')) {
            let other = features.entry(name.to_owned()).or_insert_with(|| found.to_owned());
            if other != found {
                let both = format!("`{other}` in the command, `{found}` in the Python package");
                faults.push(format!("crates/cli/Cargo.toml: {name} is compiled twice, with features {both}"));
                found.clone_into(other);
            }
        }
    }
}

/// The Rust, Python and Cargo files of the project.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.join("README.md"), root.join("ARCHITECTURE.md")];
    let mut folders: Vec<PathBuf> =
        ["crates", "python", "fuzz", "bench", "docs", "xtask"].iter().map(|name| root.join(name)).collect();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    folders.push(path);
                }
            } else if [".rs", ".py", ".md"].iter().any(|end| name.ends_with(end)) || name == "Cargo.toml" {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn check_arrows(root: &Path, faults: &mut Vec<String>) {
    for (name, allowed) in ARROWS {
        let manifest = format!("crates/{name}/Cargo.toml");
        let text = fs::read_to_string(root.join(&manifest)).unwrap_or_default();
        let normal = text.split("[dev-dependencies]").next().unwrap_or_default();
        for line in normal.lines().filter(|line| line.starts_with("outcore")) {
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if !allowed.contains(&dependency) {
                faults.push(format!("{manifest}: {name} must not depend on {dependency}; arrows point down"));
            }
        }
        let is_used = |crate_name: &str| normal.lines().any(|line| line.split(['.', ' ']).next() == Some(crate_name));
        for unused in allowed.iter().filter(|dependency| !is_used(dependency)) {
            faults.push(format!("{manifest}: {name} may depend on {unused} and does not; remove it from ARROWS"));
        }
    }
}

/// Every dependency that is not our own says why it is there.
fn check_reasons(name: &str, text: &str, faults: &mut Vec<String>) {
    let mut in_dependencies = false;
    let mut reason = false;
    for line in text.lines() {
        if line.starts_with('[') {
            in_dependencies = line.ends_with("dependencies]");
        } else if in_dependencies && line.starts_with("# why:") {
            reason = true;
        } else if in_dependencies && line.contains('=') && !line.starts_with([' ', '#', ']', '}']) {
            let own = line.starts_with("outcore") || line.contains("workspace = true");
            if !own && !reason && !line.starts_with("tempfile") {
                faults.push(format!("{name}: say why above `{line}`"));
            }
            reason = false;
        }
    }
}

/// Comments, documents and the Python package end at 120 columns; rustfmt sees to code. Tables cannot be broken.
fn check_columns(name: &str, text: &str, faults: &mut Vec<String>) {
    let mut in_code = false;
    for (i, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let text = trimmed.trim_start_matches(['/', '!']).trim_start();
        in_code ^= trimmed.starts_with("```");
        let is_text = match name.rsplit('.').next() {
            Some("rs") => trimmed.starts_with("//"),
            Some("md") => !in_code,
            _ => name.starts_with("python/outcore"),
        };
        if is_text && !text.starts_with('|') && line.chars().count() > MAX_COLUMNS {
            faults.push(format!("{name}:{}: a line of more than {MAX_COLUMNS} columns", i + 1));
        }
    }
}

fn check_source(name: &str, text: &str, faults: &mut Vec<String>) {
    check_columns(name, text, faults);
    if name.ends_with(".md") {
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    // Generated modules grow with what is declared.
    if lines.len() > MAX_FILE_LINES && !name.ends_with("/_algorithms.py") {
        faults.push(format!("{name}: {} lines, more than {MAX_FILE_LINES}: it has a second thing in it", lines.len()));
    }
    for (i, line) in lines.iter().enumerate() {
        let line = if name.ends_with(".rs") { without_texts(line) } else { (*line).to_owned() };
        for word in UNFINISHED {
            if line.contains(word) {
                faults.push(format!("{name}:{}: `{word}` marks something unfinished", i + 1));
            }
        }
    }
    if !name.ends_with(".rs") {
        return;
    }
    if !lines.first().is_some_and(|line| line.starts_with("//!")) {
        faults.push(format!("{name}: the header does not say what the file is"));
    }
    let is_unsafe = |line: &&str| !line.trim_start().starts_with("//") && has_word(&without_texts(line), "unsafe ");
    if !UNSAFE_FILES.contains(&name) && lines.iter().any(is_unsafe) {
        faults.push(format!("{name}: unsafe code lives in named files only (xtask/src/main.rs)"));
    }
    check_functions(name, &lines, faults);
    check_openings(name, &lines, faults);
    check_names(name, &lines, faults);
    check_file_access(name, text, faults);
}

/// A line of Rust without the texts in quotes.
fn without_texts(line: &str) -> String {
    line.replace("\\\"", "").replace("'\"'", "").split('"').step_by(2).collect()
}

/// Files are touched in `io` only, but for tests.
fn check_file_access(name: &str, text: &str, faults: &mut Vec<String>) {
    let is_above = name.starts_with("python/src/")
        || name.starts_with("crates/") && name.contains("/src/") && !name.starts_with("crates/io/");
    if !is_above {
        return;
    }
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    for (i, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        if let Some(word) = FILE_ACCESS.iter().find(|word| has_word(line, word)) {
            faults.push(format!("{name}:{}: `{word}`: files are touched through the storage of io only", i + 1));
        }
    }
}

/// A kernel knows neither its verifier nor its declaration, and a verifier uses nothing of kernels but their types: so
/// it does not run the code that it checks.
fn check_kernels(name: &str, text: &str, faults: &mut Vec<String>) {
    let Some(path) = name.strip_prefix("crates/algo/src/") else { return };
    let forbidden: &[&str] = match path.split('/').next() {
        Some("kernels") => &["crate::verify", "crate::declared"],
        Some("verify") => &["crate::declared"],
        _ => return,
    };
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    for &arrow in forbidden.iter().filter(|arrow| has_word(&code, arrow)) {
        faults.push(format!("{name}: `{arrow}`: kernels and verifiers are independent (ARCHITECTURE.md)"));
    }
    for used in code.split("crate::kernels::").skip(1).filter(|_| path.starts_with("verify/")) {
        let path = used.split(';').next().unwrap_or_default();
        let last = path.rsplit_once("::").map_or(path, |(_, item)| item);
        let items = path.split_once('{').map_or(last, |(_, items)| items).trim_end_matches('}');
        let is_type = |item: &str| item.trim().is_empty() || item.trim().starts_with(char::is_uppercase);
        if let Some(item) = items.split(',').find(|item| !is_type(item)) {
            let item = item.trim();
            faults.push(format!("{name}: `{item}`: a verifier uses types of kernels only, and none of their code"));
        }
    }
}

/// Tests inside of a crate whose library has none, so that it is compiled once, would never run.
fn check_unit_tests(root: &Path, name: &str, text: &str, faults: &mut Vec<String>) {
    let Some((folder, _)) = name.split_once("/src/") else { return };
    if text.lines().any(|line| matches!(line.trim(), "#[test]" | "#[cfg(test)]")) {
        let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml")).unwrap_or_default();
        if manifest.contains("\n[lib]\ntest = false\n") {
            faults.push(format!("{name}: tests of this crate are in {folder}/tests, for those in src never run"));
        }
    }
}

/// A file that a comment names is in the same crate, or named with that crate: `image/src/sweep.rs`.
fn check_references(name: &str, text: &str, files: &[String], faults: &mut Vec<String>) {
    let package =
        |file: &str| file.split("/src/").next().unwrap_or_default().split("/tests/").next().map(str::to_owned);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '.' | '-');
    let comments =
        text.lines().enumerate().filter(|(_, line)| name.ends_with(".rs") && line.trim_start().starts_with("//"));
    for (i, line) in comments {
        for word in line.split(|c| !is_part(c)).filter(|word| word.len() > 3 && word.ends_with(".rs")) {
            let is_it = |file: &&String| **file == word || file.ends_with(&format!("/{word}"));
            let is_found = |file: &String| word.contains('/') || package(file) == package(name);
            if !word.starts_with(['/', '.']) && !files.iter().filter(is_it).any(is_found) {
                faults.push(format!("{name}:{}: `{word}` is no file of this crate; name its crate, too", i + 1));
            }
        }
    }
}

/// A comment begins with its subject, and says what a value is, never "comes to".
fn check_openings(name: &str, lines: &[&str], faults: &mut Vec<String>) {
    let comment = |line: &str| {
        let line = line.trim_start();
        let text = line.strip_prefix("//")?.trim_start_matches(['/', '!']).trim_start();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let mut before = None;
    for (i, line) in lines.iter().enumerate() {
        let text = comment(line);
        if let Some(text) = &text {
            let opens =
                |riddle: &&&str| text.strip_prefix(**riddle).is_some_and(|rest| rest.starts_with([' ', ',', '.']));
            if let Some(riddle) = RIDDLES.iter().find(opens).filter(|_| before.is_none()) {
                faults.push(format!("{name}:{}: a comment that begins with `{riddle}`: name the subject first", i + 1));
            }
            if text.ends_with("comes to.") || text.ends_with("come to.") {
                faults.push(format!("{name}:{}: say what the value is, not what something comes to", i + 1));
            }
        }
        before = text;
    }
}

/// A declared name is a noun of the field.
fn check_names(name: &str, lines: &[&str], faults: &mut Vec<String>) {
    for (i, line) in lines.iter().enumerate() {
        let declared = declared_name(line.trim_start()).to_lowercase();
        if NAMELESS.contains(&declared.as_str()) {
            faults.push(format!("{name}:{}: `{declared}`: name the thing, not what happened to it", i + 1));
        }
    }
}

/// The name that a line declares: of a variable, function, type, constant or field. Empty if there is none.
fn declared_name(line: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = ["let mut ", "let ", "fn ", "struct ", "enum ", "trait ", "type ", "const ", "static "];
    let line = after_visibility(line);
    let declared = words.iter().find_map(|word| line.strip_prefix(word));
    let (name, rest) = {
        let text = declared.unwrap_or(line);
        text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
    };
    // A field is followed by its type.
    let is_field = declared.is_none() && rest.starts_with(": ") && rest.ends_with(',');
    if declared.is_some() || is_field { name } else { "" }
}

fn check_functions(name: &str, lines: &[&str], faults: &mut Vec<String>) {
    for (i, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        // A function of a trait may have no body.
        if !begins_function(trimmed) || trimmed.ends_with(';') {
            continue;
        }
        let indent = line.len() - trimmed.len();
        let end = lines[i..].iter().position(|line| line.len() > indent && line[..=indent] == " ".repeat(indent) + "}");
        if let Some(length) = end
            && length > MAX_FUNCTION_LINES
        {
            faults.push(format!("{name}:{}: a function of {length} lines, more than {MAX_FUNCTION_LINES}", i + 1));
        }
    }
}

/// Whether a line begins a function, with any visibility and any of `const`, `async`, `unsafe` and `extern "C"`.
fn begins_function(line: &str) -> bool {
    let words = ["const ", "async ", "unsafe ", "extern \"C\" "];
    let mut rest = after_visibility(line);
    while let Some(after) = words.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after;
    }
    rest.starts_with("fn ")
}

/// A line without `pub` and `pub(...)`.
fn after_visibility(line: &str) -> &str {
    let after = match line.strip_prefix("pub") {
        Some(after) if after.starts_with('(') => after.split_once(')').map_or("", |(_, after)| after),
        Some(after) if after.starts_with(' ') => after,
        _ => line,
    };
    after.trim_start()
}

/// Whether a text has these words as they are: `fs` is not in `offs`.
fn has_word(text: &str, words: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let apart = |before: Option<char>, after: Option<char>| !before.is_some_and(in_word) || !after.is_some_and(in_word);
    text.match_indices(words).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + words.len()..]);
        apart(before.chars().next_back(), words.chars().next())
            && apart(words.chars().next_back(), after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::{check_file_access, check_kernels, check_openings, check_references, check_source, declared_name};

    #[test]
    fn verifiers_do_not_use_what_they_check() {
        let faults = |name: &str, text: &str| {
            let mut faults = Vec::new();
            check_kernels(&format!("crates/algo/src/{name}"), text, &mut faults);
            faults.len()
        };
        assert_eq!(faults("kernels/bfs.rs", "use crate::verify;"), 1);
        assert_eq!(faults("kernels/bfs.rs", "use crate::declared::bfs;"), 1);
        assert_eq!(faults("kernels/bfs.rs", "use crate::declare::Plan;\nuse crate::kernels::sssp::sssp;"), 0);
        assert_eq!(faults("verify/ranks.rs", "use crate::declared::ALGORITHMS;"), 1);
        assert_eq!(faults("verify/ranks.rs", "use crate::kernels::bfs::{\n    Bfs, BfsOptions,\n};"), 0);
        assert_eq!(faults("verify/ranks.rs", "use crate::kernels::bfs::{Bfs, bfs};"), 1);
        assert_eq!(faults("verify/ranks.rs", "use crate::kernels::tarjan;"), 1);
        assert_eq!(faults("verify/ranks.rs", "use crate::kernels::searches::reach::Reach;"), 0);
        assert_eq!(faults("verify/ranks.rs", "use crate::kernels::searches::reach::{Reach, reach};"), 1);
        assert_eq!(faults("declared/bfs.rs", "use crate::{kernels, verify};"), 0);
        assert_eq!(faults("kernels/bfs.rs", "// crate::verify"), 0);
    }

    #[test]
    fn comments_begin_with_their_subject() {
        let faults = |text: &str| {
            let mut faults = Vec::new();
            check_openings("crates/graph/src/scan.rs", &text.lines().collect::<Vec<_>>(), &mut faults);
            faults.len()
        };
        for text in [
            "/// What it is.",
            "//! Who reads.",
            "    // The same, faster.",
            "/// A.\n///\n/// Whose pages.",
            "// A sum comes to.",
            "/// Of a page.",
            "/// Those of a page.",
            "/// Which page.",
        ] {
            assert_eq!(faults(text), 1, "{text}");
        }
        for text in
            ["/// A sum of\n/// What was.", "/// Whatsoever", "let a = 1; // What", "/// The samples", "// Offsets"]
        {
            assert_eq!(faults(text), 0, "{text}");
        }
    }

    #[test]
    fn files_that_comments_name_exist() {
        let files = ["crates/io/src/plan.rs", "crates/io/src/backend/mod.rs", "crates/graph/src/import/mod.rs"];
        let files = files.map(str::to_owned);
        let faults = |text: &str| {
            let mut faults = Vec::new();
            check_references("crates/graph/src/import/mod.rs", text, &files, &mut faults);
            faults.len()
        };
        for text in ["/// See `plan.rs`.", "// (plan.rs)", "//! `image/src/plan.rs`", "    // backend.rs, mod.rs"] {
            assert_eq!(faults(text), 1, "{text}");
        }
        for text in
            ["/// See `io/src/plan.rs`.", "// docs.rs/x", "//! `import/mod.rs`", "let a = \"plan.rs\";", "// *.rs"]
        {
            assert_eq!(faults(text), 0, "{text}");
        }
    }

    #[test]
    fn texts_are_no_code() {
        let faults = |text: &str| {
            let mut faults = Vec::new();
            check_source("crates/graph/src/scan.rs", &format!("//! A.\n{text}\n"), &mut faults);
            faults.len()
        };
        let marks = ["unsafe ", "FIXME", "todo!("];
        for mark in marks {
            assert_eq!(faults(&format!("let a = \"{mark}\";")), 0, "{mark}");
            assert_eq!(faults(&format!("let a = '\"'; {mark} \"\\\"\"")), 1, "{mark}");
        }
    }

    #[test]
    fn the_name_that_a_line_declares() {
        for (line, name) in [
            ("let mut kept = 1;", "kept"),
            ("pub(crate) fn held(&self) -> bool {", "held"),
            ("pub struct Told<'a> {", "Told"),
            ("pub kept: u64,", "kept"),
            ("taken: Vec<u8>,", "taken"),
            ("kept_rows: usize,", "kept_rows"),
            ("kept: return;", ""),
            ("self.kept = 1;", ""),
            ("public: u64,", "public"),
        ] {
            assert_eq!(declared_name(line), name, "{line}");
        }
    }

    #[test]
    fn files_are_touched_in_io_and_in_tests_only() {
        let faults = |name: &str, text: &str| {
            let mut faults = Vec::new();
            check_file_access(name, text, &mut faults);
            faults.len()
        };
        for text in ["use std::fs;", "let f = File::create_new(p)?;", "if path.exists() {", "p.metadata()?.len()"] {
            assert_eq!(faults("crates/graph/src/image.rs", text), 1, "{text}");
            assert_eq!(faults("python/src/lib.rs", text), 1, "{text}");
            assert_eq!(faults("crates/io/src/spill.rs", text), 0, "{text}");
            assert_eq!(faults("crates/graph/tests/import.rs", text), 0, "{text}");
            let within_tests = format!("fn f() {{}}\n\n#[cfg(test)]\nmod tests {{\n{text}\n}}\n");
            assert_eq!(faults("crates/graph/src/image.rs", &within_tests), 0, "{text}");
        }
        for text in
            ["AtomicFile::create(graph, target)", "ImageFile::OUT_LISTS", "// std::fs", "schema.metadata().get(KEY)"]
        {
            assert_eq!(faults("crates/graph/src/image.rs", text), 0, "{text}");
        }
    }
}
