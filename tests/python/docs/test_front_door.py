"""The first files of newcomers and of continuous integration name existing targets, files, packages and one version."""

import datetime
import json
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from pages import ROOT

import pycompiler as pc

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z][a-z0-9-]*):(?!=)", MAKEFILE, re.M))
ACTION = ROOT / ".github/actions/in-image/action.yml"


def read_yaml(path):
    return yaml.safe_load((ROOT / path).read_text())


@pytest.fixture(scope="module")
def jobs():
    return read_yaml(".github/workflows/ci.yml")["jobs"]


def commands(jobs):
    """The commands that run in the image, in all jobs."""
    return [step["with"]["run"] for job in jobs.values() for step in job["steps"] if "in-image" in step.get("uses", "")]


def test_the_makefile_names_each_target_that_is_no_file():
    phony = {name for line in re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.M) for name in line.split()}
    assert phony == TARGETS


def test_the_index_of_decisions_has_a_row_for_each_page_in_their_order():
    folder = ROOT / "docs/rationale"
    listed = re.findall(r"^\| \[(\d+)\]\((\S+\.md)\) \|", (folder / "index.md").read_text(), re.M)
    assert [name for _, name in listed] == sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert all(name.startswith(f"{number}-") for number, name in listed)


def test_help_lists_what_has_a_description():
    said = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    described = set(re.findall(r"^([a-z][a-z0-9-]*):.*## ", MAKEFILE, re.M))
    assert {line.split()[1] for line in said.splitlines()} == described
    assert TARGETS - described == {"system", "configure"}


def test_every_job_runs_targets_of_the_makefile_or_a_script(jobs):
    found = commands(jobs)
    assert len(found) == len(jobs)
    for command in found:
        program, *words = command.split()
        if program == "make":
            assert words
            assert set(words) <= TARGETS, command
        else:
            assert (ROOT / program).stat().st_mode & 0o111, command


def test_the_jobs_are_those_that_are_promised(jobs):
    ran = " ".join(commands(jobs))
    for promised in (".ci/run", "test-sanitizers", "test-aarch64", "wheel", "docs", "lint", "test-full", "coverage"):
        assert re.search(rf"(^| ){re.escape(promised)}( |$)", ran), promised
    lowest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert lowest == f">={jobs['pythons']['strategy']['matrix']['python'][0]}"
    assert jobs["pythons"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]


def test_the_image_is_of_the_dockerfile_and_the_bases_of_debian_12(jobs):
    action = read_yaml(ACTION)
    steps = " ".join(step.get("run", "") for step in action["runs"]["steps"])
    assert "docker build --build-arg BASE=" in steps
    bases = [step.get("with", {}).get("base") for job in jobs.values() for step in job["steps"]]
    assert {action["inputs"]["base"]["default"], *filter(None, bases)} == {
        "debian:bookworm",
        "python:${{ matrix.python }}-bookworm",
    }
    given = {
        name
        for job in jobs.values()
        for step in job["steps"]
        if "in-image" in step.get("uses", "")
        for name in step["with"]
    }
    assert given <= set(action["inputs"])
    assert all(
        (ROOT / step["uses"]).is_dir()
        for job in jobs.values()
        for step in job["steps"]
        if step.get("uses", "").startswith("./")
    )


def test_the_image_installs_packages_by_the_makefiles_own_script():
    lines = (ROOT / "Dockerfile").read_text()
    script = "tools/install-system-packages.sh"
    assert f"@{script}\n" in MAKEFILE[MAKEFILE.index("\nsystem:") :].partition("\n\n")[0] + "\n"
    assert f"\nRUN {script}\n" in lines
    copied = {name for line in re.findall(r"^COPY (.*)$", lines, re.M) for name in line.split()[:-1]}
    # All files that the script reads, and all files in the image's context.
    read = set(re.findall(r"[a-z][\w-]*\.txt", (ROOT / script).read_text()))
    assert copied == {script, *read}
    assert copied == set(re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), re.M))
    # None of these packages is listed twice. The packages in the script are those of README.md.
    named = set(re.search(r"--no-install-recommends ([\w+ -]+)$", lines, re.M)[1].split())
    assert named - {"ca-certificates"} == {"git", "python3", "make", "g++"}
    listed = set(re.sub("#.*", "", (ROOT / "apt-packages.txt").read_text()).split())
    assert not named & listed


def test_an_environment_of_another_place_is_refused(tmp_path):
    site = tmp_path / ".venv/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    script = tmp_path / "tools/install-system-packages.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho installs\n")
    script.chmod(0o755)

    def system(place):
        (site / "pycompiler-checkout.pth").write_text(f"{place}\n")
        return subprocess.run(
            ["make", "-s", "-f", ROOT / "Makefile", "system"], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert system(tmp_path).stdout == "installs\n"
    moved = system("/elsewhere")
    assert moved.returncode
    assert "error: .venv was made for the checkout /elsewhere" in moved.stderr
    assert "rm -rf .venv build" in moved.stderr
    assert not moved.stdout
    shutil.rmtree(tmp_path / ".venv")
    assert subprocess.run(["make", "-s", "-f", ROOT / "Makefile", "system"], cwd=tmp_path, check=False).returncode == 0


def test_continuous_integration_runs_containers_as_contributors_do():
    """The options of `docker run`, but for those of the cache of the compiler."""
    (step,) = [step["run"] for step in read_yaml(ACTION)["runs"]["steps"] if "docker run" in step.get("run", "")]
    (shown,) = re.findall(r"^docker run .*$", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    options = re.search(r"docker run --rm (.*?) --env", " ".join(step.split()))[1]
    assert options == '--init --shm-size 1g --volume "$PWD:/pycompiler"'
    assert f" {options} " in shown
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert container["init"] is True
    assert container["runArgs"] == ["--shm-size=1g"]


def test_the_container_of_editors_is_the_same():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    folder = ROOT / ".devcontainer"
    assert (folder / container["build"]["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert (folder / container["build"]["context"]).resolve() == ROOT
    program, target = container["postCreateCommand"].split()
    assert program == "make"
    assert target in TARGETS


def test_hooks_are_tools_of_the_environment_or_parts_of_lint():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    tools = {re.match(r"[\w-]+", requirement)[0] for requirement in extras["lint"]}
    repositories = read_yaml(".pre-commit-config.yaml")["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    parts = set(re.search(r"^lint: ([a-z -]+) ##", MAKEFILE, re.M)[1].split())
    ran = set()
    for hook in repositories[0]["hooks"]:
        program, *words = hook["entry"].split()
        if program == "make":
            ran |= {word for word in words if not word.startswith("-")}
        else:
            tool = words[1] if words[0] == "-m" else program.rpartition("/")[2]
            assert program.startswith(".venv/bin/")
            assert tool in tools
            ran.add("lint-format")
    assert ran == parts


def test_forms_of_issues_have_what_github_asks_for():
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    forms = [form for form in forms if form.name != "config.yml"]
    assert len(forms) == 2
    for form in forms:
        said = read_yaml(form)
        assert said["name"]
        assert said["description"]
        fields = [part for part in said["body"] if part["type"] != "markdown"]
        assert fields
        assert all(part["id"] and part["attributes"]["label"] for part in fields)


def test_the_version_stands_once_and_has_its_date():
    version = pc.__version__
    found = subprocess.run(
        ["git", "grep", "-lF", version, "--", ".", ":!third_party"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert found == ["CHANGELOG.md", "pycompiler/version.py"]
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == "Unreleased"
    newest, _, date = headings[1].partition(" - ")
    assert newest == version
    assert all(datetime.date.fromisoformat(heading.partition(" - ")[2]) for heading in headings[1:])
    assert datetime.date.fromisoformat(date) == max(
        datetime.date.fromisoformat(heading.partition(" - ")[2]) for heading in headings[1:]
    )


def test_the_list_of_another_machine_needs_a_preset():
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    assert set(re.findall(r"cmake --preset (\w+)", MAKEFILE)) <= {preset["name"] for preset in presets}
    for preset in presets:
        assert (ROOT / preset.get("toolchainFile", "CMakeLists.txt")).is_file()
    lists = re.findall(r"install-system-packages\.sh ([\w-]+\.txt)", MAKEFILE)
    assert lists
    assert all((ROOT / name).is_file() for name in lists)


@pytest.mark.parametrize("extra", ["coverage", "hooks", "bench"])
def test_requirements_that_a_target_installs_are_an_extra(extra):
    assert re.search(rf"tools/requirements\.py {extra}\b", MAKEFILE)
    done = subprocess.run(
        [sys.executable, ROOT / "tools/requirements.py", extra], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()


def test_the_tests_that_the_makefile_names_are_there():
    named = re.findall(r"(?<![\w/-])tests/[\w/.]+", MAKEFILE)
    assert len(named) > 5
    assert not [name for name in named if not (ROOT / name).exists()]
