# SPDX-License-Identifier: BSD-3-Clause
"""Code that meets coffea and uproot: hooks, the Runner, the function around a chunk."""
