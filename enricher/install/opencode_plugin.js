// prompt-enricher plugin: asks the enricher about each prompt and adds what it answers as a part of its own.
// Written by "enricher install --host opencode"; whatever goes wrong here, the prompt passes unchanged.
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const INSTALLED = ""
const TIMEOUT_MS = 5000

function launcher() {
  if (INSTALLED) return INSTALLED
  const data = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share")
  return join(process.env.ENRICHER_HOME || join(data, "prompt-enricher"), "hook")
}

function ask(event) {
  return new Promise((resolve) => {
    const child = spawn("sh", [launcher(), "opencode"], { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS })
    let out = ""
    child.stdout.on("data", (chunk) => (out += chunk))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve({}))
    child.on("close", () => {
      try {
        resolve(JSON.parse(out))
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify(event))
  })
}

async function isSubagent(client, sessionID) {
  try {
    const session = await client.session.get({ path: { id: sessionID } })
    return Boolean(session?.data?.parentID)
  } catch {
    return false
  }
}

export const PromptEnricher = async ({ client, directory }) => ({
  "chat.message": async (input, output) => {
    const prompt = output.parts
      .filter((part) => part.type === "text" && !part.synthetic)
      .map((part) => part.text)
      .join("\n")
    if (!prompt) return
    const answer = await ask({
      hook_event_name: "chat.message",
      session_id: input.sessionID,
      cwd: directory,
      prompt,
      agent_id: (await isSubagent(client, input.sessionID)) ? String(input.agent ?? "subagent") : "",
    })
    if (answer.systemMessage) {
      client.tui?.showToast?.({ body: { message: answer.systemMessage, variant: "info" } })?.catch?.(() => {})
    }
    if (!answer.additionalContext) return
    output.parts.push({
      id: "prt_" + Date.now().toString(16) + Math.random().toString(36).slice(2, 14),
      sessionID: input.sessionID,
      messageID: output.message.id,
      type: "text",
      text: answer.additionalContext,
      synthetic: true,
    })
  },
})
