"""A clock for tests in place of that of budgets and deadlines."""

from proxembed.execute import clock


class Clock:
    """Goes ``step`` seconds forward at each reading, and where a test says so."""

    def __init__(self, step: float = 0.0):
        self.seconds, self.step = 0.0, step

    def __call__(self) -> float:
        self.seconds += self.step
        return self.seconds

    def forward(self, seconds: float) -> None:
        self.seconds += seconds


def set_clock(monkeypatch, step: float = 0.0) -> Clock:
    """The clock of this process from here to the end of the test; worker processes have their own."""
    found = Clock(step)
    monkeypatch.setattr(clock, "monotonic", found)
    return found
