# SPDX-License-Identifier: BSD-3-Clause
"""The same objects as :mod:`roastcoffea`, under the name the metrics reference uses."""

from roastcoffea import *  # noqa: F403
from roastcoffea import __all__ as __all__
