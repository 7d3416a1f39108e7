# SPDX-License-Identifier: BSD-3-Clause
"""The advice trial: runs with a known cause, and what the findings say of them."""
