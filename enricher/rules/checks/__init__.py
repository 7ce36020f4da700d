"""Problems in instructions that a maintainer should know about, beyond the errors that the compiler reports."""
