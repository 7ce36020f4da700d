"""What channels look up: the index of code, memories, transcripts, task lists, skills."""
