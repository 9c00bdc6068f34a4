"""A language model behind an OpenAI-compatible endpoint, if the deployment names one."""
