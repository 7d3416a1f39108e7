# SPDX-License-Identifier: BSD-3-Clause
"""Adapters translate objects of other packages into plain facts, and stop there."""
