"""Look up what few prompts name, such as subcommands; in the hook, each module is imported only for such a prompt."""
