"""Seeded damage to a description: what editors, exporters, transfers and jokers do to files."""

from __future__ import annotations

import random
import re

NUMBERS = (
    "nan", "inf", "-inf", "NaN", "1e400", "1e-400", "1e13", "-1e12", "1e308", "-0", "0", "1,5",
    "1_000", "0x1p3", "", " ", "+", ".", "1.2.3", "١٢", "１", "1\u00a02", "−1", "1e", "${x}",
    "$(arg x)", "None", "1 2 3", "1 2", "1e5", "0.5", "-3", "1;2", "1d0", "∞", "1/2", "'",
    "9" * 400, "1e-320", "&#10;1", "+1.", "\t2\t",
)  # fmt: skip
TEXTS = (
    "<!DOCTYPE robot>", "<!ENTITY a 'b'>", "&lol;", "&amp;", "&#0;", "&#x110000;",
    "<![CDATA[x]]>", "<!-- -->", "--", "<?xml version='1.0'?>", "]]>", "\x00", "\ufeff",
    "\u202e", "\U0001f916", "<", ">", '"', "'", "/", "xmlns='u'", "<xacro:if/>", "<inertial/>",
    "<link name='x'/>", "<mimic joint='left_s0'/>", "<axis xyz='0 0 0'/>", "\r", "é",
)  # fmt: skip
NAMES = ("", " ", "torso", "left_s0", "base", "a b", "名前", "x" * 300, "../x", "%s%n", "{0}", "left_wrist")
TYPES = ("fixed", "revolute", "prismatic", "continuous", "floating", "planar", "Revolute", "", "ball")

ELEMENT = re.compile(r"<(\w+)\b[^<>]*?(?:/>|>.*?</\1>)", re.DOTALL)
ATTRIBUTE = re.compile(r"""\b(\w+)="([^"<>]*)\"""")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def mutated(text: str, seed: int) -> bytes:
    """Some changes that leave a description, often some that do not, sometimes one to its bytes."""
    rng = random.Random(seed)
    for _ in range(rng.randint(0, 4)):
        text = rng.choice(MILD)(text, rng)
    for _ in range(rng.choice((0, 1, 1, 2))):
        text = rng.choice(CHANGES)(text, rng)
    content = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        content = _bytes(content, rng)
    return content


def _pick(pattern: re.Pattern[str], text: str, rng: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text, rng.randrange(max(1, len(text) // 2))))
    return rng.choice(found) if found else None


def _replace(text: str, match: re.Match[str] | None, new: str, group: int = 0) -> str:
    return text if match is None else text[: match.start(group)] + new + text[match.end(group) :]


def drop_element(text: str, rng: random.Random) -> str:
    return _replace(text, _pick(ELEMENT, text, rng), "")


def duplicate_element(text: str, rng: random.Random) -> str:
    match = _pick(ELEMENT, text, rng)
    return text if match is None else _replace(text, match, match.group() * rng.choice((2, 2, 3)))


def move_element(text: str, rng: random.Random) -> str:
    match = _pick(ELEMENT, text, rng)
    if match is None:
        return text
    text = _replace(text, match, "")
    at = text.find("<", rng.randrange(max(1, len(text))))
    return text[:at] + match.group() + text[at:]


def drop_attribute(text: str, rng: random.Random) -> str:
    return _replace(text, _pick(ATTRIBUTE, text, rng), "")


def rename_attribute(text: str, rng: random.Random) -> str:
    match = _pick(ATTRIBUTE, text, rng)
    return text if match is None else _replace(text, match, match.group(1)[:-1] + rng.choice("xyz_"), 1)


def swap_values(text: str, rng: random.Random) -> str:
    a, b = sorted((_pick(ATTRIBUTE, text, rng), _pick(ATTRIBUTE, text, rng)), key=lambda m: m.start(2) if m else 0)
    if a is None or b is None or a.end(2) >= b.start(2):
        return text
    return text[: a.start(2)] + b.group(2) + text[a.end(2) : b.start(2)] + a.group(2) + text[b.end(2) :]


def change_number(text: str, rng: random.Random) -> str:
    return _replace(text, _pick(NUMBER, text, rng), rng.choice(NUMBERS))


def change_value(text: str, rng: random.Random) -> str:
    return _replace(text, _pick(ATTRIBUTE, text, rng), rng.choice(NUMBERS + NAMES + TYPES), 2)


def rename_tag(text: str, rng: random.Random) -> str:
    match = _pick(re.compile(r"<(\w+)"), text, rng)
    return text if match is None else _replace(text, match, match.group(1).swapcase(), 1)


def insert_text(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(TEXTS) + text[at:]


def cut(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice((1, 1, 3, 30, 300, len(text))) :]


def rescale_number(text: str, rng: random.Random) -> str:
    match = _pick(NUMBER, text, rng)
    factor = rng.choice((0.0, -1.0, 1e-9, 1e-3, 0.5, 1.0, 2.0, 1e3))
    return text if match is None else _replace(text, match, repr(float(match.group()) * factor))


def respell_number(text: str, rng: random.Random) -> str:
    """The same value written in another way."""
    match = _pick(re.compile(rf"(?<=[\" ]){NUMBER.pattern}(?=[\" ])"), text, rng)
    if match is None:
        return text
    value = float(match.group())
    spellings = (f"{value:+.20e}", f"\n\t{value!r} ", f"{value!r}", f"{value:.17g}", f"{value:E}" if value == 0 else "")
    return _replace(text, match, rng.choice(spellings) or match.group())


def insert_neutral(text: str, rng: random.Random) -> str:
    at = text.find("<", 1 + rng.randrange(len(text)))
    return text if at < 0 else text[:at] + rng.choice(("<!-- <link> -->", "\n", "<?note?>", " ")) + text[at:]


def reorder(text: str, rng: random.Random) -> str:
    """Links and joints in another file order."""
    found = [match.group() for match in re.finditer(r"<(link|joint)\b[^<>]*?(?:/>|(?<!/)>.*?</\1>)", text, re.DOTALL)]
    head, end = text[: text.find("<robot")], "</robot>"
    opening = re.search(r"<robot[^<>]*>", text)
    if opening is None:
        return text
    rng.shuffle(found)
    return head + opening.group() + "".join(found) + end


def change_type(text: str, rng: random.Random) -> str:
    match = _pick(re.compile(r"type=\"(\w+)\""), text, rng)
    return _replace(text, match, rng.choice(TYPES[:4]), 1)


def _bytes(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + bytes(rng.randrange(256) for _ in range(rng.randint(1, 3))) + content[at + 1 :]


CHANGES = (
    drop_element,
    duplicate_element,
    move_element,
    drop_attribute,
    rename_attribute,
    swap_values,
    change_number,
    change_number,
    change_value,
    rename_tag,
    insert_text,
    cut,
)

MILD = (rescale_number, respell_number, insert_neutral, reorder, change_type)
