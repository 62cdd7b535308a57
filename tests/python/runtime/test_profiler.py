"""The trace that the profiler writes: valid, nested, named by the user's functions, lines and threads."""

import collections
import gzip
import json
import threading

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as rt

# A second process would find the program of `profile` in the disk cache.
pytestmark = pytest.mark.xdist_group("test_profiler")


def written(directory):
    """The one trace below a directory, as JSON."""
    (path,) = directory.glob("plugins/profile/*/perfetto_trace.json.gz")
    return json.loads(gzip.decompress(path.read_bytes()))


def spans(data, category):
    return [event for event in data["traceEvents"] if event["ph"] == "X" and event["cat"] == category]


def check_nesting(data):
    """Events of one thread are nested or disjoint."""
    threads = collections.defaultdict(list)
    for event in data["traceEvents"]:
        if event["ph"] == "X":
            start = round(event["ts"] * 1000)
            threads[event["tid"]].append((start, -round(event["dur"] * 1000), event["name"]))
    for events in threads.values():
        open_until = []
        for start, minus_duration, name in sorted(events):
            while open_until and open_until[-1] <= start:
                open_until.pop()
            end = start - minus_duration
            assert not open_until or end <= open_until[-1] + 1000, f"{name} crosses the end of what it began in"
            open_until.append(end)


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """A trace of a function that is compiled, and called in two threads."""
    directory = tmp_path_factory.mktemp("profile")

    @pc.jit
    def product_of_rows(x):
        return pnp.dot(x, x.T) + 1

    x = pnp.ones((400, 400)).block_until_ready()
    with pc.profiler.trace(directory):
        with pc.profiler.StepTraceAnnotation("train", step_num=7, note='a "quoted"\nline'):
            for _ in range(3):
                y = product_of_rows(x)
            y.block_until_ready()
        helper = threading.Thread(target=lambda: product_of_rows(pnp.array([[1.0, 2.0]])), name="helper")
        helper.start()
        helper.join()
        rt.synchronize()
    return written(directory)


def test_a_trace_has_every_kind_with_names_of_the_user(profile):
    traced, _ = spans(profile, "trace")[0], check_nesting(profile)
    assert traced["name"] == "trace product_of_rows"
    assert "test_profiler.py" in traced["args"]["function"]
    compiled = [event["name"] for event in spans(profile, "compile")]
    assert compiled[0] == "compile product_of_rows"
    assert {"plan", "key", "emit", "verify", "linalg", "buffers", "loops", "llvm", "codegen", "load"} <= set(compiled)
    runs = [event for event in spans(profile, "run") if event["name"] == "product_of_rows"]
    assert len(runs) == 4
    assert all("test_profiler.py:" in event["args"]["place"] and event["args"]["device"] == 0 for event in runs)
    enqueued = [event for event in spans(profile, "enqueue") if event["name"] == "enqueue product_of_rows"]
    assert len(enqueued) >= 2
    assert spans(profile, "copy")
    (step,) = spans(profile, "user")
    assert step["name"] == "train 7"
    assert step["args"] == {"step_num": 7, "note": 'a "quoted"\nline'}
    assert profile["droppedEvents"] == 0


def test_threads_have_names(profile):
    names = {event["args"]["name"] for event in profile["traceEvents"] if event["name"] == "thread_name"}
    assert {"MainThread", "helper"} <= names


def test_arrows_lead_from_where_it_was_enqueued_to_its_run(profile):
    starts = {event["id"]: event for event in profile["traceEvents"] if event["ph"] == "s"}
    ends = {event["id"]: event for event in profile["traceEvents"] if event["ph"] == "f"}
    assert starts
    assert starts.keys() == ends.keys()
    at = {(event["tid"], event["ts"]): event for event in spans(profile, "run")}
    for number, end in ends.items():
        assert starts[number]["ts"] <= end["ts"]
        assert (end["tid"], end["ts"]) in at


def test_nothing_is_recorded_outside_and_one_thing_at_a_time(tmp_path):
    with pc.profiler.TraceAnnotation("before"):
        pass
    pc.profiler.start_trace(tmp_path)
    with pytest.raises(RuntimeError, match=r"start_trace: a profile is being recorded for .*: call stop_trace first"):
        pc.profiler.start_trace(tmp_path)
    pc.profiler.stop_trace()
    with pytest.raises(RuntimeError, match="stop_trace: nothing is being recorded"):
        pc.profiler.stop_trace()
    assert spans(written(tmp_path), "user") == []


def test_a_block_that_raises_is_written_too(tmp_path):
    with pytest.raises(ZeroDivisionError), pc.profiler.trace(tmp_path), pc.profiler.TraceAnnotation("fails"):
        raise ZeroDivisionError
    assert [event["name"] for event in spans(written(tmp_path), "user")] == ["fails"]


def test_annotated_functions(tmp_path):
    @pc.profiler.annotate_function
    def double(x):
        return 2 * x

    named = pc.profiler.annotate_function(double, name="twice", batch=3)
    with pc.profiler.trace(tmp_path):
        assert named(4) == 8
    inner, outer = spans(written(tmp_path), "user")
    assert inner["name"].endswith("double")
    assert (outer["name"], outer["args"]) == ("twice", {"batch": 3})


def test_options_that_there_are_not(tmp_path):
    with pytest.raises(ValueError, match="start_trace: create_perfetto_link"):
        pc.profiler.start_trace(tmp_path, create_perfetto_link=True)
    with pytest.raises(ValueError, match="start_trace: profiler_options must be None"):
        pc.profiler.start_trace(tmp_path, profiler_options={})
