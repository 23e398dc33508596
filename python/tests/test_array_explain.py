"""What a computation of arrays will do, said beforehand."""

import os
import shutil
import xml.etree.ElementTree

import numpy as np
import pytest

import outcore as oc

xp = oc.array


def test_an_explanation_names_passes_bytes_and_memory(scratch):
    np.save("x.npy", np.ones((20000, 4)))
    x = xp.open("x.npy")
    centred = x - x.mean(axis=0)
    plan = xp.explain(centred.T @ centred, persist={"centred.oc": centred})
    assert [one.rows for one in plan.passes] == [20000, 20000]
    assert all(list(one.reads.values()) == [20000 * 4 * 8] for one in plan.passes)
    assert all(one.memory_bytes > 0 for one in plan.passes) and plan.passes[1].result_bytes == 128
    text = str(plan)
    assert repr(plan) == text.rstrip("\n") and text.startswith("2 passes\n") and "reads x.npy" in text
    assert "image float64 [20000, 4]" in text and not os.path.exists("centred.oc")
    plan.save("plan.svg")
    root = xml.etree.ElementTree.parse("plan.svg").getroot()
    assert root.tag.endswith("svg") and plan._repr_svg_() == open("plan.svg", encoding="utf-8").read()
    # What is known needs no pass.
    assert xp.explain(xp.asarray([1.0, 2.0]).sum()).passes == []
    with pytest.raises(TypeError):
        xp.explain(x, memry="1GiB")


def test_an_explanation_asks_for_the_memory_that_the_computation_takes(scratch):
    x = xp.persist("x.oc", xp.random.normal((6000, 200), seed=1))
    goals = {
        "gram": lambda: ([x.T @ x], None),
        "two passes": lambda: ([(x - x.mean(axis=0)).std(axis=0), x[:3000] * 2], None),
        "image": lambda: ([x.sum()], {"y.oc": x + 1}),
    }
    for name, of in goals.items():
        agreed = set()
        for memory in range(16 << 20, 80 << 20, 2 << 20):
            arrays, images = of()
            outcomes = []
            for function in (xp.explain, xp.compute):
                try:
                    function(*arrays, persist=images, memory=memory, threads=2)
                    outcomes.append(True)
                except oc.MemoryLimitError:
                    outcomes.append(False)
            shutil.rmtree("y.oc", ignore_errors=True)
            assert outcomes[0] == outcomes[1], (name, memory, outcomes)
            agreed.add(outcomes[0])
        assert agreed == {False, True}, name
    with pytest.raises(oc.UsageError, match="vector or a matrix"):
        xp.explain(persist={"z.oc": x[:2, :2].reshape((2, 2, 1))})
    with pytest.raises(oc.UsageError, match="vector or a matrix"):
        xp.explain(persist={"z.oc": x.sum()})


def test_results_that_are_made_of_results_take_no_more_memory_than_they_have(scratch):
    values = np.random.default_rng(1).normal(size=(3000, 256))
    xp.persist("x.oc", values)
    x = xp.open("x.oc", memory="48MiB", threads=2)
    correlation = xp.corrcoef(x)
    assert all(one.memory_bytes < 40 << 20 for one in xp.explain(correlation).passes)
    np.testing.assert_allclose(correlation.compute(), np.corrcoef(values, rowvar=False), atol=1e-12)


def test_rows_far_apart_take_little_memory(scratch):
    values = np.random.default_rng(1).normal(size=(400_000, 8))
    np.save("x.npy", values)
    xp.persist("x.oc", values)
    for path in ("x.npy", "x.oc"):
        x = xp.open(path, memory="48MiB", threads=2)
        for step in (7, 100, 1000, -333):
            part = x[::step]
            assert all(one.memory_bytes < 40 << 20 for one in xp.explain(part, part.sum(axis=0)).passes), (path, step)
            np.testing.assert_array_equal(part.compute(), values[::step])
            np.testing.assert_allclose(part.sum(axis=0).compute(), values[::step].sum(axis=0))
        stored = xp.persist("part.oc", x[::2], replace=True)
        np.testing.assert_array_equal(stored.compute(), values[::2])


def test_another_limit_keeps_the_threads_of_an_array(scratch):
    xp.persist("x.oc", np.arange(4000.0))
    x = xp.open("x.oc", memory="64MiB", threads=1)
    for given, threads in [({"memory": "32MiB"}, 1), ({"memory": "32MiB", "threads": 2}, 2), ({}, 1)]:
        _, stats = xp.compute(x[1:] * 2, return_stats=True, **given)
        assert stats["threads"] == threads, given
