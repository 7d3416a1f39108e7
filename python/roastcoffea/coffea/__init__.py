# SPDX-License-Identifier: BSD-3-Clause
"""Adapters for coffea and uproot: hooks, the Runner, the work function of a chunk."""
