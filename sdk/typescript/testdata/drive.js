// Plays one exchange of the conformance test with this library: reads the exchange, and prints what came of each step as
// a line of JSON.
import { readFileSync } from "node:fs";
import { JcodeError, Session, sessions } from "../jcode.js";

const exchange = JSON.parse(readFileSync(0, "utf8"));
let asked = [];
const options = { mode: exchange.mode, schema: exchange.schema, stderr: "inherit" };
if (exchange.answers) {
  options.onQuestion = (question) => {
    asked.push(question.kind);
    const answer = exchange.answers[asked.length - 1];
    if (!answer) return undefined;
    if (answer.allow) return question.allow();
    return answer.text !== undefined ? question.reply(answer.text) : question.deny(answer.deny);
  };
}

options.tools = exchange.tools?.map(({ name, schema, read_only, answer = "", fails, waits }) => ({
  name, description: name, schema, readOnly: read_only,
  run: async ({ q }, signal) => {
    if (waits) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    if (fails) throw new Error(fails);
    return answer.replaceAll("ARGS", q);
  },
}));

const failed = (err) => {
  if (err instanceof JcodeError) return { ok: false, kind: err.kind };
  throw err;
};

let session = await Session.start(options);
for (const step of exchange.steps) {
  let out = {};
  if (step.prompt !== undefined) {
    asked = [];
    const tools = [];
    try {
      for await (const event of session.prompt(step.prompt)) {
        if (event.type === "tool_call") tools.push(event.name);
        if (event.type === step.interrupt_at) await session.interrupt();
        if (event.type === "result") out = { ok: event.ok, text: event.text, error: event.error, structured: event.structured_output };
      }
    } catch (err) {
      out = failed(err);
    }
    out = { ...out, tools, asked };
  } else if (step.do) {
    out = await session.do(step.do, step.fields).then((result) => ({ ok: true, has: Object.keys(result ?? {}) }), failed);
  } else if (step.list) {
    out = { ok: true, count: (await sessions()).length };
  } else {
    const before = session.id;
    await session.close();
    session = await Session.start({ ...options, resume: before, fork: step.fork });
    out = { ok: true, same: session.id === before };
  }
  console.log(JSON.stringify(out));
}
await session.close();
