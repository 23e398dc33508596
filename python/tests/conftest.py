"""What several tests share: a small graph, images in scratch directories, and where the shared data is."""

import os
import pathlib
import shutil

import numpy as np
import pytest

import outcore as oc

# Where the documentation's graph comes from: two-way links between home and two pages, a loop, a page on its own.
SITE_SOURCE = ["home", "home", "news", "about", "about"]
SITE_TARGET = ["news", "about", "home", "home", "about"]


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def site_image(tmp_path_factory):
    """The image of the documentation's examples, imported once. Tests get copies."""
    image = tmp_path_factory.mktemp("site") / "web.oc"
    oc.import_graph((np.array(SITE_SOURCE), np.array(SITE_TARGET)), image, vertices=["lone"])
    return image


@pytest.fixture
def site(scratch, site_image):
    """The graph of the documentation's examples, opened."""
    shutil.copytree(site_image, "web.oc")
    with oc.Graph("web.oc") as graph:
        yield graph


@pytest.fixture
def make(tmp_path):
    """Imports edges (and vertices) and opens the image."""
    count = iter(range(1000))
    opened = []

    def make(given, memory=None, threads=None, **options):
        image = tmp_path / f"{next(count)}.oc"
        oc.import_graph(given, image, **options)
        opened.append(oc.Graph(image, memory=memory, threads=threads))
        return opened[-1]

    yield make
    for graph in opened:
        graph.close()


def data_folder():
    """The shared data, or nothing where it is absent."""
    given = os.environ.get("OUTCORE_DATA")
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(given) if given else root.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def shared_graph(name):
    """The path of one of the shared graphs. Skips the test where they are absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip(f"the shared data is absent: {name} was not compared (OUTCORE_DATA says where it is)")
    return folder / "graphs" / name
