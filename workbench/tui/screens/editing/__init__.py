"""The Instructions screen in layers: the file in the editor, its saves, its replays, and what the user sees of them."""
