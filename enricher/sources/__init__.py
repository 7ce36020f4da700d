"""Read the data sources that channels query: the code index, memories, transcripts, task lists and skills."""
