"""Runs the tools on random programs. They must refuse malformed input with a diagnostic. They must compile and run
valid input, or refuse it with a diagnostic. No tool may crash, hang or use all memory.

The inputs are:

- programs of tests/lit with exchanged parts: for array-opt as text and as bytecode, for array-run with inputs and
  sizes, for array-translate those of StableHLO
- generated programs for array-run with sizes near the limits (`fuzz_sizes`, and `fuzz_operations` for each operation):
  sizes that fit must run, other sizes must be refused
- files of exported functions with a changed description or module

`make fuzz SECONDS=600`. If a signal ends a tool, the input is kept under build/fuzz, with the command that repeats the
crash. The exit status is 1 if the crash was in this project's code. `--seed` repeats a run, as far as the time allows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_operations import OperationProgram
from fuzz_sizes import SizesProgram

ROOT = Path(__file__).resolve().parent.parent
SEPARATOR = "\n// -----\n"
# The number of programs for one process, as text. With bytecode, a process takes one.
BATCH = 24
SECONDS_OF_ONE = 20
MEMORY = 6 << 30


# Generated programs: of several operations, and of a single operation.
DRAWN: dict[str, type[SizesProgram | OperationProgram]] = {"sizes": SizesProgram, "operations": OperationProgram}


@dataclass(frozen=True)
class Mode:
    """The tool, its options and its weight. A process takes one program, except with array-opt."""

    arguments: tuple[str, ...]
    weight: int
    tool: str = "array-opt"
    corpus: str = ""
    programs: int = BATCH

    @property
    def is_drawn(self) -> bool:
        """Whether programs are generated, not taken from tests/lit."""
        return self.corpus in DRAWN


MODES = [
    Mode((), 3),
    Mode(("--canonicalize", "--cse"), 3),
    Mode(("--array-to-linalg",), 4),
    Mode(("--array-to-llvm",), 4),
    Mode(("--array-to-gpu",), 1),
    Mode(("--print=type",), 4, "array-run", "Run"),
    Mode((), 3, "array-run", "sizes"),
    Mode((), 3, "array-run", "operations"),
    Mode(("--stablehlo-to-array",), 3, "array-translate", "Stablehlo"),
    Mode((), 2, "exports"),
]

# Values of attributes, of kinds that most attributes do not have.
ATTRIBUTES = ["@main", "unit", '"clip"', "true", "-1 : i64", "7 : i128", "9223372036854775807 : i64", "f32", "[1, 2]"]
ATTRIBUTES += ["array<i64>", "array<i64: -1>", "array<i64: 0, 0>", "array<i64: 4611686018427387904>", "array<i32: 1>"]
ATTRIBUTES += ["dense<1> : tensor<2xi64>", "dense<7> : tensor<4xi128>", "{a = 1}", "1.5 : f32", "affine_map<() -> ()>"]
NUMBERS = ["0", "1", "-1", "2", "3", "5", "8", "63", "64", "65", "1000", "65536", "2147483648", "4294967296"]
NUMBERS += ["9223372036854775807", "-9223372036854775808", "18446744073709551616", "1.5", "0x7FC00000", "1e400"]
ELEMENTS = ["i1", "i2", "i4", "i8", "i16", "i32", "i64", "i128", "ui2", "ui8", "ui32", "ui64", "si1", "si32", "index"]
ELEMENTS += ["f16", "bf16", "f32", "f64", "f80", "f128", "tf32", "f8E4M3FN", "f8E5M2", "f4E2M1FN", "complex<f32>"]
ELEMENTS += ["complex<f64>", "complex<i32>", "!array.token", "vector<4xf32>", "none", "tuple<f32>"]
SHAPES = ["", "0x", "1x", "2x", "3x", "4x", "?x", "2x3x", "3x3x", "4x4x", "?x?x", "0x4x", "1x1x1x", "2x3x4x", "*x"]
SHAPES += ["4611686018427387905x", "4294967296x4294967296x", "0x4611686018427387904x", "9223372036854775807x"]
SHAPES += ["1000000x1000000x", "4294967296x4294967296x4294967296x", "2x2x2x2x2x2x2x2x2x"]

TOKEN = re.compile(r'[%@#!^]?[A-Za-z_][\w.$]*|-?\d+(?:\.\d+(?:e[+-]?\d+)?)?|"[^"\n]*"|->|\n|[ \t]+|.')
TENSOR = re.compile(r"tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>")
OPERATION = re.compile(r"\b(?:array|stablehlo|chlo)\.\w+")
ATTRIBUTE = re.compile(
    r"\b[a-z_]\w* = (array<[^>]*>|\[[^\]\n]*\]|dense<[^>]*> : tensor<[^>]*>|\"[^\"\n]*\"|[-\w.]+(?: : \w+)?"
    r"|#\w+\.\w+<[^>\n]*>)"
)

# MLIR's functions that read and print modules, also those generated for this project's operations, and functions that
# detect corrupted memory at the end.
READING = re.compile(
    r"BytecodeReader|mlir::detail::Parser::|::parse$|::readProperties$|parse\w*SourceFile|AsmPrinter::Impl"
    r"|~MLIRContext|llvm_shutdown"
)


# A note of MLIR's reader about refused bytecode. The reader may have written outside of its memory before. So a later
# crash, at the latest at the end of the process, is not ours.
REFUSED_BYTECODE = "note: in bytecode version "


def read_corpus(folder: Path) -> list[str]:
    """The programs of the tests, without comments."""
    programs: list[str] = []
    for path in sorted(folder.rglob("*.mlir")):
        for part in re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE):
            lines = [line for line in part.splitlines() if line.strip() and not line.lstrip().startswith("//")]
            programs += [program for program in split_functions(lines) if program.count("\n") < 200]
    return programs


def split_functions(lines: list[str]) -> list[str]:
    """Each function as one program, if no function names another one; else the whole file."""
    whole = "\n".join(lines) + "\n"
    starts = [number for number, line in enumerate(lines) if line.startswith("func.func")]
    if not starts or starts[0] != 0 or re.search(r"(?<!func )(?<!private )@\w", whole):
        return [whole] if lines else []
    ends = [*starts[1:], len(lines)]
    return ["\n".join(lines[start:end]) + "\n" for start, end in zip(starts, ends, strict=True)]


class Mutator:
    """Exchanges parts of programs for others of the same kind."""

    def __init__(self, programs: list[str], rng: random.Random) -> None:
        self.programs = programs
        self.rng = rng
        self.operations = sorted({name for program in programs for name in OPERATION.findall(program)})
        self.tensors = sorted({name for program in programs for name in TENSOR.findall(program)})
        self.lines = sorted(
            {
                line
                for program in programs
                for line in program.splitlines()
                if re.search(r" = \"?(?:array|stablehlo)\.", line)
            }
        )
        self.tokens = sorted({token for program in programs for token in TOKEN.findall(program) if not token.isspace()})

    def tensor(self) -> str:
        rng = self.rng
        if rng.random() < 0.5:
            return rng.choice(self.tensors)
        return f"tensor<{rng.choice(SHAPES)}{rng.choice(ELEMENTS)}>"

    def one_match(self, text: str, pattern: re.Pattern[str], replacement: str) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        match = self.rng.choice(found)
        # If a part changes at all its places, the program is often still valid.
        if self.rng.random() < 0.8:
            return text.replace(match[0], replacement)
        return text[: match.start()] + replacement + text[match.end() :]

    def change_tensor(self, text: str) -> str:
        return self.one_match(text, TENSOR, self.tensor())

    def change_operation(self, text: str) -> str:
        return self.one_match(text, OPERATION, self.rng.choice(self.operations))

    def change_number(self, text: str) -> str:
        return self.one_match(text, re.compile(r"(?<![\w.])-?\d+(?![\w.])"), self.rng.choice(NUMBERS))

    def change_attribute(self, text: str) -> str:
        found = list(ATTRIBUTE.finditer(text))
        if not found:
            return text
        match = self.rng.choice(found)
        return text[: match.start(1)] + self.rng.choice(ATTRIBUTES) + text[match.end(1) :]

    def change_size(self, text: str) -> str:
        size = self.rng.choice(["0", "1", "2", "3", "5", "17", "?"])
        return self.one_match(text, re.compile(r"(?<=[<x])(?:\d+|\?)(?=x)"), size)

    def change_element(self, text: str) -> str:
        return self.one_match(text, re.compile(r"\b(?:[fiu]|bf|ui)\d+\b"), self.rng.choice(ELEMENTS))

    def change_token(self, text: str) -> str:
        tokens = TOKEN.findall(text)
        place = self.rng.randrange(len(tokens))
        kind = self.rng.randrange(4)
        if kind == 0:
            del tokens[place]
        elif kind == 1:
            tokens.insert(place, tokens[place])
        elif kind == 2:
            tokens[place] = self.rng.choice(self.tokens)
        else:
            other = self.rng.randrange(len(tokens))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        return "".join(tokens)

    def change_value(self, text: str) -> str:
        values = re.findall(r"%\w+", text)
        return self.one_match(text, re.compile(r"%\w+"), self.rng.choice(values)) if values else text

    def change_line(self, text: str) -> str:
        lines = text.splitlines()
        place = self.rng.randrange(len(lines))
        kind = self.rng.randrange(3)
        if kind == 0:
            del lines[place]
        elif kind == 1:
            lines.insert(place, lines[self.rng.randrange(len(lines))])
        else:
            lines.insert(place, self.rng.choice(self.lines))
        return "\n".join(lines) + "\n"

    def change_bytes(self, text: str) -> str:
        place = self.rng.randrange(len(text))
        return text[:place] + chr(self.rng.choice([0, 9, 34, 37, 40, 60, 62, 92, 127, 233])) + text[place + 1 :]

    def text(self) -> str:
        program = self.rng.choice(self.programs)
        changes = [self.change_tensor, self.change_operation, self.change_number, self.change_size, self.change_element]
        changes += [self.change_size, self.change_value, self.change_token, self.change_line, self.change_attribute]
        if self.rng.random() < 0.05:
            changes = [self.change_bytes]
        for _ in range(self.rng.choice([0, 1, 1, 1, 1, 2, 2, 4])):
            if program.strip():
                program = self.rng.choice(changes)(program)
        return program.replace("// -----", "")

    def bytecode(self, code: bytes) -> bytes:
        changed = bytearray(code)
        for _ in range(self.rng.choice([1, 1, 2, 4, 16])):
            place = self.rng.randrange(len(changed))
            kind = self.rng.randrange(4)
            if kind == 0:
                changed[place] = self.rng.randrange(256)
            elif kind == 1:
                changed[place] ^= 1 << self.rng.randrange(8)
            elif kind == 2:
                changed[place:place] = self.rng.randbytes(self.rng.randrange(1, 5))
            else:
                del changed[place : place + self.rng.randrange(1, 9)]
        return bytes(changed)


def with_main(program: str, mode: Mode) -> str:
    """The program for a pipeline, with its first function as @main, which pipelines compile, and with sizes. A run uses
    the program's own sizes."""
    runs = mode.tool == "array-run"
    if not runs and not any(argument.startswith("--array-to-") for argument in mode.arguments):
        return program
    if "@main" not in program:
        program = re.sub(r"func\.func( private)? @\w+", "func.func @main", program, count=1)
    return program if runs else re.sub(r"(?<=[<x])\?(?=x)", "4", program)


def run_arguments(program: str, rng: random.Random) -> list[str]:
    """The inputs and the sizes for a run of @main. Their numbers often differ from those of the program."""
    head = re.search(r"@main\((.*?)\)\s*(?:->|attributes|\{)", program, re.DOTALL)
    words = ["fill:1", "fill:0", "random", "fill:-1", "fill:1000000000", "[1, 2]", "3"]
    inputs = [f"--input={rng.choice(words)}" for _ in range(head[1].count("%") if head else 1)]
    symbols = max(
        head[1].count("?x") if head else 0, *(int(n) + 1 for n in re.findall(r"array\.symbol (\d+)", program)), 0
    )
    sizes = [str(rng.choice([0, 1, 2, 3, 4, 5, 8, 17, 1000, 1 << 32, 1 << 62])) for _ in range(min(symbols, 8))]
    return inputs + ([f"--sizes={','.join(sizes)}"] if sizes else [])


# Loads an exported function from the file in the first argument. Without an argument, writes the original file.
LOADING = """
import sys
import pycompiler as pc, pycompiler.numpy as pnp
from pycompiler import export
from pycompiler._compiler import ir
if len(sys.argv) == 1:
    n = pc.Dim("n", max=64)
    f = lambda a, b: {"y": (a["x"] * pnp.float32([2, 3, 4]) + b).sum(0)}
    given = {"x": pc.ShapeDtypeStruct((n, 3), pnp.float32)}, pc.ShapeDtypeStruct((), pnp.float32)
    sys.stdout.buffer.write(export.export(f)(*given).serialize())
    sys.exit(0)
try:
    loaded = export.deserialize(open(sys.argv[1], "rb").read())
    loaded.call({"x": pnp.ones((5, 3))}, 1.0)
except (export.DeserializationError, ValueError, TypeError, NotImplementedError, ir.MLIRError) as error:
    # The error of a call with other arguments. A raw error of the reader has another message.
    is_told = isinstance(error, export.DeserializationError) or "call: " in str(error) or "<lambda>" in str(error)
    sys.exit(1 if is_told else 3)
"""


class ExportMutator:
    """Exchanges parts of the description of an exported function, with a correct checksum."""

    OTHERS = (
        None,
        True,
        -1,
        3,
        2**63,
        1.5,
        "",
        "*",
        "n",
        "n*n*n",
        "2**9**9",
        [],
        ["*"],
        [0, 2**62],
        {},
        {"tuple": ["*"]},
    )

    def __init__(self, blob: bytes, rng: random.Random) -> None:
        self.blob, self.rng = blob, rng

    def file(self) -> bytes:
        head = struct.Struct("<8sIIQ32s")
        magic, form, size, sections, version = head.unpack_from(self.blob)
        start = head.size + 32
        description = json.loads(self.blob[start : start + size])
        behind = bytearray(self.blob[start + size :])
        chance = self.rng.random()
        if chance < 0.2:
            behind[self.rng.randrange(len(behind))] = self.rng.randrange(256)
        elif chance < 0.5:  # the module, the input of MLIR's reader
            offset, size = description["functions"][0]["module"]
            for _ in range(self.rng.choice([1, 1, 2, 4])):
                behind[offset + self.rng.randrange(size)] = self.rng.randrange(256)
        else:
            self.change(description)
        body = json.dumps(description).encode()
        made = head.pack(magic, form, len(body), sections, version)
        return made + hashlib.blake2b(made + body + bytes(behind), digest_size=32).digest() + body + bytes(behind)

    def change(self, whole: Any) -> None:
        holder = whole
        while True:
            keys: list[Any] = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                return
            key = self.rng.choice(keys)
            if isinstance(holder[key], (dict, list)) and self.rng.random() < 0.8:
                holder = holder[key]
                continue
            if self.rng.random() < 0.1:
                del holder[key]
            else:
                holder[key] = self.rng.choice(self.OTHERS)
            return


@dataclass
class Ended:
    """The end of a run of a tool. `why` is empty if the tool answered."""

    why: str
    frames: list[str] = field(default_factory=list)
    accepted: int = 0
    status: int | None = None
    told: str = ""

    @property
    def signature(self) -> str:
        return " < ".join([self.why, *self.frames[:3]])

    @property
    def is_ours(self) -> bool:
        """Whether the crash is not due to MLIR's readers and printers, or to memory corrupted by them. MLIR's passes
        count as ours, because pipelines of this project give them their input."""
        if not self.frames:
            return REFUSED_BYTECODE not in self.told
        if "array::" in self.frames[0]:
            return True
        for frame in self.frames:
            if READING.search(frame):
                return False
            if "array::" in frame:
                return True
        return True


def read_frames(trace: str) -> list[str]:
    """The functions of a stack trace, the innermost first, up to the pass manager."""
    frames: list[str] = []
    for line in trace.splitlines():
        match = re.match(r"\s*#\d+ 0x[0-9a-f]+ (.*)", line)
        if not match:
            continue
        name = re.sub(r" (?:\(|/)\S*$|\(.*$", "", match[1]).strip()
        if "SignalHandler" in name or "PrintStackTrace" in name or not re.match(r"[\w:<>~, ]+$", name):
            continue
        if "OpToOpPassAdaptor" in name or "MlirOptMain" in name:
            break
        frames.append(name)
    return frames[:12]


class Fuzzer:
    def __init__(self, tool: Path, kept: Path) -> None:
        self.tool = tool
        self.kept = kept
        kept.mkdir(parents=True, exist_ok=True)

    def path_of(self, tool: str) -> Path:
        """The path of a tool: all tools are in one folder."""
        return self.tool if tool == "array-opt" else self.tool.parent / tool

    def has(self, mode: Mode) -> bool:
        return mode.tool in ("array-opt", "exports") or os.access(self.path_of(mode.tool), os.X_OK)

    def command(self, mode: Mode) -> list[str]:
        """The command, without the file."""
        return [sys.executable, "-c", LOADING] if mode.tool == "exports" else [str(self.path_of(mode.tool))]

    def run(self, code: bytes, arguments: Sequence[str], seconds: float, mode: Mode = MODES[0]) -> Ended:
        with tempfile.NamedTemporaryFile(suffix=".mlir") as file:
            file.write(code)
            file.flush()
            # `preexec_fn` would make Python copy this process's page tables, and the tests' process is large.
            command = ["prlimit", f"--as={MEMORY}", "--core=0", *self.command(mode), file.name, *arguments]
            if mode.tool == "array-opt":
                command.append("--mlir-disable-threading")
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                try:
                    printed, told = process.communicate(timeout=seconds)
                    why = ""
                except subprocess.TimeoutExpired:
                    why = f"takes more than {seconds:.0f} s"
                    # With this signal, the process prints a stack trace.
                    process.send_signal(signal.SIGABRT)
                    printed, told = process.communicate()
        trace = told.decode(errors="replace")
        if why and mode.tool == "array-run" and not any("mlir::" in frame for frame in read_frames(trace)):
            return Ended("")  # the program itself does not end
        if not why and process.returncode in (0, 1):
            return Ended("", accepted=printed.count(b"module"), status=process.returncode, told=trace)
        if "out of memory" in trace.lower() or "bad_alloc" in trace:
            why = "out of memory"
        if why:
            return Ended(why, read_frames(trace))
        name = (
            signal.Signals(-process.returncode).name if process.returncode < 0 else f"exit status {process.returncode}"
        )
        return Ended(name, read_frames(trace), told=trace)

    def keep(self, code: bytes, arguments: Sequence[str], ended: Ended, mode: Mode) -> Path:
        name = hashlib.sha1(ended.signature.encode()).hexdigest()[:10]
        kind = ".pcx" if mode.tool == "exports" else ".mlirbc" if code.startswith(b"ML\xefR") else ".mlir"
        path = self.kept / (name + kind)
        path.write_bytes(code)
        command = shlex.join([*self.command(mode), str(path), *arguments])
        (self.kept / f"{name}.txt").write_text("\n".join([command, ended.why, *ended.frames]) + "\n")
        return path


def exported_function() -> bytes:
    """The original file; empty if the package can't be loaded."""
    made = subprocess.run([sys.executable, "-c", LOADING], stdout=subprocess.PIPE, check=False)
    return made.stdout if made.returncode == 0 else b""


def fuzz(
    fuzzer: Fuzzer, seconds: float, seed: int, modes: Sequence[Mode] = MODES, batches: int | None = None
) -> dict[str, Ended]:
    """The kinds of crashes, found in about `seconds`, or in a number of whole batches of any duration."""
    corpora = {mode.corpus: read_corpus(ROOT / "tests" / "lit" / mode.corpus) for mode in modes if not mode.is_drawn}
    exported = exported_function() if any(mode.tool == "exports" for mode in modes) else b""
    usable = [mode for mode in modes if fuzzer.has(mode) and (mode.tool != "exports" or exported)]
    deadline = time.monotonic() + seconds if batches is None else math.inf
    counts: Counter[str] = Counter()
    found: dict[str, Ended] = {}

    def note(code: bytes, arguments: Sequence[str], ended: Ended, mode: Mode) -> None:
        counts["crashes"] += 1
        if ended.signature not in found:
            found[ended.signature] = ended
            path = fuzzer.keep(code, arguments, ended, mode)
            print(
                f"{'array' if ended.is_ours else 'MLIR'}: {ended.signature}: {path} {' '.join(arguments)}", flush=True
            )

    batch = 0
    while time.monotonic() < deadline and batch != batches:
        rng = random.Random(f"{seed}/{batch}")
        batch += 1
        mode = rng.choices(usable, [mode.weight for mode in usable])[0]
        if mode.is_drawn:
            for _ in range(BATCH):
                drawn = DRAWN[mode.corpus].draw(rng)
                code = drawn.text.encode()
                ended = fuzzer.run(code, drawn.options, SECONDS_OF_ONE, mode)
                counts["sizes"] += 1
                objection = ended.why
                if ended.status is not None:
                    objection = drawn.objection(ended.status, ended.told)
                if objection:
                    note(code, drawn.options, Ended(objection, ended.frames or [ended.told[:200]]), mode)
                if time.monotonic() > deadline:
                    break
            continue
        programs, arguments = corpora[mode.corpus], mode.arguments
        mutator = Mutator(programs, rng)
        if mode.tool != "array-opt":
            for _ in range(BATCH):
                if mode.tool == "exports":
                    code, given = ExportMutator(exported, rng).file(), list[str]()
                else:
                    text = with_main(mutator.text(), mode)
                    code = text.encode()
                    given = [*arguments, *(run_arguments(text, rng) if mode.tool == "array-run" else [])]
                ended = fuzzer.run(code, given, SECONDS_OF_ONE, mode)
                counts[mode.tool] += 1
                if ended.why:
                    note(code, given, ended, mode)
                if time.monotonic() > deadline:
                    break
            continue
        # Most crashes of the bytecode reader are in MLIR.
        if batch % 4:
            texts = [with_main(mutator.text(), mode) for _ in range(BATCH)]
            joined = SEPARATOR.join(texts).encode()
            ended = fuzzer.run(joined, [*arguments, "--split-input-file"], SECONDS_OF_ONE * 3)
            counts["texts"] += BATCH
            counts["accepted"] += ended.accepted
            if ended.why:
                for text in texts:
                    alone = fuzzer.run(text.encode(), arguments, SECONDS_OF_ONE)
                    if alone.why:
                        note(text.encode(), arguments, alone, mode)
            continue
        source = mutator.rng.choice(programs).encode()
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "code"
            fuzzer.run(source, ["--emit-bytecode", "-o", str(written)], SECONDS_OF_ONE)
            code = written.read_bytes() if written.exists() else b""
        for _ in range(BATCH if code else 0):
            changed = mutator.bytecode(code)
            ended = fuzzer.run(changed, arguments, SECONDS_OF_ONE)
            counts["bytecodes"] += 1
            counts["accepted"] += ended.accepted
            if ended.why:
                note(changed, arguments, ended, mode)
    ours = sum(ended.is_ours for ended in found.values())
    print(
        f"seed {seed}: {counts['texts']} texts and {counts['bytecodes']} bytecode files, of which {counts['accepted']} "
        f"were accepted; {counts['array-run']} runs, {counts['sizes']} of drawn sizes, "
        f"{counts['array-translate']} translations, {counts['exports']} exported files; "
        f"{counts['crashes']} crashes of {len(found)} kinds, {ours} of them in this project's code"
    )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "bin" / "array-opt")
    given = parser.parse_args()
    if not os.access(given.tool, os.X_OK):
        print(f"fuzz: there is no {given.tool}: build it (make build), or name it by --tool", file=sys.stderr)
        return 2
    found = fuzz(Fuzzer(given.tool, ROOT / "build" / "fuzz"), given.seconds, given.seed)
    return 1 if any(ended.is_ours for ended in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
