// Written from the schemas of docs by `go test ./internal/testkit/sdktypes -update`. Do not edit.

// Events: what happens in a session.

/** AnyEvent has the fields that each event may have. */
export interface AnyEvent {
  agent?: string;
  agent_session?: string;
  n?: number;
  parent?: string;
  to?: number;
  worktree?: string;
}

/** TurnStartEvent is the event turn_start. */
export interface TurnStartEvent extends AnyEvent {
  type: "turn_start";
  at: string;
  prompt: string;
  queued?: string;
  seq: number;
  turn: number;
}

/** StepStartEvent is the event step_start. */
export interface StepStartEvent extends AnyEvent {
  type: "step_start";
  step: number;
}

/** TextEvent is the event text. */
export interface TextEvent extends AnyEvent {
  type: "text";
  delta: string;
}

/** ReasoningEvent is the event reasoning. */
export interface ReasoningEvent extends AnyEvent {
  type: "reasoning";
  delta: string;
}

/** AnswerResetEvent is the event answer_reset. */
export interface AnswerResetEvent extends AnyEvent {
  type: "answer_reset";
  reason: string;
}

/** ToolWritingEvent is the event tool_writing. */
export interface ToolWritingEvent extends AnyEvent {
  type: "tool_writing";
  bytes: number;
  index: number;
  name: string;
}

/** AssistantEvent is the event assistant. */
export interface AssistantEvent extends AnyEvent {
  type: "assistant";
  calls: number;
  reasoning?: string;
  seq: number;
  text: string;
}

/** ToolCallEvent is the event tool_call. */
export interface ToolCallEvent extends AnyEvent {
  type: "tool_call";
  arguments: unknown;
  at?: string | null;
  changed_by?: string;
  from?: unknown;
  id: string;
  name: string;
}

/** ToolProgressEvent is the event tool_progress. */
export interface ToolProgressEvent extends AnyEvent {
  type: "tool_progress";
  id: string;
  output?: string;
  state?: string;
}

/** ToolResultEventDisplay is display of ToolResultEvent. */
export interface ToolResultEventDisplay {
  added?: number;
  changed_by?: string;
  child?: string;
  diff?: string;
  exit_code?: number | null;
  files?: Array<string> | null;
  found?: string;
  log?: string;
  path?: string;
  ran?: unknown;
  removed?: number;
  summary?: string;
}

/** ToolResultEventParts is parts of ToolResultEvent. */
export interface ToolResultEventParts {
  data: string;
  mime: string;
  text?: string;
}

/** ToolResultEvent is the event tool_result. */
export interface ToolResultEvent extends AnyEvent {
  type: "tool_result";
  content: string;
  data?: unknown;
  display?: ToolResultEventDisplay | null;
  duration_ms: number;
  failure?: string;
  id: string;
  name: string;
  ok: boolean;
  parts?: Array<ToolResultEventParts> | null;
  status?: string;
}

/** ApprovalAskedEventQuestionHunks is hunks of ApprovalAskedEventQuestion. */
export interface ApprovalAskedEventQuestionHunks {
  added: number;
  diff: string;
  file: string;
  line: number;
  removed: number;
}

/** ApprovalAskedEventQuestionOptions is options of ApprovalAskedEventQuestion. */
export interface ApprovalAskedEventQuestionOptions {
  label: string;
  rules?: Array<string> | null;
  scope: string;
  words?: string;
}

/** ApprovalAskedEventQuestion is question of ApprovalAskedEvent. */
export interface ApprovalAskedEventQuestion {
  arguments?: unknown;
  call_id: string;
  command?: string;
  details?: Array<string> | null;
  diff?: string;
  editable?: string;
  hunks?: Array<ApprovalAskedEventQuestionHunks> | null;
  label?: string;
  options: Array<ApprovalAskedEventQuestionOptions> | null;
  title: string;
  tool: string;
}

/** ApprovalAskedEvent is the event approval_asked. */
export interface ApprovalAskedEvent extends AnyEvent {
  type: "approval_asked";
  id: string;
  question: ApprovalAskedEventQuestion;
}

/** ApprovalClosedEvent is the event approval_closed. */
export interface ApprovalClosedEvent extends AnyEvent {
  type: "approval_closed";
  by?: string;
  id: string;
}

/** ApprovalEvent is the event approval. */
export interface ApprovalEvent extends AnyEvent {
  type: "approval";
  by: string;
  decision: string;
  id: string;
  name?: string;
  rule: string;
}

/** AskEvent is the event ask. */
export interface AskEvent extends AnyEvent {
  type: "ask";
  id: string;
  label?: string;
  options: Array<string> | null;
  text: string;
}

/** FormEventFormFields is fields of FormEventForm. */
export interface FormEventFormFields {
  default?: unknown;
  description?: string;
  format?: string;
  kind: string;
  labels?: Array<string> | null;
  max?: number | null;
  min?: number | null;
  name: string;
  options?: Array<string> | null;
  pattern?: string;
  required?: boolean;
  secret?: boolean;
  title?: string;
}

/** FormEventForm is form of FormEvent. */
export interface FormEventForm {
  fields: Array<FormEventFormFields> | null;
  from: string;
  no?: string;
  person?: boolean;
  text: string;
  yes?: string;
}

/** FormEvent is the event form. */
export interface FormEvent extends AnyEvent {
  type: "form";
  form: FormEventForm;
  id: string;
}

/** AskClosedEvent is the event ask_closed. */
export interface AskClosedEvent extends AnyEvent {
  type: "ask_closed";
  by?: string;
  id: string;
}

/** TodoEventItems is items of TodoEvent. */
export interface TodoEventItems {
  status: string;
  text: string;
}

/** TodoEvent is the event todo. */
export interface TodoEvent extends AnyEvent {
  type: "todo";
  items: Array<TodoEventItems> | null;
}

/** ToolsChangedEvent is the event tools_changed. */
export interface ToolsChangedEvent extends AnyEvent {
  type: "tools_changed";
  added: Array<string> | null;
  owner: string;
  removed: Array<string> | null;
}

/** NoticeEvent is the event notice. */
export interface NoticeEvent extends AnyEvent {
  type: "notice";
  level: string;
  message: string;
}

/** RetryingEvent is the event retrying. */
export interface RetryingEvent extends AnyEvent {
  type: "retrying";
  attempt: number;
  reason: string;
  wait_ms: number;
}

/** CompactingEvent is the event compacting. */
export interface CompactingEvent extends AnyEvent {
  type: "compacting";
}

/** CompactionEvent is the event compaction. */
export interface CompactionEvent extends AnyEvent {
  type: "compaction";
  after_tokens: number;
  before_tokens: number;
}

/** RewoundEvent is the event rewound. */
export interface RewoundEvent extends AnyEvent {
  type: "rewound";
  from: number;
}

/** UsageEventTotal is total of UsageEvent. */
export interface UsageEventTotal {
  cache_write_1h_tokens?: number;
  cache_write_tokens?: number;
  cached_tokens: number;
  cost?: number;
  estimated: boolean;
  input_tokens: number;
  output_tokens: number;
  service_tier?: string;
  web_searches?: number;
}

/** UsageEvent is the event usage. */
export interface UsageEvent extends AnyEvent {
  type: "usage";
  beside?: boolean;
  cache_write_1h_tokens?: number;
  cache_write_tokens?: number;
  cached_tokens: number;
  context_tokens?: number;
  context_window?: number;
  cost?: number;
  cost_usd: number | null;
  estimated: boolean;
  input_tokens: number;
  output_tokens: number;
  service_tier?: string;
  total?: UsageEventTotal | null;
  web_searches?: number;
}

/** QueueEventPrompts is prompts of QueueEvent. */
export interface QueueEventPrompts {
  id: string;
  text: string;
}

/** QueueEvent is the event queue. */
export interface QueueEvent extends AnyEvent {
  type: "queue";
  prompts: Array<QueueEventPrompts> | null;
}

/** PreparingEvent is the event preparing. */
export interface PreparingEvent extends AnyEvent {
  type: "preparing";
  doing: string;
  prompt: string;
  queued?: string;
}

/** UnsentEvent is the event unsent. */
export interface UnsentEvent extends AnyEvent {
  type: "unsent";
  error: string;
  prompt: string;
  queued?: string;
}

/** StateEvent is the event state. */
export interface StateEvent extends AnyEvent {
  type: "state";
  busy: boolean;
  cwd: string;
  effort?: string;
  max_mode?: string;
  mode: string;
  model: string;
  planning?: boolean;
  private?: boolean;
  read_only?: boolean;
  role: string;
  session_id: string;
  title: string;
}

/** TurnEndEvent is the event turn_end. */
export interface TurnEndEvent extends AnyEvent {
  type: "turn_end";
  calls: number;
  duration_ms: number;
  error?: string;
  finish?: string;
  queued?: string;
  reason: string;
  steps: number;
  text: string;
  turn: number;
}

/** NotesUsedEventNotes is notes of NotesUsedEvent. */
export interface NotesUsedEventNotes {
  from: string;
  id: string;
  text: string;
}

/** NotesUsedEvent is the event notes_used. */
export interface NotesUsedEvent extends AnyEvent {
  type: "notes_used";
  notes: Array<NotesUsedEventNotes> | null;
}

/** AgentEvent is the event agent. */
export interface AgentEvent extends AnyEvent {
  type: "agent";
  added?: number;
  answer?: string;
  call?: string;
  changed?: boolean;
  cost_usd: number;
  dir?: string;
  doing?: string;
  ended?: string | null;
  estimated?: boolean;
  files?: number;
  model?: string;
  name: string;
  of?: string;
  removed?: number;
  role?: string;
  session_id: string;
  started?: string | null;
  status: string;
  tokens: number;
}

/** The types of these by their words. */
export interface Events {
  "turn_start": TurnStartEvent;
  "step_start": StepStartEvent;
  "text": TextEvent;
  "reasoning": ReasoningEvent;
  "answer_reset": AnswerResetEvent;
  "tool_writing": ToolWritingEvent;
  "assistant": AssistantEvent;
  "tool_call": ToolCallEvent;
  "tool_progress": ToolProgressEvent;
  "tool_result": ToolResultEvent;
  "approval_asked": ApprovalAskedEvent;
  "approval_closed": ApprovalClosedEvent;
  "approval": ApprovalEvent;
  "ask": AskEvent;
  "form": FormEvent;
  "ask_closed": AskClosedEvent;
  "todo": TodoEvent;
  "tools_changed": ToolsChangedEvent;
  "notice": NoticeEvent;
  "retrying": RetryingEvent;
  "compacting": CompactingEvent;
  "compaction": CompactionEvent;
  "rewound": RewoundEvent;
  "usage": UsageEvent;
  "queue": QueueEvent;
  "preparing": PreparingEvent;
  "unsent": UnsentEvent;
  "state": StateEvent;
  "turn_end": TurnEndEvent;
  "notes_used": NotesUsedEvent;
  "agent": AgentEvent;
}

// Lines of input, and what jcode writes in answer to them.

/** AgentsMessageLine is the line agents.message of the input. */
export interface AgentsMessageLine {
  name: string;
  text?: string;
}

/** AgentsOutputLine is the line agents.output of the input. */
export interface AgentsOutputLine {
  name: string;
  text?: string;
}

/** AgentsStopLine is the line agents.stop of the input. */
export interface AgentsStopLine {
  name: string;
  text?: string;
}

/** AnswerLine is the line answer of the input. */
export interface AnswerLine {
  hunks?: Array<number> | null;
  id: string;
  option: number;
  word?: string;
}

/** ChoicesLine is the line choices of the input. */
export interface ChoicesLine {
}

/** FilesLine is the line files of the input. */
export interface FilesLine {
  query: string;
}

/** FillLine is the line fill of the input. */
export interface FillLine {
  action: string;
  id: string;
  values?: Record<string, unknown>;
}

/** InterruptLine is the line interrupt of the input. */
export interface InterruptLine {
}

/** MCPLine is the line mcp of the input. */
export interface MCPLine {
  message: unknown;
  server: string;
}

/** PromptLinePictures is pictures of PromptLine. */
export interface PromptLinePictures {
  data: string;
  name?: string;
}

/** PromptLine is the line prompt of the input. */
export interface PromptLine {
  pictures?: Array<PromptLinePictures> | null;
  text: string;
}

/** ReplyLine is the line reply of the input. */
export interface ReplyLine {
  id: string;
  text: string;
}

/** RewindLine is the line rewind of the input. */
export interface RewindLine {
  seq: number;
  what?: string;
}

/** RoleLine is the line role of the input. */
export interface RoleLine {
  name?: string;
}

/** ServeLine is the line serve of the input. */
export interface ServeLine {
  name: string;
  timeout_seconds?: number;
  trusted?: boolean;
}

/** SetLine is the line set of the input. */
export interface SetLine {
  mode?: string;
  model?: string;
}

/** UndoLine is the line undo of the input. */
export interface UndoLine {
  redo?: boolean;
}

/** UnqueueLine is the line unqueue of the input. */
export interface UnqueueLine {
  id: string;
}

/** AgentsOutputOutput is what jcode writes of agents.output. */
export interface AgentsOutputOutput {
  text: string;
}

/** ChoicesOutputModels is models of ChoicesOutput. */
export interface ChoicesOutputModels {
  current?: boolean;
  info?: string;
  name: string;
}

/** ChoicesOutputRoles is roles of ChoicesOutput. */
export interface ChoicesOutputRoles {
  current?: boolean;
  info?: string;
  name: string;
}

/** ChoicesOutput is what jcode writes of choices. */
export interface ChoicesOutput {
  models: Array<ChoicesOutputModels> | null;
  roles: Array<ChoicesOutputRoles> | null;
}

/** FilesOutput is what jcode writes of files. */
export interface FilesOutput {
  names: Array<string> | null;
}

/** MCPOutput is what jcode writes of mcp. */
export interface MCPOutput {
  type?: string;
  message: unknown;
  server: string;
}

/** PromptedOutput is what jcode writes of prompted. */
export interface PromptedOutput {
  id?: string;
  said?: string;
}

/** ResponseOutput is what jcode writes of response. */
export interface ResponseOutput {
  type: string;
  error?: string;
  kind?: string;
  line: number;
  ok: boolean;
  request?: string;
  result?: unknown;
}

/** RewindOutput is what jcode writes of rewind. */
export interface RewindOutput {
  draft?: string;
  said?: string;
}

/** ServedOutputFaults is faults of ServedOutput. */
export interface ServedOutputFaults {
  name: string;
  why: string;
}

/** ServedOutput is what jcode writes of served. */
export interface ServedOutput {
  faults?: Array<ServedOutputFaults> | null;
  tools: Array<string> | null;
}

/** UndoOutput is what jcode writes of undo. */
export interface UndoOutput {
  said: string;
}

/** The types of these by their words. */
export interface Lines {
  "agents.message": AgentsMessageLine;
  "agents.output": AgentsOutputLine;
  "agents.stop": AgentsStopLine;
  "answer": AnswerLine;
  "choices": ChoicesLine;
  "files": FilesLine;
  "fill": FillLine;
  "interrupt": InterruptLine;
  "mcp": MCPLine;
  "prompt": PromptLine;
  "reply": ReplyLine;
  "rewind": RewindLine;
  "role": RoleLine;
  "serve": ServeLine;
  "set": SetLine;
  "undo": UndoLine;
  "unqueue": UnqueueLine;
}

// The session protocol, for programs that speak it themselves.

/** AgentsMessageParams is what the method agents.message takes. */
export interface AgentsMessageParams {
  name: string;
  session: string;
  text?: string;
}

/** AgentsOutputParams is what the method agents.output takes. */
export interface AgentsOutputParams {
  name: string;
  session: string;
  text?: string;
}

/** AgentsOutputResult is what the method agents.output returns. */
export interface AgentsOutputResult {
  text: string;
}

/** AgentsStopParams is what the method agents.stop takes. */
export interface AgentsStopParams {
  name: string;
  session: string;
  text?: string;
}

/** AnswerParams is what the method answer takes. */
export interface AnswerParams {
  hunks?: Array<number> | null;
  id: string;
  option: number;
  session: string;
  word?: string;
}

/** AttachParams is what the method attach takes. */
export interface AttachParams {
  after?: number | null;
  recent?: number;
  role: string;
  session: string;
}

/** AttachResultState is state of AttachResult. */
export interface AttachResultState {
  type: string;
  agent?: string;
  agent_session?: string;
  busy: boolean;
  cwd: string;
  effort?: string;
  max_mode?: string;
  mode: string;
  model: string;
  n?: number;
  parent?: string;
  planning?: boolean;
  private?: boolean;
  read_only?: boolean;
  role: string;
  session_id: string;
  title: string;
  to?: number;
  worktree?: string;
}

/** AttachResult is what the method attach returns. */
export interface AttachResult {
  before?: number;
  history?: Array<unknown> | null;
  last: number;
  now?: Array<unknown> | null;
  resumed: boolean;
  role: string;
  session: string;
  state: AttachResultState | null;
}

/** BesideResult is what the method beside returns. */
export interface BesideResult {
}

/** ChoicesParams is what the method choices takes. */
export interface ChoicesParams {
  session: string;
}

/** ChoicesResultModels is models of ChoicesResult. */
export interface ChoicesResultModels {
  current?: boolean;
  info?: string;
  name: string;
}

/** ChoicesResultRoles is roles of ChoicesResult. */
export interface ChoicesResultRoles {
  current?: boolean;
  info?: string;
  name: string;
}

/** ChoicesResult is what the method choices returns. */
export interface ChoicesResult {
  models: Array<ChoicesResultModels> | null;
  roles: Array<ChoicesResultRoles> | null;
}

/** DetachParams is what the method detach takes. */
export interface DetachParams {
  session: string;
}

/** FilesParams is what the method files takes. */
export interface FilesParams {
  query: string;
  session: string;
}

/** FilesResult is what the method files returns. */
export interface FilesResult {
  names: Array<string> | null;
}

/** FillParams is what the method fill takes. */
export interface FillParams {
  action: string;
  id: string;
  session: string;
  values?: Record<string, unknown>;
}

/** HelloParams is what the method hello takes. */
export interface HelloParams {
  name: string;
  token: string;
  version: number;
}

/** HelloResultBackground is background of HelloResult. */
export interface HelloResultBackground {
  folder: string;
  windows: number;
}

/** HelloResult is what the method hello returns. */
export interface HelloResult {
  background?: HelloResultBackground | null;
  jcode: string;
  pid: number;
  version: number;
}

/** HistoryParams is what the method history takes. */
export interface HistoryParams {
  before: number;
  session: string;
}

/** HistoryResult is what the method history returns. */
export interface HistoryResult {
  history: Array<unknown> | null;
}

/** InterruptParams is what the method interrupt takes. */
export interface InterruptParams {
  session: string;
}

/** PromptParamsPictures is pictures of PromptParams. */
export interface PromptParamsPictures {
  data: string;
  name?: string;
}

/** PromptParams is what the method prompt takes. */
export interface PromptParams {
  pictures?: Array<PromptParamsPictures> | null;
  session: string;
  text: string;
}

/** PromptResult is what the method prompt returns. */
export interface PromptResult {
  id: string;
  session: string;
}

/** ReplyParams is what the method reply takes. */
export interface ReplyParams {
  id: string;
  session: string;
  text: string;
}

/** RewindParams is what the method rewind takes. */
export interface RewindParams {
  seq: number;
  session: string;
  what?: string;
}

/** RewindResult is what the method rewind returns. */
export interface RewindResult {
  draft?: string;
  said?: string;
}

/** RoleParams is what the method role takes. */
export interface RoleParams {
  name?: string;
  session: string;
}

/** SessionsResult is what the method sessions returns. */
export interface SessionsResult {
}

/** SetParams is what the method set takes. */
export interface SetParams {
  mode?: string;
  model?: string;
  session: string;
}

/** ShowParams is what the method show takes. */
export interface ShowParams {
  cols: number;
  role: string;
  rows: number;
  said?: string;
}

/** SizeParams is what the method size takes. */
export interface SizeParams {
  cols: number;
  rows: number;
}

/** TypeParams is what the method type takes. */
export interface TypeParams {
  keys: string;
}

/** UndoParams is what the method undo takes. */
export interface UndoParams {
  redo?: boolean;
  session: string;
}

/** UndoResult is what the method undo returns. */
export interface UndoResult {
  said: string;
}

/** UnqueueParams is what the method unqueue takes. */
export interface UnqueueParams {
  id: string;
  session: string;
}

/** DrawNote is the notification draw. */
export interface DrawNote {
  data: string;
}

/** EndedNote is the notification ended. */
export interface EndedNote {
  session: string;
  why: string;
}

/** EventNote is the notification event. */
export interface EventNote {
  event: unknown;
  session: string;
}

/** LeftNote is the notification left. */
export interface LeftNote {
  code?: number;
  name?: string;
  process?: number;
  why: string;
}
