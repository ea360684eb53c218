"""The walk of a unit for several configurations: masks of lines, branches, provenance, what is unknown."""

from __future__ import annotations

import pytest

from analyzer.archs import Spelling
from analyzer.cuda import passes
from analyzer.cuda.preprocess import Branch, Configuration, FileActivity, Memory, Unit, walk
from tests.cuda.tree import Tree

#: Bits 1, 2, 4.
ARCHS = tuple(Configuration(str(arch), {"__CUDA_ARCH__": str(arch)}) for arch in (800, 900, 1200))


def run(
    files: dict[str, str] | str,
    *,
    dirs: tuple[str, ...] = ("inc",),
    configurations: tuple[Configuration, ...] = ARCHS,
    implicit: tuple[str, ...] = (),
    memory: Memory | None = None,
) -> Unit:
    sources = Tree({"a.cu": files} if isinstance(files, str) else files)
    return walk("a.cu", sources, dirs, configurations, implicit=implicit, memory=memory)


def marks(unit: Unit, files: dict[str, str] | str) -> dict[str, int]:
    """The mask of each line that is a single word; unknown masks are negative."""
    found = {}
    texts = {"a.cu": files} if isinstance(files, str) else files
    for path, activity in unit.files.items():
        for number, line in enumerate(texts[path].splitlines(), 1):
            if line.isidentifier():
                unknown = activity.unknown(number)
                found[line] = -unknown if unknown else activity.active(number)
    return found


def masks(files: dict[str, str] | str, **options: object) -> dict[str, int]:
    return marks(run(files, **options), files)  # type: ignore[arg-type]


def branches(files: dict[str, str] | str, path: str = "a.cu", **options: object) -> tuple[Branch, ...]:
    return run(files, **options).files[path].branches  # type: ignore[arg-type]


def test_a_condition_splits_the_mask_and_endif_joins_it() -> None:
    text = "a\n#if __CUDA_ARCH__ >= 900\nb\n#if __CUDA_ARCH__ < 1200\nc\n#endif\n#else\nd\n#endif\ne\n"
    assert masks(text) == {"a": 7, "b": 6, "c": 2, "d": 1, "e": 7}


def test_each_elif_gets_what_earlier_branches_left() -> None:
    text = "#if __CUDA_ARCH__ == 900\na\n#elif __CUDA_ARCH__ >= 900\nb\n#elif 1\nc\n#else\nd\n#endif\n"
    assert masks(text) == {"a": 2, "b": 4, "c": 1, "d": 0}


def test_elifdef() -> None:
    text = "#ifdef A\na\n#elifdef __CUDA_ARCH__\nb\n#elifndef A\nc\n#endif\n"
    assert masks(text) == {"a": 0, "b": 7, "c": 0}


def test_a_macro_holds_one_definition_for_each_mask() -> None:
    text = """#if __CUDA_ARCH__ >= 900
#define LEVEL 2
#else
#define LEVEL 1
#endif
#if LEVEL == 2
a
#endif
#if __CUDA_ARCH__ == 1200
#undef LEVEL
#endif
#ifdef LEVEL
b
#endif
"""
    assert masks(text) == {"a": 6, "b": 3}


def test_order_counts() -> None:
    text = "#ifdef LATE\na\n#endif\n#define LATE\n#ifdef LATE\nb\n#endif\n"
    assert masks(text) == {"a": 0, "b": 7}


def test_chains_of_derived_macros() -> None:
    text = """#define HAS(x) ARCH_##x##_OK
#if __CUDA_ARCH__ >= 900
#define ARCH_TMA
#endif
#ifdef ARCH_TMA
#define ARCH_TMA_OK 1
#endif
#if HAS(TMA)
a
#endif
"""
    unit = run(text)
    assert marks(unit, text) == {"a": 6}
    last = unit.files["a.cu"].branches[-1]
    assert last.arch_dependent
    assert [(s.line, s.what) for s in last.because] == [
        (1, "defines HAS"),
        (6, "defines ARCH_TMA_OK as 1"),
        (5, "only under #ifdef ARCH_TMA"),
        (3, "defines ARCH_TMA"),
        (2, "only under #if __CUDA_ARCH__ >= 900"),
        (2, "reads __CUDA_ARCH__, which the compiler or a -D flag defines"),
    ]


def test_arch_dependence_is_by_provenance() -> None:
    text = """#ifdef DEBUG
#endif
#if __CUDA_ARCH__ < 700
#define OLD
#endif
#ifdef OLD
#endif
#define SAME 1
#if SAME
#elif __CUDA_ARCH__ > 1
#endif
#if SAME && __CUDA_ARCH__
#elif 1
#else
#endif
#define OLD
#ifdef OLD
#endif
"""
    dependent = [b.line for b in branches(text) if b.arch_dependent]
    assert dependent == [3, 6, 12, 13, 14]


def test_a_compiler_macro_that_no_configuration_has_is_still_a_door() -> None:
    (branch,) = branches("#ifdef __CUDA_ARCH_FEAT_SM101_ALL\n#endif\n")
    assert branch.arch_dependent
    assert [s.what for s in branch.because] == [
        "reads __CUDA_ARCH_FEAT_SM101_ALL, which the compiler does not define"
    ]


def test_a_flag_that_differs_between_configurations_is_a_door() -> None:
    two = (Configuration("a", {"FAST": "1"}), Configuration("b", {}))
    (branch,) = branches("#ifdef FAST\n#endif\n", configurations=two)
    assert (branch.active, branch.arch_dependent) == (1, True)


def test_the_outcome_of_a_skipped_definition_is_explained() -> None:
    text = "#if __CUDA_ARCH__ >= 9999\n#define NEW\n#endif\n#ifdef NEW\n#endif\n"
    steps = [(s.line, s.what) for s in branches(text)[-1].because]
    assert steps == [
        (2, "would define or undefine NEW"),
        (1, "only under #if __CUDA_ARCH__ >= 9999"),
        (1, "reads __CUDA_ARCH__, which the compiler or a -D flag defines"),
    ]


def test_branch_places() -> None:
    text = "x\n  #if A && \\\n   B /* c */\n\n#else\n#endif\n"
    first, second = branches(text)
    assert (first.line, first.end_line, first.column, first.block_end, first.group) == (2, 3, 3, 4, 2)
    assert (first.kind, first.condition) == ("if", "A && B")
    assert (second.line, second.kind, second.condition, second.group) == (5, "else", "", 2)


def test_enclosing_mask() -> None:
    text = "#if __CUDA_ARCH__ >= 900\n#if __CUDA_ARCH__ >= 1200\n#endif\n#elif 1\n#endif\n"
    assert [(b.enclosing, b.active) for b in branches(text)] == [(7, 6), (6, 4), (7, 1)]


# Includes.


def test_includes_carry_the_mask_and_files_keep_their_order() -> None:
    files = {
        "a.cu": '#include <z.h>\n#if __CUDA_ARCH__ >= 900\n#include "sub/b.h"\n#endif\n#ifdef B\nx\n#endif\n',
        "inc/z.h": "z\n",
        "sub/b.h": '#include "c.h"\n#define B\n',
        "sub/c.h": "c\n",
    }
    unit = run(files)
    assert list(unit.files) == ["a.cu", "inc/z.h", "sub/b.h", "sub/c.h"]
    assert marks(unit, files) == {"z": 7, "c": 6, "x": 6}


def test_a_file_included_again_has_the_union_of_masks() -> None:
    files = {
        "a.cu": "#if __CUDA_ARCH__ == 800\n#include <x.h>\n#endif\n#define TWO\n#include <x.h>\n",
        "inc/x.h": "x\n#ifdef TWO\ny\n#else\nz\n#endif\n",
    }
    assert masks(files) == {"x": 7, "y": 7, "z": 1}


@pytest.mark.parametrize(("head", "tail"), [("#pragma once", ""), ("#ifndef X_H\n#define X_H", "#endif")])
def test_a_guarded_file_is_entered_once_for_each_configuration(head: str, tail: str) -> None:
    files = {
        "a.cu": "#if __CUDA_ARCH__ == 800\n#include <x.h>\n#endif\n#define SEEN\n" + "#include <x.h>\n" * 2,
        "inc/x.h": f"{head}\n#ifdef SEEN\nlater\n#else\nfirst\n#endif\n{tail}\n",
    }
    assert masks(files) == {"later": 6, "first": 1}


def test_two_files_with_one_guard() -> None:
    guarded = "#ifndef SAME_H\n#define SAME_H\n{}\n#endif\n{}\n"
    files = {
        "a.cu": "#include <x.h>\n#include <y.h>\n",
        "inc/x.h": guarded.format("a", "b"),
        "inc/y.h": guarded.format("c", "d"),
    }
    assert masks(files) == {"a": 7, "b": 7, "c": 0, "d": 7}


def test_the_including_folder_comes_first_for_quotes_only() -> None:
    files = {
        "a.cu": "#include <lib/b.h>\n",
        "inc/lib/b.h": '#include "c.h"\n#include <c.h>\n#include "../up.h"\n',
        "inc/lib/c.h": "near\n",
        "inc/c.h": "far\n",
        "inc/up.h": "up\n",
    }
    assert masks(files) == {"near": 7, "far": 7, "up": 7}


def test_include_next_goes_on_behind_the_folder_of_the_file() -> None:
    files = {"a.cu": "#include <x.h>\n", "inc/x.h": "#include_next <x.h>\nmine\n", "sys/x.h": "theirs\n"}
    assert masks(files, dirs=("inc", "sys")) == {"mine": 7, "theirs": 7}


def test_an_include_of_a_macro_follows_each_configuration() -> None:
    files = {
        "a.cu": """#define IN(x) <x>
#if __CUDA_ARCH__ >= 900
#define NAME IN(new.h)
#else
#define NAME "old.h"
#endif
#include NAME
""",
        "inc/new.h": "new\n",
        "old.h": "old\n",
    }
    assert masks(files) == {"new": 6, "old": 1}


def test_has_include_asks_the_tree_the_system_and_else_does_not_know() -> None:
    files = {
        "a.cu": """#if __has_include(<x.h>)
a
#endif
#if __has_include("x.h")
b
#endif
#if __has_include(<vector>)
c
#endif
#if __has_include(<windows.h>)
d
#endif
#if __has_include(<foreign/lib.h>)
e
#endif
""",
        "inc/x.h": "",
    }
    assert masks(files) == {"a": 7, "b": 7, "c": 7, "d": 0, "e": -7}


def test_has_include_in_quotes_depends_on_the_asking_file() -> None:
    ask = '#if __has_include("near.h")\n{}\n#endif\n'
    files = {
        "a.cu": ask.format("here") + "#include <lib/x.h>\n",
        "inc/lib/x.h": ask.format("there"),
        "inc/lib/near.h": "",
    }
    assert masks(files) == {"here": -7, "there": 7}


def test_a_file_that_includes_itself_comes_to_an_end() -> None:
    unit = run('x\n#include "a.cu"\n')
    assert unit.missing[0].header == "a.cu"


# What is not known.

MISSING = "#include <foreign/lib.h>\n"


def test_a_missing_header_is_told() -> None:
    unit = run(f"#if __CUDA_ARCH__ >= 900\n{MISSING}#endif\n")
    assert [(m.file, m.line, m.header, m.mask) for m in unit.missing] == [("a.cu", 2, "foreign/lib.h", 6)]


def test_a_missing_header_may_define_any_name_that_nobody_defined() -> None:
    text = f"{MISSING}#ifdef THEIRS\na\n#else\nb\n#endif\n"
    assert masks(text) == {"a": -7, "b": -7}
    assert "foreign/lib.h" in branches(text)[0].reason


def test_only_where_it_is_included() -> None:
    text = f"#if __CUDA_ARCH__ >= 900\n{MISSING}#endif\n#ifdef THEIRS\na\n#else\nb\n#endif\n"
    unit = run(text)
    assert (unit.files["a.cu"].active(7), unit.files["a.cu"].unknown(7)) == (1, 6)


def test_a_default_behind_a_missing_header_is_unknown() -> None:
    text = f"{MISSING}#ifndef LEVEL\n#define LEVEL 0\n#endif\n#if LEVEL == 1\na\n#endif\n"
    assert masks(text) == {"a": -7}


def test_a_missing_header_cannot_define_what_is_the_tree_s_or_the_compiler_s() -> None:
    text = f"""#if __CUDA_ARCH__ >= 900
#define OURS
#endif
#if 0
#define SKIPPED
#endif
{MISSING}#ifdef OURS
a
#endif
#ifdef SKIPPED
b
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
c
#endif
#ifdef __clang__
d
#endif
"""
    assert masks(text) == {"a": 6, "b": 0, "c": 0, "d": 0}


def test_a_missing_header_leaves_include_guards_alone() -> None:
    files = {"a.cu": f"{MISSING}#include <x.h>\n", "inc/x.h": "#ifndef X_H\n#define X_H\nx\n#endif\n"}
    assert masks(files) == {"x": 7}


def test_unknown_conditions_leave_their_group_unknown() -> None:
    text = f"""{MISSING}#if __CUDA_ARCH__ == 800
a
#elif THEIRS
b
#if 0
c
#endif
#elif __CUDA_ARCH__ == 900
d
#else
e
#endif
f
"""
    assert masks(text) == {"a": 1, "b": -6, "c": 0, "d": -2, "e": -4, "f": 7}


def test_a_definition_under_an_unknown_condition_is_unknown_until_redefined() -> None:
    text = f"""{MISSING}#if THEIRS
#define X 1
#endif
#ifdef X
a
#endif
#define X 2
#if X == 2
b
#endif
#if THEIRS
#undef X
#endif
#ifdef X
c
#endif
"""
    assert masks(text) == {"a": -7, "b": 7, "c": -7}


def test_a_guarded_file_included_under_a_doubt_and_then_for_certain_is_certain() -> None:
    files = {
        "a.cu": f"{MISSING}#if THEIRS\n#include <x.h>\n#endif\n#include <x.h>\n#include <y.h>\n",
        "inc/x.h": "#pragma once\n#include <y.h>\nx\n",
        "inc/y.h": "#ifndef Y_H\n#define Y_H\n#endif\ny\n",
    }
    unit = run(files)
    assert marks(unit, files) == {"x": 7, "y": 7}


def test_mutual_includes_under_a_doubt_come_to_an_end() -> None:
    both = "#include <x.h>\n#include <y.h>\n" * 3
    files = {
        "a.cu": f"{MISSING}#if THEIRS\n{both}#endif\n",
        "inc/x.h": f"#pragma once\n{both}x\n",
        "inc/y.h": f"#ifndef Y_H\n#define Y_H\n{both}y\n#endif\n",
    }
    assert masks(files) == {"x": -7, "y": -7}


def test_a_storm_of_includes_is_cut_off() -> None:
    files = {
        "a.cu": f"{MISSING}#include <x.h>\n",
        "inc/x.h": "#if THEIRS\n" + "#include <x.h>\n" * 3 + "#endif\n",
    }
    assert any(m.file == "inc/x.h" for m in run(files).missing)


def test_a_malformed_condition_is_unknown_with_its_reason() -> None:
    (branch,) = branches("#if __CUDA_ARCH__ >=\n#endif\n")
    assert (branch.active, branch.unknown) == (0, 7)
    assert branch.reason == "malformed condition: it ends early"


def test_unclosed_and_stray_directives_do_no_harm() -> None:
    assert masks("#endif\n#else\na\n#if 0\nb\n") == {"a": 7, "b": 0}


def test_the_unit_must_be_readable() -> None:
    with pytest.raises(FileNotFoundError):
        walk("none.cu", Tree({}), (), ARCHS)


# Results.


def activity(text: str) -> FileActivity:
    return run(text).files["a.cu"]


def test_runs_cover_every_line_without_gap() -> None:
    runs = activity("a\n#if __CUDA_ARCH__ >= 900\nb\n\n#else\nc\n#endif\n").runs
    assert [(r.line, r.end_line, r.active) for r in runs] == [
        (1, 2, 7),
        (3, 4, 6),
        (5, 5, 7),
        (6, 6, 1),
        (7, 7, 7),
    ]


def test_error_lines() -> None:
    errors = activity(
        '#if __CUDA_ARCH__ < 900\n#error "too old"\n#endif\n#if 0\n#error never\n#endif\n'
    ).errors
    assert [(e.line, e.text, e.active, e.unknown) for e in errors] == [(2, "too old", 1, 0)]


def test_labels() -> None:
    assert run("").labels(5) == ("800", "1200")


def test_equal_activity_has_equal_keys_in_any_unit() -> None:
    files = {"a.cu": "#include <x.h>\n", "inc/x.h": "#if __CUDA_ARCH__ > 800\n#endif\n"}
    other = {**files, "a.cu": "#define Y\n#include <x.h>\n"}
    less = {**files, "a.cu": "#if __CUDA_ARCH__ > 900\n#include <x.h>\n#endif\n"}
    keys = [run(tree).files["inc/x.h"].key for tree in (files, other, less)]
    assert keys[0] == keys[1] != keys[2]


def test_a_shared_memory_changes_nothing() -> None:
    body = "#if N == 1 && __CUDA_ARCH__ > 800\na\n#endif\n#ifdef M\nb\n#endif\n"
    tree = {"a.cu": f"#define N 1\n{body}", "b.cu": f"#define N 2\n#define M\n{body}", "inc/x.h": body}
    tree["c.cu"] = "#define N 1\n#include <x.h>\n"
    sources, memory = Tree(tree), Memory()
    for path in ("a.cu", "b.cu", "c.cu", "a.cu"):
        shared = walk(path, sources, ("inc",), ARCHS, memory=memory)
        alone = walk(path, sources, ("inc",), ARCHS)
        assert [shared.files[f].runs for f in shared.files] == [alone.files[f].runs for f in alone.files]
        assert [b.because for f in shared.files.values() for b in f.branches] == [
            b.because for f in alone.files.values() for b in f.branches
        ]


def test_equal_activity_is_one_object_where_the_memory_is_shared() -> None:
    guard = "#if __CUDA_ARCH__ > LEVEL\n#endif\n"
    sources = Tree(
        {
            "a.cu": "#define LEVEL 800\n#include <x.h>\n",
            "b.cu": "#include <y.h>\n#include <x.h>\n",
            "c.cu": "#define LEVEL 700\n#include <x.h>\n",
            "inc/x.h": guard,
            "inc/y.h": "#define LEVEL 800\n",
        }
    )
    memory = Memory()
    units = [walk(path, sources, ("inc",), ARCHS, memory=memory) for path in ("a.cu", "b.cu", "c.cu", "a.cu")]
    first, other_place, other_value, again = (unit.files["inc/x.h"] for unit in units)
    assert first is again
    assert first is not other_value
    assert first is not other_place  # the masks are equal, the reasons are not
    assert first.key == other_place.key != other_value.key


def test_dependent_branches() -> None:
    text = "#if A\n#elif __CUDA_ARCH__ > 800\n#else\n#endif\n"
    assert [b.line for b in activity(text).dependent] == [2, 3]
    assert activity("#if A\n#endif\n").dependent == ()


# With the compiler's real passes.


def test_family_and_specific_macros_through_the_toolkit_s_own_macros() -> None:
    text = """#if __CUDA_ARCH_HAS_FEATURE__(SM120_ALL)
a
#endif
#if __CUDA_HAS_ARCH_SPECIFIC(120)
b
#endif
#if __CUDA_HAS_ARCH_FAMILY_SPECIFIC(120)
c
#endif
#if CUDART_VERSION >= 13000 && __CUDACC_VER_MAJOR__ == 13
d
#endif
#ifdef CUDA_VERSION
e
#endif
"""
    spelled = [Spelling.parse(s) for s in ("12.0", "12.0f", "12.0a", "12.1a", "10.0a")]
    configurations = tuple(passes.device_pass(s) for s in spelled)
    found = masks(text, configurations=configurations, implicit=("cuda_runtime.h",))
    assert found == {"a": 0b100, "b": 0b100, "c": 0b1110, "d": 0b11111, "e": 0}


def test_host_pass_beside_device_pass() -> None:
    text = "#ifdef __CUDA_ARCH__\na\n#else\nb\n#endif\n#if defined(__CUDA_ARCH_LIST__)\nc\n#endif\n"
    spelling = Spelling(120, "a")
    configurations = (passes.device_pass(spelling), passes.host_pass([spelling]))
    assert masks(text, configurations=configurations) == {"a": 1, "b": 2, "c": 3}
