"""Find edits that give a recorded prompt the outcome a user wants, and thresholds that remove lines labelled wrong."""
