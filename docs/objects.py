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
TEXTS = ("String", "&'static str", "&'a str", "Order")

# What an error may have beside its kind: the fields of the errors in Rust (crates/io/src/error/fields.rs).
ERROR = {
    "kind": ("string", "The kind, by its name; see [errors](errors.md)"),
    "exit_code": ("integer", "The exit code of the command"),
    "message": ("string", "The message, in a sentence"),
    "path": ("string", "The file, image or folder"),
    "line": (["integer", "null"], "`input`: the line from 1, or the row or record of a binary file"),
    "expected": ("string", "What was expected"),
    "found": ("string", "What was found"),
    "advice": ("string", "What to do; may be empty"),
    "purpose": ("string", "`memory`, `disk`: what needs it"),
    "needed_bytes": ("integer", "`memory`, `disk`: what it needs"),
    "available_bytes": ("integer", "`memory`: what is left"),
    "limit_bytes": ("integer", "`memory`: the limit"),
    "advised_bytes": ("integer", "`memory`: a limit that is enough"),
    "most_bytes": (["integer", "null"], "`memory`: the limit of the system for the memory of the process"),
    "free_bytes": ("integer", "`disk`: what is free"),
    "operation": ("string", "What failed: `read`, `create`, ..."),
    "offset_bytes": (["integer", "null"], "The place in the file, from 0"),
    "os_error": (["integer", "null"], "The error number of the system, such as 28 for `ENOSPC`"),
    "is_image": ("boolean", "`exists`: whether an image is in the way"),
    "reason": ("string", "`exists`: why it cannot be replaced; may be empty"),
    "id": ("string", "`no_vertex`: the id"),
    "ids": ("string", "`no_vertex`: what ids the graph has, in words"),
    "vertex": ("integer", "`no_vertex`: the number"),
    "vertices": ("integer", "`no_vertex`: how many vertices there are"),
    "before": ("integer", "A vertex"),
    "after": ("integer", "The vertex behind it, which should be greater"),
    "name": ("string", "What another process opened"),
    "opened_by": ("integer", "That process"),
    "most": ("integer", "The most threads"),
    "earlier": ("string", "The error of a stream that failed before"),
}

# Where the structures are, how their sections are called, and what they hold beside their own fields.
STRUCTURES: dict[str, tuple[str, str, str, list[str]]] = {
    "object": ("crates/cli/src/object.rs", "Object", "The object", []),
    "option": ("crates/cli/src/object.rs", "Given", "An option, `options.NAME`", []),
    "image": ("crates/table/src/origin.rs", "NamedImage", "`image`", []),
    "file": ("crates/cli/src/object.rs", "Written", "An item of `files`", []),
    "run_plan": ("crates/report/src/lib.rs", "Planned", "`plan` of `run`", []),
    "import_plan": ("crates/graph/src/import/estimate.rs", "ImportEstimate", "`plan` of `import`", []),
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
}
# Fields that are objects of their own, and those that are none of the result.
HELD = {
    ("object", "options"): "option", ("object", "image"): "image", ("object", "files"): "file",
    ("run_stats", "steps"): "step",
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
    if members := re.fullmatch(r"(?:Vec<(.*)>|&'a \[(.*)\])", rust):
        return {"type": "array", "items": typed(members[1] or members[2])}
    if pair := re.fullmatch(r"\((.*)\)", rust):
        parts = [typed(part) for part in pair[1].split(", ")]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    assert rust in ("Json", "&'a Json", "&'a Map<String, Json>", "Option<Found<'a>>", "Found<'a>"), rust
    return {}


def nullable(kind: str | list[str]) -> list[str]:
    return [*([kind] if isinstance(kind, str) else kind), *([] if "null" in kind else ["null"])]


def fields(name: str) -> list[tuple[str, dict[str, Any], str, bool]]:
    """The key, the schema, the meaning, and whether it is always there, of each field."""
    path, structure, _, _ = STRUCTURES[name]
    body = re.search(rf"struct {structure}(?:<'a>)? \{{\n(.*?)\n\}}", (ROOT / path).read_text(), re.DOTALL)
    assert body, f"{path} has no {structure}"
    found = []
    for comment, attributes, key, rust in FIELD.findall(body[1] + "\n"):
        if "flatten" in attributes or (name, key) in ELSEWHERE:
            continue
        lines = [line.strip().removeprefix("///").strip() for line in comment.splitlines()]
        meaning = " ".join(lines).removesuffix(".").replace("`None`", "null")
        if held := HELD.get((name, key)):
            reference = {"$ref": f"#/$defs/{held}"}
            schema: dict[str, Any] = {"type": "object", "additionalProperties": reference}
            if held != "option":
                is_list = rust.startswith("Vec")
                schema = {"type": "array", "items": reference} if is_list else {"anyOf": [reference, {"type": "null"}]}
        else:
            schema = typed(rust)
        found.append((key, schema, meaning, "skip_serializing_if" not in attributes))
    return found


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
        "properties": {key: {"type": kind, "description": meaning} for key, (kind, meaning) in ERROR.items()},
        "required": ["kind", "exit_code", "message"],
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
    kinds = schema.get("type", "object or null")
    kinds = [kinds] if isinstance(kinds, str) else kinds
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
    rows = [f"| `{key}` | {type_text({'type': kind})} | {meaning} |" for key, (kind, meaning) in ERROR.items()]
    return text + "### `error`\n\n| key | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"
