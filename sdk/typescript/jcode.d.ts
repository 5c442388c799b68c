import type { Events, Lines } from "./types.js";

export type * from "./types.js";

/** A line of what happens: its type says which fields it has. Newer versions of jcode may send types that are not here. */
export type Event = Events[keyof Events] | Result;

/** How a turn ended. */
export interface Result {
  type: "result";
  ok: boolean;
  text: string;
  error?: string;
  structured_output?: unknown;
  session_id: string;
  steps: number;
  prompt_ids?: string[];
}

/** A possible answer to an approval. */
export interface Option {
  scope: "no" | "once" | "session" | "project";
  label: string;
}

/** An answer, as the methods of a question make it. */
export interface Answer {
  type: "answer" | "reply" | "fill" | "interrupt";
  [field: string]: unknown;
}

/** Something that waits for an answer. */
export declare class Question {
  readonly kind: "approval" | "ask" | "form";
  readonly id: string;
  readonly text: string;
  readonly tool?: string;
  readonly command?: string;
  readonly diff?: string;
  /** Of an approval; of a question of the model they are texts. */
  readonly options: Array<Option | string>;
  readonly event: Event;
  allow(): Answer;
  choose(option: number): Answer;
  deny(why?: string): Answer;
  reply(text: string): Answer;
  fill(values: Record<string, unknown>): Answer;
}

/** A function of this program that the model may call. */
export interface Tool {
  name: string;
  description?: string;
  /** A JSON Schema of the arguments, an object. */
  schema?: object;
  /** Whether it changes nothing. */
  readOnly?: boolean;
  /** Does a call, beside others. The signal says that the answer is not wanted any more. What it throws is read by the model. */
  run(args: Record<string, any>, signal: AbortSignal): string | Promise<string>;
}

export interface Options {
  /** jcode of the PATH without it. */
  program?: string;
  /** Further flags. */
  args?: string[];
  cwd?: string;
  env?: Record<string, string | undefined>;
  model?: string;
  mode?: "ask" | "edits" | "plan" | "auto" | "yolo";
  role?: string;
  /** The ID of a session to continue; with fork a copy of it. */
  resume?: string;
  fork?: boolean;
  /** A JSON Schema that the answer to each prompt fits. */
  schema?: object;
  /** Answers questions, one at a time. Without it nothing that would ask is done. */
  onQuestion?(question: Question): Answer | undefined | Promise<Answer | undefined>;
  /** Functions of this program that the model may call: mcp:app:NAME in rules and questions. */
  tools?: Tool[];
  /** What becomes of what jcode says besides. */
  stderr?: "ignore" | "inherit";
}

/** What jcode says of something that it did not do. */
export declare class JcodeError extends Error {
  readonly kind: "invalid" | "refused" | "gone" | "busy" | "failed" | "ended";
}

/** A conversation. */
export declare class Session {
  private constructor();
  /** Starts jcode. */
  static start(options?: Options): Promise<Session>;
  /** By which the session is resumed. */
  readonly id: string;
  readonly model: string;
  /** Sends a prompt and yields what happens up to its result, which is the last event. */
  prompt(text: string): AsyncGenerator<Event, void, void>;
  /** Sends a prompt and returns its result alone. */
  ask(text: string): Promise<Result>;
  /** Writes a line of a type with its fields, and returns its result. */
  do<K extends keyof Lines>(type: K, ...fields: {} extends Lines[K] ? [Lines[K]?] : [Lines[K]]): Promise<unknown>;
  interrupt(): Promise<unknown>;
  setMode(mode: string): Promise<unknown>;
  setModel(model: string): Promise<unknown>;
  /** Ends the input, waits for the end of what runs, and returns the exit code. */
  close(): Promise<number>;
}

/** A session that is kept. */
export interface Listed {
  id: string;
  title: string;
  cwd: string;
  [field: string]: unknown;
}

/** Lists the sessions of a folder, the last one first. */
export declare function sessions(options?: Pick<Options, "program" | "cwd" | "env">): Promise<Listed[]>;
