from __future__ import annotations

from analyzer.cuda import ptx
from analyzer.cuda.source import read


def found(code: str) -> list[ptx.Instruction]:
    active = read(code.encode()).active()
    return list(ptx.instructions(active.text, active.code, 0, len(active.code)))


def opcodes(code: str) -> list[str]:
    return [instruction.opcode for instruction in found(code)]


def test_an_instruction_has_words_and_marks_of_its_operands() -> None:
    (only,) = found('asm volatile("cp.async.bulk.wait_group.read %0;\\n" ::"n"(Count) : "memory");')
    assert only.words == ("cp", "async", "bulk", "wait_group", "read")
    assert only.operands == ("#1", "#n")


def test_vectors_and_addresses_are_one_operand() -> None:
    (only,) = found('asm("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a) : "l"(p));')
    assert only.operands == ("#2",)


def test_directives_labels_scopes_and_predicates_are_no_instructions() -> None:
    code = r"""
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "LAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@p bra DONE;\n"
        "bra LAB_WAIT;\n"
        "DONE:\n"
        "}\n" ::"r"(a), "r"(b));
    """
    assert opcodes(code) == ["mbarrier.try_wait.parity.shared::cta.b64", "bra", "bra"]


def test_special_registers_are_marks() -> None:
    (only,) = found('asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));')
    assert "%cluster_ctarank" in only.operands
    (plain,) = found('asm("mov.u32 %0, %laneid;" : "=r"(lane));')
    assert "%laneid" in plain.operands


def test_a_macro_between_strings_leaves_a_hole() -> None:
    (only,) = found('asm volatile("ld.relaxed." SCOPE ".global.u32 %0, [%1];" : "=r"(x) : "l"(p));')
    assert not only.complete
    (other,) = found('asm volatile("griddepcontrol" ".wait;" ::: "memory");')
    assert other.complete
    assert other.opcode == "griddepcontrol.wait"


def test_comments_in_the_assembly_and_around_it_say_nothing() -> None:
    code = 'asm("// wgmma.fence\\n add.s32 %0, %1, 1; /* trap; */" : "=r"(a) : "r"(b)); // asm("trap;");'
    assert opcodes(code) == ["add.s32"]


def test_raw_strings_and_other_spellings_of_asm() -> None:
    assert opcodes('__asm__ __volatile__(R"(wgmma.fence.sync.aligned;)");') == ["wgmma.fence.sync.aligned"]
    assert opcodes('asm inline ("trap;");') == ["trap"]


def test_the_place_is_that_of_the_string() -> None:
    code = 'void f() {\n  asm volatile("{\\n"\n    "trap;\\n"\n    "}");\n}\n'
    (only,) = found(code)
    assert code[: only.at].count("\n") + 1 == 3


def test_a_string_is_no_statement() -> None:
    assert opcodes('const char* text = "asm(\\"trap;\\")";') == []
