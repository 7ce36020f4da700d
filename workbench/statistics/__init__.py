"""Compute confidence intervals, paired tests and detectable differences, on which every verdict is based.

Only the standard library is used. The same input gives the same result on every machine; resampling takes a seed.
Nothing is rounded here; the caller rounds when printing. Shares and levels are numbers between 0 and 1. If two rule
sets are compared, a difference is the new one (candidate) minus the old one (base).
"""
