"""Commands that show and change the memories of projects."""
