// Drives jcode: starts the program and speaks with it over its standard input and output. Needs nothing but Node or Deno.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What jcode says of something that it did not do. */
export class JcodeError extends Error {
  constructor(kind, message) {
    super(message);
    this.name = "JcodeError";
    this.kind = kind;
  }
}

const ended = () => new JcodeError("ended", "jcode has ended");

/** Events that wait until somebody reads them. */
class Reader {
  #events = [];
  #closed = false;
  #wake = null;

  add(event) {
    this.#events.push(event);
    this.#wake?.();
  }

  close() {
    this.#closed = true;
    this.#wake?.();
  }

  async next() {
    while (this.#events.length === 0) {
      if (this.#closed) throw ended();
      await new Promise((resolve) => (this.#wake = resolve));
      this.#wake = null;
    }
    return this.#events.shift();
  }
}

/** Something that waits for an answer. */
export class Question {
  constructor(event) {
    const asked = event.question ?? event.form ?? event;
    this.kind = { approval_asked: "approval", ask: "ask", form: "form" }[event.type];
    this.id = event.id;
    this.text = asked.title ?? asked.text;
    this.tool = asked.tool;
    this.command = asked.command;
    this.diff = asked.diff;
    this.options = asked.options ?? [];
    this.event = event;
  }

  /** Lets a call run, this once. */
  allow() {
    const at = this.options.findIndex((o) => o.scope === "once");
    return at < 0 ? this.deny() : this.choose(at);
  }

  /** Takes an option of an approval by its place. */
  choose(option) {
    return { type: "answer", id: this.id, option };
  }

  /** Refuses, and tells the model why. */
  deny(why = "") {
    if (this.kind === "ask") return this.reply(why || "Nobody answers: decide yourself, and say what you decided.");
    if (this.kind === "form") return { type: "fill", id: this.id, action: "decline" };
    const option = this.options.findIndex((o) => o.scope === "no");
    return option < 0 ? { type: "interrupt" } : { type: "answer", id: this.id, option, word: why };
  }

  /** Answers a question of the model. */
  reply(text) {
    return { type: "reply", id: this.id, text };
  }

  /** Fills in a form. */
  fill(values) {
    return { type: "fill", id: this.id, action: "accept", values };
  }
}

/** The name of the MCP server as which the tools of this program are served. */
const server = "app";

/** Serves the tools of this program. */
class Lent {
  #tools;
  #write;
  #running = new Map();

  constructor(tools, write) {
    this.#tools = tools;
    this.#write = write;
  }

  /** Does what a message says. */
  async receive({ id, method, params = {} }) {
    if (method === "notifications/cancelled") this.#running.get(params.requestId)?.abort();
    if (id === undefined || method === undefined) return;
    const running = new AbortController();
    this.#running.set(id, running);
    const answer = { jsonrpc: "2.0", id };
    try {
      answer.result = await this.#do(method, params, running.signal);
      if (answer.result === undefined) answer.error = { code: -32601, message: `there is no ${method}` };
    } finally {
      this.#running.delete(id);
    }
    if (!running.signal.aborted) this.#write({ type: "mcp", server, message: answer });
  }

  async #do(method, params, signal) {
    switch (method) {
      case "initialize":
        return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: server, version: "1" } };
      case "ping":
        return {};
      case "tools/list":
        return {
          tools: this.#tools.map(({ name, description = "", schema = { type: "object" }, readOnly = false }) => ({
            name, description, inputSchema: schema, annotations: { readOnlyHint: readOnly },
          })),
        };
      case "tools/call":
        return await this.#call(params, signal);
    }
  }

  async #call({ name, arguments: args }, signal) {
    try {
      const tool = this.#tools.find((t) => t.name === name);
      if (!tool) throw new Error(`there is no tool ${name}`);
      return { content: [{ type: "text", text: String(await tool.run(args ?? {}, signal)) }] };
    } catch (err) { // the model reads it
      return { content: [{ type: "text", text: err instanceof Error ? err.message : String(err) }], isError: true };
    }
  }

  /** Ends all calls. */
  end() {
    for (const call of this.#running.values()) call.abort();
  }
}

/** A conversation. */
export class Session {
  #options;
  #lent;
  #child;
  #exit;
  #last = 0;
  #calls = new Map();
  #readers = new Set();
  #over = false;
  #answering = Promise.resolve();

  /** Starts jcode. */
  static async start(options = {}) {
    const session = new Session();
    await session.#start(options);
    return session;
  }

  async #start(options) {
    this.#options = options;
    this.#lent = new Lent(options.tools ?? [], (line) => this.#child.stdin.write(JSON.stringify(line) + "\n"));
    const args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
    for (const name of ["model", "mode", "role"]) if (options[name]) args.push(`--${name}`, options[name]);
    if (options.schema) args.push("--output-schema", JSON.stringify(options.schema));
    if (options.resume) args.push(`--resume=${options.resume}`);
    if (options.fork) args.push("--fork");
    this.#child = spawn(options.program ?? "jcode", [...args, ...(options.args ?? [])], {
      cwd: options.cwd, env: options.env ?? process.env, stdio: ["pipe", "pipe", options.stderr ?? "ignore"],
    });
    this.#exit = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code) => resolve(code ?? -1));
    });
    this.#exit.catch(() => {}); // close says so
    this.#child.stdin.on("error", () => {}); // the end of the output says so
    await new Promise((begun, failed) => {
      this.#child.once("error", failed);
      const lines = createInterface({ input: this.#child.stdout, crlfDelay: Infinity });
      lines.on("line", (line) => {
        let event;
        try {
          event = JSON.parse(line);
        } catch {
          return; // not a line of the protocol
        }
        if (event.type === "init" && !this.id) {
          this.id = event.session_id;
          this.model = event.model;
          begun();
        } else if (event.type === "result" && !this.id) {
          failed(new JcodeError("failed", event.error));
        } else {
          this.#take(event);
        }
      });
      lines.on("close", () => {
        failed(ended());
        this.#lent.end();
        this.#over = true;
        for (const call of this.#calls.values()) call.reject(ended());
        this.#calls.clear();
        for (const reader of this.#readers) reader.close();
      });
    });
    if (!options.tools?.length) return;
    try {
      await this.do("serve", { name: server, trusted: true });
    } catch (err) {
      await this.close().catch(() => {}); // the first error is the reason
      throw err;
    }
  }

  #take(event) {
    if (event.type === "mcp") {
      this.#lent.receive(event.message);
      return;
    }
    if (event.type === "response") {
      const call = this.#calls.get(event.request);
      this.#calls.delete(event.request);
      if (event.ok) call?.resolve(event.result);
      else call?.reject(new JcodeError(event.kind, event.error));
      return;
    }
    if (["approval_asked", "ask", "form"].includes(event.type)) {
      this.#answering = this.#answering.then(() => this.#answer(new Question(event)));
    }
    for (const reader of this.#readers) reader.add(event);
  }

  async #answer(question) {
    let answer;
    try {
      answer = await this.#options.onQuestion?.(question);
    } catch {
      // what fails is no yes
    }
    const { type, ...fields } = answer ?? question.deny();
    await this.do(type, fields).catch(() => {}); // another window may have been faster
  }

  /** Writes a line of a type with its fields, and returns its result. docs/scripting.md lists the types. */
  do(type, fields = {}) {
    if (this.#over) return Promise.reject(ended());
    const request = String(++this.#last);
    return new Promise((resolve, reject) => {
      this.#calls.set(request, { resolve, reject });
      this.#child.stdin.write(JSON.stringify({ ...fields, type, request }) + "\n");
    });
  }

  /** Sends a prompt and yields what happens up to its result, which is the last event. */
  async *prompt(text) {
    const reader = new Reader();
    this.#readers.add(reader);
    try {
      const queued = await this.do("prompt", { text });
      if (!queued?.id) { // a command that did all there was to do
        yield { type: "result", ok: true, text: queued?.said ?? "", session_id: this.id };
        return;
      }
      for (;;) {
        const event = await reader.next();
        if (event.type === "unsent" && event.queued === queued.id) throw new JcodeError("failed", event.error);
        yield event;
        if (event.type === "result" && event.prompt_ids?.includes(queued.id)) return;
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  /** Sends a prompt and returns its result alone. */
  async ask(text) {
    let last;
    for await (const event of this.prompt(text)) last = event;
    return last;
  }

  /** Ends the running turn. */
  interrupt() {
    return this.do("interrupt");
  }

  /** Sets how much is allowed unasked. */
  setMode(mode) {
    return this.do("set", { mode });
  }

  /** Sets the model. */
  setModel(model) {
    return this.do("set", { model });
  }

  /** Ends the input, waits for the end of what runs, and returns the exit code. */
  async close() {
    this.#child.stdin.end();
    return await this.#exit;
  }
}

/** Lists the sessions of a folder, the last one first. */
export function sessions(options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(options.program ?? "jcode", ["sessions", "list", "--json"], { cwd: options.cwd, env: options.env ?? process.env });
    let out = "", said = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => (out += piece));
    child.stderr.setEncoding("utf8").on("data", (piece) => (said += piece));
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(JSON.parse(out)) : reject(new JcodeError("failed", said.trim()))));
  });
}
