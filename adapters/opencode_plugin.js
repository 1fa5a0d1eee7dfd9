// gate's plugin for OpenCode. Written by gate install; a change is lost with the next.
// It asks gate about each tool call and each prompt. Without an answer nothing runs.
// Nothing here may throw while the file is loaded: OpenCode would drop the plugin
// without a word.
import { spawn } from "node:child_process"

const COMMAND = ["COMMAND"]
const WAIT = "WAIT"
const MOST = 4 << 20

// ask gives gate one event and returns its answer, an object whose decision is
// "continue". A denial is thrown, and so is everything else, as a fault.
function ask(event, project) {
  return new Promise((resolve, reject) => {
    const fail = (why) => {
      const e = new Error("gate could not answer: " + why + ". A person can repair this with: gate doctor --fix")
      e.fault = true
      reject(e)
    }
    let child
    try {
      child = spawn(COMMAND[0], COMMAND.slice(1), {
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...process.env, OPENCODE_PROJECT_DIR: project },
      })
    } catch (e) {
      return fail(String(e))
    }
    const late = setTimeout(() => {
      child.kill("SIGKILL")
      fail("no answer in " + WAIT + " ms")
    }, WAIT)
    let out = "", err = ""
    child.stdout.setEncoding("utf8")
    child.stderr.setEncoding("utf8")
    child.stdout.on("data", (s) => { out += s; if (out.length > MOST) child.kill("SIGKILL") })
    child.stderr.on("data", (s) => { if (err.length < 65536) err += s })
    child.stdin.on("error", () => {})
    child.on("error", (e) => { clearTimeout(late); fail(e.message) })
    child.on("close", (status, signal) => {
      clearTimeout(late)
      if (status === 2 && err.trim()) return reject(new Error(err.trim()))
      if (status !== 0) return fail(signal ? "it ended by " + signal : "it ended with status " + status)
      let answer
      try { answer = JSON.parse(out) } catch { return fail("what it said is not JSON") }
      if (answer && answer.decision === "continue") return resolve(answer)
      if (answer && answer.decision === "deny") return reject(new Error(String(answer.reason || "gate denies this")))
      fail("what it said holds no decision")
    })
    child.stdin.end(JSON.stringify(event))
  })
}

// open makes a fault an answer without an opinion, where closing would stop
// nothing, or keep the person from talking while gate is broken.
function open(e) {
  if (!e.fault) throw e
  return {}
}

export const GatePlugin = async (context) => {
  const directory = (context && context.directory) || process.cwd()
  const worktree = context && context.worktree
  const project = worktree && worktree !== "/" ? worktree : directory
  const about = (name, session) => ({ hook_event_name: name, session_id: session || "", cwd: directory, worktree: project })
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await ask({
        ...about("PreToolUse", input.sessionID), tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args ?? {},
      }, project)
      if (answer.input === undefined) return
      if (!output.args || typeof answer.input !== "object" || answer.input === null)
        throw new Error("gate changed this call, and the change cannot be made")
      // OpenCode keeps the object that it gave: a new one would be ignored.
      for (const key of Object.keys(output.args)) delete output.args[key]
      Object.assign(output.args, answer.input)
    },
    "tool.execute.after": async (input, output) => {
      const answer = await ask({
        ...about("PostToolUse", input.sessionID), tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args ?? {},
        tool_response: output ?? null,
      }, project).catch(open)
      const text = answer.output
      const more = answer.context ? "\n\n" + answer.context : ""
      if (text === undefined && !more) return
      if (output && typeof output.output === "string") {
        output.output = (text === undefined ? output.output : text) + more
        if (text !== undefined && output.metadata) for (const key of Object.keys(output.metadata)) delete output.metadata[key]
      } else if (output && Array.isArray(output.content)) {
        if (text !== undefined) output.content.splice(0, output.content.length)
        output.content.push({ type: "text", text: (text === undefined ? "" : text) + more })
      } else if (text !== undefined) {
        throw new Error("gate changed this output, and the change cannot be made")
      }
    },
    "chat.message": async (input, output) => {
      const parts = (output && output.parts) || []
      const prompt = parts.map((part) => part.text || "").join("")
      const answer = await ask({ ...about("UserPromptSubmit", input.sessionID), prompt }, project).catch(open)
      const text = parts.find((part) => part.type === "text")
      if (answer.context && text) text.text += "\n\n" + answer.context
    },
    event: async ({ event }) => {
      if (event.type !== "session.created" && event.type !== "session.idle") return
      // Nothing can be stopped here, and an error would be none of the agent's.
      await ask({ hook_event_name: event.type, cwd: directory, worktree: project, event }, project).catch(() => {})
    },
  }
}
