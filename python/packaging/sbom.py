"""The software bill of materials of a release, as CycloneDX: every crate that the command or the module is made of,
and what the Python package asks for."""

import json
import re
import subprocess
import tomllib

PACKAGES = ("outcore-cli", "outcore-python")


def bill(root, triple):
    """The bill as a dictionary. It holds no date, so that the same sources give the same bill."""
    cargo = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", triple]
    metadata = json.loads(subprocess.run(cargo, cwd=root, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {node["id"]: _needed(node) for node in metadata["resolve"]["nodes"]}
    lock = tomllib.loads((root / "Cargo.lock").read_text())["package"]
    sums = {(locked["name"], locked["version"]): locked.get("checksum") for locked in lock}
    reached, waiting = set(), [id for id, package in packages.items() if package["name"] in PACKAGES]
    while waiting:
        if (id := waiting.pop()) not in reached:
            reached.add(id)
            waiting.extend(needs[id])
    crates = sorted((packages[id] for id in reached), key=lambda package: (package["name"], package["version"]))
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    version = next(package["version"] for package in crates if package["name"] == PACKAGES[0])
    top = {"type": "application", "bom-ref": "outcore", "name": "outcore", "version": version}
    top |= {"purl": f"pkg:pypi/outcore@{version}", "licenses": [{"expression": project["license"]}]}
    purls = {id: _purl(packages[id]) for id in reached}
    tree = [{"ref": purls[id], "dependsOn": sorted(purls[need] for need in needs[id])} for id in reached]
    roots = [_purl(package) for package in crates if package["name"] in PACKAGES]
    required, optional = _of_python(project)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": top},
        "components": [_crate(package, sums) for package in crates] + required + optional,
        "dependencies": [
            {"ref": "outcore", "dependsOn": roots + [part["bom-ref"] for part in required]},
            *sorted(tree, key=lambda entry: entry["ref"]),
        ],
    }


def _needed(node):
    """What a crate is built with; not what its tests need."""
    kinds = {need["pkg"]: {kind["kind"] for kind in need["dep_kinds"]} for need in node["deps"]}
    return [id for id, kind in kinds.items() if kind != {"dev"}]


def _purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def _crate(package, sums):
    part = {"type": "library", "bom-ref": _purl(package), "name": package["name"], "version": package["version"]}
    part["purl"] = _purl(package)
    if package["license"]:
        # How crates wrote it before expressions of SPDX.
        part["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if checksum := sums.get((package["name"], package["version"])):
        part["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return part


def _of_python(project):
    """What the package requires, and what its extras do. Versions are ranges: pip chooses one of them."""
    extras = {need for needs in project["optional-dependencies"].values() for need in needs}
    named = {need for need in extras if not need.startswith("outcore[")}
    required = [_requirement(need, "required") for need in project["dependencies"]]
    return required, [_requirement(need, "optional") for need in sorted(named)]


def _requirement(need, scope):
    name, versions = re.fullmatch(r"([\w-]+)(.*)", need).groups()
    part = {"type": "library", "bom-ref": f"pkg:pypi/{name}", "name": name, "purl": f"pkg:pypi/{name}"}
    part["scope"] = scope
    part["properties"] = [{"name": "outcore:versions", "value": versions}]
    return part
