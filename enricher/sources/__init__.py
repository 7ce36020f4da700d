"""The data sources that channels query: code index, memories, transcripts, task lists, skills."""
