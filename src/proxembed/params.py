"""param(): a parameter declared once. From it come the constructor or the signature, the range check, the docs, the
search space and the option of the program."""

import math
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from inspect import Parameter, cleandoc, signature
from numbers import Integral
from typing import Any, Literal

import numpy as np

NUMBERS = (int, float, np.integer, np.floating)
LARGEST = 1e100  # of a real number without an upper end of its own: its square times a sum over rows fits float64
SHOWN = 200  # characters of a value in a message


@dataclass(frozen=True)
class Log:
    """A search range on a logarithmic scale, ends included."""

    low: float
    high: float


@dataclass(frozen=True)
class Integers:
    """A search range of whole numbers, ends included."""

    low: int
    high: int


@dataclass(frozen=True)
class Methods:
    """A search over the registered methods with this kind of labels; resolved from the registry."""

    labels: str | None


def log(low: float, high: float) -> Log:
    """Search range from ``low`` to ``high`` on a logarithmic scale."""
    return Log(low, high)


def integers(low: int, high: int) -> Integers:
    """Search range of the whole numbers from ``low`` to ``high``."""
    return Integers(low, high)


def methods(labels: str | None) -> Methods:
    """Search range over the registered methods that take this kind of labels."""
    return Methods(labels)


@dataclass(frozen=True)
class Param:
    """What is declared of a parameter beside its name and default."""

    doc: str = ""
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[Any, ...] = ()
    integer: bool = False
    callable: bool = False
    kind: type | tuple[type, ...] | None = None
    words: str = ""
    test: Callable[[Any], bool] | None = None
    search: Any = None
    takes: str = ""
    panel: str = ""
    flags: tuple[str, ...] = ()
    metavar: str = ""

    def allowed(self) -> str:
        """The permitted values in words."""
        words = [repr(c) for c in self.choices]
        if self.numeric:
            words.append(("an integer" if self.integer else "a number") + self._range())
        if self.callable:
            words.append("a callable")
        if self.kind is bool:
            words.append("True or False")
        elif self.kind is not None:
            kinds = self.kind if isinstance(self.kind, tuple) else (self.kind,)
            words += [f"a {kind.__name__}" for kind in kinds]
        if self.words:
            words.append(self.words)
        return ", ".join(words[:-1]) + (" or " if len(words) > 1 else "") + words[-1]

    def fault(self, value: Any) -> str:
        """Why a value is not permitted, in words: the end that a number has to be above, else what is permitted."""
        number = isinstance(value, NUMBERS) and not isinstance(value, bool)
        if number and self.above is not None and value <= self.above:
            return f"is not above {self.above:g}"
        return f"must be {self.allowed()}"

    @property
    def numeric(self) -> bool:
        """Whether numbers are among the permitted values."""
        return self.integer or any(v is not None for v in (self.low, self.high, self.above, self.below))

    @property
    def _high(self) -> float | None:
        """The included upper end, which a real number always has."""
        return LARGEST if self.high is None and self.below is None and not self.integer else self.high

    def _range(self) -> str:
        ends = [(">=", self.low), (">", self.above), ("<=", self._high), ("<", self.below)]
        shape = ",d" if self.integer else "g"
        text = " and ".join(f"{sign} {value:{shape}}" for sign, value in ends if value is not None)
        return f" {text}" if text else ""

    def permits(self, value: Any) -> bool:
        """Whether the value is one of the permitted ones."""
        if any(value is c or (type(value) is type(c) and value == c) for c in self.choices):
            return True
        if self.callable and callable(value) and not isinstance(value, type):
            return True
        if self.kind is not None and (
            isinstance(value, self.kind) or (self.kind is bool and isinstance(value, np.bool_))
        ):
            return True
        if self.words:
            return self.test is None or self.test(value)
        if not self.numeric or isinstance(value, bool) or not isinstance(value, NUMBERS):
            return False
        if self.integer and not isinstance(value, Integral):
            return False
        try:
            return self._inside(float(value))
        except OverflowError:  # an integer beyond the largest float
            return False

    def _inside(self, value: float) -> bool:
        return (
            math.isfinite(value)
            and (self.low is None or value >= self.low)
            and (self.above is None or value > self.above)
            and (self._high is None or value <= self._high)
            and (self.below is None or value < self.below)
        )


def param(
    default: Any = MISSING,
    *,
    doc: str,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[Any, ...] = (),
    integer: bool = False,
    callable: bool = False,
    kind: type | tuple[type, ...] | None = None,
    words: str = "",
    test: Callable[[Any], bool] | None = None,
    like: Param | None = None,
    search: Any = None,
    kw_only: bool = True,
    takes: str = "",
    panel: str = "",
    flags: tuple[str, ...] = (),
    metavar: str = "",
) -> Any:
    """Declare a parameter of an estimator, or an option of the main job."""
    spec = Param(doc, low, high, above, below, tuple(choices), integer, callable, kind, words, test, search)
    if like is not None:
        spec = replace(like, doc=doc, search=search)
    spec = replace(spec, takes=takes, panel=panel, flags=flags, metavar=metavar)
    return field(default=default, kw_only=kw_only, metadata={"param": spec})


def constant(value: Any, *, init: Literal[False] = False) -> Any:
    """A value in place of a parameter of a base class: it is not an argument of the constructor."""
    return field(default=value, init=init)


def declared(cls: type) -> dict[str, tuple[Field[Any], Param]]:
    """The declared hyper-parameters of a class, in order: name -> (dataclass field, Param)."""
    return {f.name: (f, f.metadata["param"]) for f in fields(cls) if "param" in f.metadata}


def first_fault(instance: Any) -> tuple[str, Any, Param] | None:
    """Name, value and declaration of the first parameter whose value its declaration does not permit."""
    for name, (_, spec) in declared(type(instance)).items():
        value = getattr(instance, name)
        if not spec.permits(value):
            return name, value, spec
    return None


def check_params(estimator: Any) -> None:
    """Raise a ValueError that names the first parameter whose value is not permitted by its declaration."""
    if (found := first_fault(estimator)) is not None:
        name, value, spec = found
        raise ValueError(
            f"{type(estimator).__name__}: {name}={safe_repr(value)} is not allowed; {name} must be {spec.allowed()}"
            f"{_as_instance(value, spec.kind)}."
        )


def keyword_arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only arguments of a function with their defaults; ``inspect.Parameter.empty`` for needed ones."""
    parameters = signature(function).parameters.items()
    return {name: p.default for name, p in parameters if p.kind is p.KEYWORD_ONLY}


def check_arguments(kind: str, known: dict[str, Any], params: dict[str, Any]) -> None:
    """Raise a ValueError for parameters that this kind does not take, and for missing ones that it needs."""
    for name in params:
        if name not in known:
            allowed = ", ".join(known) or "no parameter"
            raise ValueError(f"{name}={params[name]!r} is not a parameter of kind {kind!r}, which takes: {allowed}.")
    for name, default in known.items():
        if default is Parameter.empty and name not in params:
            raise ValueError(f"kind {kind!r} needs the parameter {name}: pass {name}=...")


def _as_instance(name: Any, kind: type | tuple[type, ...] | None) -> str:
    """Where a text names a permitted class, the words for an error that show how to write an instance; else ""."""
    classes = [*(kind if isinstance(kind, tuple) else (kind,))] if kind and isinstance(name, str) else []
    while classes:
        cls = classes.pop()
        if cls.__name__.lower() == name.lower():
            return f", such as {cls.__name__}()"
        classes += type.__subclasses__(cls)
    return ""


class WithoutRidge:
    """Ridge and criterion of a spectral method that declares none; not a dataclass, so that they are not parameters."""

    ridge: float | str | None = 0.0
    ridge_scale: str | None = "trace"
    criterion: str = "ratio_trace"


def accept_classes(estimator: Any) -> Any:
    """The estimator with every ``target_type`` set to "classes": its y was checked before, on all rows."""
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "target_type"]
    return estimator.set_params(**dict.fromkeys(names, "classes")) if names else estimator


SEED = Param(low=0, high=2**32 - 1, integer=True, choices=(None,), kind=np.random.RandomState)


def seed_of(random_state: Any) -> int:
    """The number that a ``random_state`` is, or one that it draws. Methods with the same number grow the same trees."""
    from sklearn.utils import check_random_state

    given = isinstance(random_state, Integral)
    return int(random_state) if given else int(check_random_state(random_state).randint(2**31 - 1))


def safe_repr(value: Any) -> str:
    """The repr of a value for a message, shortened, also where Python refuses to print an integer."""
    try:
        text = repr(value)
        return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
    except ValueError:
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"


def call_user_function(name: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a function given as the parameter ``name`` returns; raises ValueError for values that it does not take."""
    try:
        return function(*arguments, **named)
    except TypeError as fault:
        kinds = [type(value).__name__ for value in arguments] + [f"{key}=" for key in named]
        raise ValueError(
            f"{name}={function!r} cannot be called with ({', '.join(kinds)}): TypeError: {fault}. Pass a function that "
            f"takes what the description of {name} says, or one of the names that it lists."
        ) from fault


def call_for_array(name: str, function: Callable[..., Any], *arguments: Any) -> np.ndarray:
    """What ``call_user_function`` returns, as a float64 array; raises ValueError if it holds no numbers."""
    values = call_user_function(name, function, *arguments)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ValueError(
            f"{name}={function!r} must return an array of numbers; it returned a {type(values).__name__} ({fault})."
        ) from fault


def parameters_section(cls: type) -> str:
    """The numpydoc Parameters section of a class, from its declarations."""
    return "\n".join(["Parameters", "----------", *(f"{head}\n    {doc}" for head, doc in parameter_entries(cls))])


def parameter_entries(cls: type) -> list[tuple[str, str]]:
    """The first line of each declared parameter in that section, and its description."""
    return [
        (f"{name} : {spec.allowed()}, default={f.default!r}", spec.doc) for name, (f, spec) in declared(cls).items()
    ]


def with_parameters(cls: Any) -> str:
    """The docstring with the Parameters that a class declares and the Attributes that its family shares."""
    body, mark, examples = cleandoc(cls.__doc__).partition("Examples\n--------")  # without indentation from 3.13 on
    if getattr(cls, "attributes", ""):
        learned, raises, errors = body.partition("Raises\n------")
        heading = "" if "Attributes\n----------" in learned else "\nAttributes\n----------\n"
        lines = cleandoc(cls.attributes).splitlines()
        shared = "\n".join(line for line in lines if f"\n{line.partition(' ')[0]} :" not in learned)
        body = f"{learned.rstrip()}\n{heading}{shared}".rstrip() + f"\n\n{raises}{errors}"
    return f"{body.rstrip()}\n\n{parameters_section(cls)}\n\n{mark}{examples}\n"


TARGET_TYPES = (None, "real", "classes", "labels")


def complete_parameters(cls: Any, takes_y: bool, takes_shares: bool, takes_numbers: bool = False) -> None:
    """Declare ``target_type`` for a class of estimators that take y, ``unknown`` where it takes shares as labels, and
    ``scale_targets`` where it takes numbers. Raises TypeError for a field overridden without annotation, which
    dataclass would ignore."""
    own = cls.__dict__.get("__annotations__", {})
    for base in cls.__mro__[1:]:
        for name in (f.name for f in fields(base)) if is_dataclass(base) else ():
            if name in cls.__dict__ and name not in own:
                raise TypeError(
                    f"{cls.__name__}.{name} overrides a parameter without annotation: "
                    f"write `{name}: type = param(...)`."
                )
    if takes_y:
        cls.__annotations__["target_type"] = str | dict | None
        cls.target_type = param(
            default=None,
            choices=TARGET_TYPES,
            kind=dict,
            doc='What y holds: "real" (numbers), "classes" or "labels" (0/1, or memberships from 0 to 1), or {column: '
            "word}, a column without a name by its position. None: by its values; whole numbers in 1-D are classes if "
            "there are at most 20 different ones or at least 3 rows of each on average, and else an error.",
        )
    if takes_shares:
        cls.__annotations__["unknown"] = str
        cls.unknown = param(
            default="auto",
            choices=("auto", "fill", "mean", "drop"),
            doc='Unknown cells of y (NaN): "fill" predicts them by a ridge regression of their column on X, "mean" '
            'takes the mean of their column, "drop" leaves out their rows. auto: "fill" where y holds numbers, else '
            '"mean". Blocks of rows, weighted rows and forests take means in any case, as ``targets_`` reports. Rows '
            "without a known cell are left out.",
        )
    if takes_numbers:
        cls.__annotations__["scale_targets"] = str | dict
        cls.scale_targets = param(
            default="standard",
            choices=("standard", "none"),
            kind=dict,
            doc='Numbers in y: "standard" takes them over their standard deviation, "none" in their units; {column: w} '
            "is standard and then w times each column named. Labels and classes alone are 0 and 1 in any case.",
        )
