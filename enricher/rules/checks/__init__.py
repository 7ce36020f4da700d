"""Problems of instructions that a maintainer should know, in addition to the errors that the compiler reports."""
