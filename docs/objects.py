"""The keys of the object that commands write as JSON, read from the structures in Rust that are written.

The comments of the fields are what the page about the keys says, and what the JSON Schema describes. So a field without
a comment is an error here, and a key that no structure has is an error of the test that validates what commands write.
"""

import json
import pathlib
import re
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]
FIELD = re.compile(r"((?:    ///[^\n]*\n)+)((?:    #\[[^\n]*\n)*)    (?:pub )?(\w+): ([^\n]*),\n")
NUMBERS = {"u16": "integer", "u32": "integer", "u64": "integer", "usize": "integer", "f64": "number"}
TEXTS = ("String", "&'static str", "&'a str", "Order", "PathBuf")

# Errors: their variants with comments, which of their fields an object has under which key, and their kinds.
ERRORS = "crates/io/src/error.rs"
ENTRIES = re.compile(r"Error::(\w+) \{[^}]*\} => (?:\{\s*)?entries!\(\s*map, (.*?)\),?\n", re.DOTALL)
KINDS = re.compile(r"((?:\|?\s*Error::\w+[^|=]*)+)=> ErrorKind::(\w+),")
# The keys that all errors have.
ERROR = [
    ("kind", {"type": "string"}, "The kind, by its name; see [errors](errors.md)"),
    ("exit_code", {"type": "integer"}, "The exit code of the command"),
    ("message", {"type": "string"}, "The message, in a sentence"),
]

# Where the structures are, how their sections are called, and what they hold beside their own fields.
STRUCTURES: dict[str, tuple[str, str, str, list[str]]] = {
    "object": ("crates/cli/src/object.rs", "Object", "The object", []),
    "option": ("crates/cli/src/object.rs", "Given", "An option, `options.NAME`", []),
    "image": ("crates/table/src/origin.rs", "NamedImage", "`image`", []),
    "file": ("crates/cli/src/object.rs", "Written", "An item of `files`", []),
    "run_plan": ("crates/cli/src/plan.rs", "RunPlan", "`plan` of `run`", []),
    "vectors_plan": ("crates/cli/src/plan.rs", "VectorsPlan", "`plan.vectors` of a solver", []),
    "output_plan": ("crates/cli/src/plan.rs", "OutputPlan", "An item of `plan.outputs`", []),
    "files_plan": ("crates/cli/src/plan.rs", "FilesPlan", "`plan.files` of a product", []),
    "import_plan": ("crates/cli/src/convert.rs", "ImportPlan", "`plan` of `import`", ["import_estimate"]),
    "import_estimate": ("crates/graph/src/import/estimate.rs", "ImportEstimate", "Needs, in `plan` of `import`", []),
    "run_stats": ("crates/image/src/stats.rs", "Stats", "`stats` of `run`", ["sweep"]),
    "step": ("crates/image/src/stats.rs", "Step", "An item of `stats.steps`", ["sweep"]),
    "sweep": ("crates/image/src/stats.rs", "SweepStats", "Reads, in `stats` of `run` and its steps", []),
    "import_result": ("crates/graph/src/import/summary.rs", "ImportSummary", "`result` of `import`", ["input"]),
    "input": ("crates/format/src/manifest.rs", "ImportFacts", "How the input was read, in `result` of `import`", []),
    "import_stats": ("crates/graph/src/import/options.rs", "ImportStats", "`stats` of `import`", []),
    "array_import_result": ("crates/cli/src/convert.rs", "ArrayImport", "`result` of `import --as array`", []),
    "array_import_stats": ("crates/cli/src/convert.rs", "ArrayImportStats", "`stats` of `import --as array`", []),
    "check_result": ("crates/graph/src/check/image.rs", "CheckReport", "`result` of `check`", []),
    "array_check_result": ("crates/cli/src/image.rs", "ArrayCheck", "`result` of `check` of an array", []),
    "info_result": ("crates/graph/src/look/info.rs", "GraphInfo", "`result` of `info`", []),
    "array_info_result": ("crates/cli/src/image.rs", "ArrayFacts", "`result` of `info` of an array", []),
    "file_info_result": ("crates/cli/src/image.rs", "FileFacts", "`result` of `info` of a file", []),
    "holder": (ERRORS, "Holder", "An item of `error.holders`", []),
}
# Fields that are objects of their own, and those that are none of the result.
HELD = {
    ("object", "options"): "option", ("object", "image"): "image", ("object", "files"): "file",
    ("run_stats", "steps"): "step", ("run_plan", "vectors"): "vectors_plan", ("run_plan", "outputs"): "output_plan",
    ("run_plan", "files"): "files_plan",
}  # fmt: skip
ELSEWHERE = {("import_result", "stats"), ("import_result", "notes")}


def typed(rust: str) -> dict[str, Any]:
    """The schema of a type."""
    if optional := re.fullmatch(r"(?:Option|&'a Option)<(.*)>", rust):
        inner = typed(optional[1])
        return inner if "type" not in inner else {**inner, "type": nullable(inner["type"])}
    if rust in NUMBERS:
        # What is not finite is null.
        return {"type": ["number", "null"] if rust == "f64" else NUMBERS[rust]}
    if rust == "bool":
        return {"type": "boolean"}
    if rust in TEXTS:
        return {"type": "string"}
    if rust == "std::io::Error":
        return {"type": ["integer", "null"]}
    if rust == "Vec<Holder>":
        return {"type": "array", "items": {"$ref": "#/$defs/holder"}}
    if members := re.fullmatch(r"(?:Vec<(.*)>|&'a \[(.*)\])", rust):
        return {"type": "array", "items": typed(members[1] or members[2])}
    if pair := re.fullmatch(r"\((.*)\)", rust):
        parts = [typed(part) for part in pair[1].split(", ")]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    assert rust in ("Json", "&'a Json", "&'a Map<String, Json>", "Found"), rust
    return {}


def nullable(kind: str | list[str]) -> list[str]:
    return [*as_list(kind), *([] if "null" in kind else ["null"])]


def meaning_of(comment: str) -> str:
    lines = [line.strip().removeprefix("///").strip() for line in comment.splitlines()]
    return " ".join(lines).removesuffix(".").replace("`None`", "null")


def fields(name: str) -> list[tuple[str, dict[str, Any], str, bool]]:
    """The key, the schema, the meaning, and whether it is always there, of each field."""
    path, structure, _, _ = STRUCTURES[name]
    body = re.search(rf"struct {structure}(?:<'a>)? \{{\n(.*?)\n\}}", (ROOT / path).read_text(), re.DOTALL)
    assert body, f"{path} has no {structure}"
    found = []
    for comment, attributes, key, rust in FIELD.findall(body[1] + "\n"):
        if "flatten" in attributes or "serde(skip)" in attributes or (name, key) in ELSEWHERE:
            continue
        meaning = meaning_of(comment)
        if held := HELD.get((name, key)):
            reference = {"$ref": f"#/$defs/{held}"}
            schema: dict[str, Any] = {"type": "object", "additionalProperties": reference}
            if held != "option":
                is_list = rust.startswith(("Vec", "&'a ["))
                schema = {"type": "array", "items": reference} if is_list else {"anyOf": [reference, {"type": "null"}]}
        else:
            schema = typed(rust)
        found.append((key, schema, meaning, "skip_serializing_if" not in attributes))
    return found


def error_fields() -> list[tuple[str, dict[str, Any], str]]:
    """The key, the schema and the meaning of all fields of errors, by the kinds that have them."""
    paths = (ERRORS, "crates/io/src/error/kind.rs", "crates/io/src/error/fields.rs")
    declarations, kinds_of, entries_of = [(ROOT / path).read_text() for path in paths]
    body = re.search(r"pub enum Error \{\n(.*?)\n\}", declarations, re.DOTALL)
    assert body
    declared: dict[tuple[str, str], tuple[dict[str, Any], str]] = {}
    for variant, inner in re.findall(r"    (\w+) \{\n(.*?)\n    \},", body[1], re.DOTALL):
        for comment, key, rust in re.findall(r"((?:        ///[^\n]*\n)+)        (\w+): ([^\n]*),", inner):
            declared[variant, key] = (typed(rust), meaning_of(comment))
    kinds: dict[str, str] = {}
    for variants, kind in KINDS.findall(kinds_of):
        name = re.sub(r"(?<!^)([A-Z])", r"_\1", kind).lower()
        kinds |= dict.fromkeys(re.findall(r"Error::(\w+)", variants), f"`{name}`")
    schemas: dict[str, dict[str, Any]] = {}
    meanings: dict[str, dict[str, list[str]]] = {}
    entries = ENTRIES.findall(entries_of)
    assert {variant for variant, _ in entries} >= {variant for variant, _ in declared}, entries
    for variant, inner in entries:
        for key, field in re.findall(r"(\w+): &?(?:text\()?(\w+)", inner):
            schema, meaning = declared[variant, field]
            if key == "os_error":
                meaning += ": its number, such as 28 for `ENOSPC`"
            both = [kind for one in (schemas.get(key, schema), schema) for kind in as_list(one["type"])]
            both = list(dict.fromkeys(both))
            schemas[key] = {**schema, "type": both if len(both) > 1 else both[0]}
            of_kinds = meanings.setdefault(key, {}).setdefault(meaning, [])
            # A failed operation on a file is of many kinds.
            kind = kinds.get(variant, "operations on files")
            of_kinds += [] if kind in of_kinds else [kind]
    texts = [[f"{', '.join(of)}: {meaning}" for meaning, of in meanings[key].items()] for key in schemas]
    return [(key, schema, "; ".join(text)) for (key, schema), text in zip(schemas.items(), texts, strict=True)]


def as_list(kind: str | list[str]) -> list[str]:
    return [kind] if isinstance(kind, str) else kind


def definition(name: str) -> dict[str, Any]:
    all_fields = fields(name)
    properties = {key: {**schema, "description": meaning} for key, schema, meaning, _ in all_fields}
    required = [key for key, _, _, is_always in all_fields if is_always]
    made = {"type": "object", "properties": properties, "required": required}
    if parts := STRUCTURES[name][3]:
        made["allOf"] = [{"$ref": f"#/$defs/{part}"} for part in parts]
    return made


def of_command(command: str, **parts: list[str]) -> dict[str, Any]:
    """What the parts of the object are where it is this command's."""
    null = {"type": "null"}
    some = {key: [{"$ref": f"#/$defs/{name}"} for name in names] for key, names in parts.items()}
    then = {key: {"anyOf": [*references, null]} if references else null for key, references in some.items()}
    return {"if": {"properties": {"command": {"const": command}}}, "then": {"properties": then}}


def schema() -> dict[str, Any]:
    """The JSON Schema of the object."""
    names = [name for name in STRUCTURES if name != "object"]
    definitions = {name: definition(name) for name in names}
    definitions["run_result"] = {
        "type": "object",
        "description": "The attributes of the algorithm, or the facts of the solver or the model, by their names",
    }
    definitions["error"] = {
        "type": "object",
        "properties": {key: {**kind, "description": meaning} for key, kind, meaning in [*ERROR, *error_fields()]},
        "required": [key for key, _, _ in ERROR],
    }
    whole = definition("object")
    whole["properties"]["schema"]["const"] = 1
    whole["properties"]["command"]["enum"] = ["run", "import", "check", "info"]
    whole["properties"]["error"]["anyOf"] = [{"$ref": "#/$defs/error"}, {"type": "null"}]
    imports, infos = ["import_result", "array_import_result"], ["info_result", "array_info_result", "file_info_result"]
    of_commands = [
        of_command("run", plan=["run_plan"], result=["run_result"], stats=["run_stats"]),
        of_command("import", plan=["import_plan"], result=imports, stats=["import_stats", "array_import_stats"]),
        of_command("check", plan=[], result=["check_result", "array_check_result"], stats=[]),
        of_command("info", plan=[], result=infos, stats=[]),
    ]
    title = "What a command of Outcore writes as JSON"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **whole, "allOf": of_commands, "$defs": definitions}


def schema_text() -> str:
    return json.dumps(schema(), indent=1) + "\n"


def type_text(schema: dict[str, Any]) -> str:
    if "prefixItems" in schema:
        return "[" + ", ".join(type_text(part) for part in schema["prefixItems"]) + "]"
    kinds = as_list(schema.get("type", "object or null"))
    words = {"array": "list", "boolean": "true or false", "integer": "whole number", "string": "text"}
    items = schema.get("items", {})
    of = " of objects"
    if "type" in items:
        item = type_text(items)
        plurals = {"text": "texts", "whole number": "whole numbers", "text or null": "(text or null)"}
        of = " of " + plurals.get(item, item)
    return " or ".join(words.get(kind, kind) + (of if kind == "array" else "") for kind in kinds)


def tables() -> str:
    """A table for every structure."""
    text = ""
    for name, (_, _, title, parts) in STRUCTURES.items():
        rows = [f"| `{key}` | {type_text(kind)} | {meaning} |" for key, kind, meaning, _ in fields(name)]
        beside = "".join(f", and the keys of *{STRUCTURES[part][2]}*" for part in parts)
        text += f"### {title}\n\n| key{beside} | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n\n"
    rows = [f"| `{key}` | {type_text(kind)} | {meaning} |" for key, kind, meaning in [*ERROR, *error_fields()]]
    return text + "### `error`\n\n| key | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"
