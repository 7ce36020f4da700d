"""How often each rule speaks on recorded prompts, and which prompts no rule speaks for."""
