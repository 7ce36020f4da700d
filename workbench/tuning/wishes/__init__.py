"""Find edits that give one recorded prompt a wished outcome, and floors that remove lines labelled wrong."""
