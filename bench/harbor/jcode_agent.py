"""jcode as an installed agent of Harbor, the harness of Terminal-Bench.

    harbor run -d terminal-bench@2.0 --agent-import-path jcode_agent:Jcode -m anthropic/claude-sonnet-5

Run it in this folder. JCODE_BINARY names a jcode for the system of the containers (linux/amd64 mostly); keys of
providers are passed on from the environment. What the agent writes to its last line, tokens and cost, is reported.
"""

import json
import os
import shlex
from pathlib import Path

from harbor.agents.installed.base import BaseInstalledAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

PLACE = "/usr/local/bin/jcode"
OUTPUT = "/logs/agent/jcode.jsonl"


class Jcode(BaseInstalledAgent):
    """Copies the program into the container and lets it work on the instruction."""

    @staticmethod
    def name() -> str:
        return "jcode"

    async def install(self, environment: BaseEnvironment) -> None:
        binary = Path(os.environ.get("JCODE_BINARY", "jcode")).expanduser()
        if not binary.is_file():
            raise FileNotFoundError(f"{binary}: set JCODE_BINARY to a jcode for the containers")
        await environment.upload_file(source_path=binary, target_path=PLACE)
        await self.exec_as_root(environment, command=f"chmod 755 {PLACE}")

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        keys = {name: value for name, value in os.environ.items() if name.endswith(("_API_KEY", "_BASE_URL", "_AUTH_TOKEN"))}
        command = " ".join(
            [PLACE, "--mode", "yolo", "--output-format", "stream-json", "-m", shlex.quote(self.model_name or ""), "-p", shlex.quote(instruction)]
        )
        # The exit code says how the run ended, not whether the task is done: that is the verifier's word.
        await self.exec_as_agent(environment, command=f"mkdir -p {Path(OUTPUT).parent}; {command} < /dev/null > {OUTPUT} || true", env=keys)

    def populate_context_post_run(self, context: AgentContext) -> None:
        file = self.logs_dir / Path(OUTPUT).name
        if not file.exists():
            return
        for line in file.read_text(errors="replace").splitlines():
            try:
                end = json.loads(line)
            except ValueError:
                continue
            if end.get("type") == "usage":
                context.cost_usd = end.get("cost_usd")  # of the session so far
            if end.get("type") != "result":
                continue
            usage = end.get("usage", {})
            context.n_input_tokens = usage.get("input_tokens")
            context.n_cache_tokens = usage.get("cached_tokens")
            context.n_output_tokens = usage.get("output_tokens")
