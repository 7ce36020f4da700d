"""What a maintainer should know of instructions beyond what the compiler refuses."""
