// What the types of the library say, for the compiler alone: a line with @ts-expect-error is one that it must refuse.
import { Session, sessions, type Event, type Lines, type ToolResultEvent } from "../jcode.js";

const session = await Session.start({ model: "m", tools: [{ name: "f", run: () => "x" }], onQuestion: (q) => q.allow() });
for await (const event of session.prompt("hello")) {
  if (event.type === "text") event.delta.trim();
  if (event.type === "usage") event.input_tokens + 1;
  if (event.type === "result") event.structured_output;
  if (event.type === "approval_asked") event.question.options?.[0]?.label.trim();
  // @ts-expect-error: text has no such field
  if (event.type === "text") event.input_tokens;
  // @ts-expect-error: there is no such event
  if (event.type === "dance") event;
}
await session.do("interrupt");
await session.do("set", { mode: "plan" });
await session.do("rewind", { seq: 3, what: "files" });
// @ts-expect-error: there is no such line
await session.do("dance");
// @ts-expect-error: it needs the number of a message
await session.do("rewind");
// @ts-expect-error: a text is no number
const line: Lines["rewind"] = { seq: "3" };
const result: ToolResultEvent = { type: "tool_result", id: "1", name: "read", ok: true, content: "", duration_ms: 1, status: "done" };
const event: Event = result;
(await sessions()).map((s) => s.title + event.type + line);
