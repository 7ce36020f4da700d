"""The arithmetic behind every verdict: intervals, paired tests, and detectable differences.

Standard library only, pure and deterministic: the same figures give the same result on every machine, and resampling
takes a seed. Nothing is rounded here; the caller rounds when printing. Shares and levels are numbers between 0 and 1; a
difference is candidate minus base.
"""
