"""An evaluator whose worker process is killed, importable in worker processes."""

import os
import signal
from types import SimpleNamespace

from proxembed.execute.loop import Evaluator


class Deadly(Evaluator):
    """The score of a step is the step; the worker that takes step 3 of the configuration "fatal" ends itself."""

    def evaluate(self, config, step):
        if (config, step) == ("fatal", 3):
            os.kill(os.getpid(), signal.SIGKILL)
        return SimpleNamespace(score=step, failure=None)

    def lost(self, config, step, reason):
        return SimpleNamespace(score=-1, failure=reason)
