# SPDX-License-Identifier: Apache-2.0
"""The allocator variables: what they ask of Ferry, and what is left of them for torch.

PYTORCH_CUDA_ALLOC_CONF wins over PYTORCH_ALLOC_CONF, as in torch. Ferry's own keys begin with `ferry_` and are
checked here; all others stay as they were written, so that torch checks them."""

import contextlib
import difflib
import os
import re
from dataclasses import dataclass, field

VARIABLES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")

MODES = ("auto", "full", "portable")
_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
          "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
          "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


class ConfigError(ValueError):
    """What was asked of Ferry cannot be understood."""


def parse_size(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    if not match or match[2].lower() not in _UNITS:
        raise ConfigError(f"'{text}' is no size; write bytes, or 512MiB, 20GiB, 1.5GB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def _parse_mode(text):
    if text not in MODES:
        raise ConfigError(f"'{text}' is no mode; there are {', '.join(MODES)}{_nearest(text, MODES)}")
    return text


def _parse_bool(text):
    if text not in ("True", "False"):
        raise ConfigError(f"'{text}' is neither True nor False")
    return text == "True"


def _parse_driver(text):
    if not text:
        raise ConfigError("the driver's name is empty; write auto, cuda, sim or a path")
    return text


@dataclass
class Options:
    """What may be chosen. Names are those of the keys without their `ferry_`."""

    mode: str = "auto"  # full, or portable where it cannot be built
    limit: int = 0  # most bytes of device memory that each device's pool may hold; 0: what the device gives
    driver: str | None = None  # as ferry_options.driver; None: FERRY_DRIVER
    pinned: bool = True  # pinned host memory from Ferry too (full mode)
    library: str | None = None  # path of libferry.so


_PARSERS = {"mode": _parse_mode, "limit": parse_size, "driver": _parse_driver, "pinned": _parse_bool}
KEYS = tuple(f"ferry_{name}" for name in _PARSERS)


def _nearest(word, known):
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.0)
    return f"; did you mean '{close[0]}'?" if close else ""


def make_options(**given):
    """Options from keyword arguments, checked as the variable's keys are."""
    options = Options()
    for name, value in given.items():
        if name == "library":
            options.library = os.fspath(value) if value is not None else None
        elif name not in _PARSERS:
            raise ConfigError(f"Ferry has no option '{name}'{_nearest(name, [*_PARSERS, 'library'])}")
        else:
            setattr(options, name, _PARSERS[name](value) if isinstance(value, str) else _typed(name, value))
    return options


def _typed(name, value):
    kinds = {"mode": str, "limit": int, "driver": (str, type(None)), "pinned": bool}
    if not isinstance(value, kinds[name]) or (isinstance(value, bool) and name != "pinned"):
        raise ConfigError(f"option '{name}' cannot be {value!r}")
    if name == "limit" and value < 0:
        raise ConfigError("option 'limit' cannot be negative")
    return value


def split(text):
    """The items of a variable: commas inside brackets belong to their item."""
    items, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth <= 0:
            items.append(text[start:at])
            start = at + 1
    return [*items, text[start:]]


@dataclass
class Request:
    """What one value of a variable asks."""

    ferry: bool = False
    options: Options = field(default_factory=Options)
    rest: str = ""  # what is left for torch


def _key_and_value(item):
    key, colon, value = item.partition(":")
    return key.strip(), value.strip() if colon else None


def _names_ferry(value):
    return value == "ferry" or (value is not None and ("/" in value or re.search(r"\.so(\.\d+)*$", value) is not None))


def asks_for_ferry(text):
    return any(key == "backend" and _names_ferry(value) for key, value in map(_key_and_value, split(text)))


def parse(text):
    """A Request. ConfigError where Ferry is asked for in a way that it does not understand; keys of Ferry
    beside another backend are such a way, too: they would do nothing."""
    request, kept, own = Request(ferry=asks_for_ferry(text)), [], []
    for item in split(text):
        key, value = _key_and_value(item)
        if key == "backend" and _names_ferry(value):
            request.options.library = None if value == "ferry" else value
        elif key.startswith("ferry_"):
            own.append((key, value))
        elif item.strip():
            kept.append(item)
    for key, value in own:
        name = key.removeprefix("ferry_")
        if name not in _PARSERS:
            raise ConfigError(f"Ferry has no key '{key}'{_nearest(key, KEYS)}")
        if value is None:
            raise ConfigError(f"key '{key}' has no value; write {key}:VALUE")
        if not request.ferry:
            raise ConfigError(f"key '{key}' does nothing without backend:ferry")
        try:
            setattr(request.options, name, _PARSERS[name](value))
        except ConfigError as error:
            raise ConfigError(f"key '{key}': {error}") from None
    if request.ferry and any(_key_and_value(item)[0] == "backend" for item in kept):
        raise ConfigError("two backends are named")
    request.rest = ",".join(kept)
    return request


def without_ferry(text):
    """The value as torch may read it, whether or not Ferry understands its part."""
    def is_ours(item):
        key, value = _key_and_value(item)
        return key.startswith("ferry_") or (key == "backend" and _names_ferry(value))

    return ",".join(item for item in split(text) if item.strip() and not is_ours(item))


def winner(environment):
    """(name, value) of the variable that counts, or (None, None)."""
    return next(((name, environment[name]) for name in VARIABLES if name in environment), (None, None))


def request_of(environment):
    """(Request, name of the variable), the Request None where no variable is set."""
    name, text = winner(environment)
    return (None, None) if name is None else (parse(text), name)


@contextlib.contextmanager
def hidden(environment):
    """While it lasts, the variables are as torch may read them; afterwards they are as they were, so that the
    processes that this one starts ask for Ferry, too, and get it or torch's refusal."""
    before = {name: environment[name] for name in VARIABLES if name in environment}
    for name, text in before.items():
        rest = without_ferry(text)
        if rest:
            environment[name] = rest
        else:
            del environment[name]
    try:
        yield
    finally:
        environment.update(before)
