package config

import "jcode/hooks"

// Config is the content of config.json. The zero value of a field means that nobody set it. The tags say the
// rest: desc explains a field, enum lists its values, known those besides the names of files in a folder, default is the value when it is absent, min and max
// bound a number, and narrow says how a project that nobody trusts may set it: by appending to a list, with a
// lower number, with `false`, or with a stricter mode. Without narrow it needs trust. A part with personal is left out
// of a project's setting even if that is trusted: always, or where it names variables. Fields with rule hold
// permission rules.
type Config struct {
	Model         string              `json:"model" desc:"Model to start with: ID, or provider/ID."`
	Provider      string              `json:"provider" desc:"Provider of models that are named without one."`
	FallbackModel string              `json:"fallback_model" desc:"Model that takes over when the first one fails for good."`
	SmallModel    string              `json:"small_model" desc:"Model for what little depends on: titles, drafts of notes. Without one it is the cheapest that is known of the same maker, at the maker's own address; none asks the conversation's own."`
	Favorites     []string            `json:"favorite_models" desc:"Models that come first in lists of models, in this order, with a ★: ID, or provider/ID. Without any, those that you have used come first."`
	Providers     map[string]Provider `json:"providers" desc:"Providers by name: new ones, and changes to those that jcode knows."`
	Models        []Model             `json:"models" desc:"What jcode should know of models that it doesn't."`

	Mode        string      `json:"mode" desc:"Approval mode to start with." enum:"plan,ask,edits,auto,yolo" default:"ask" narrow:"careful"`
	Permissions Permissions `json:"permissions" desc:"Approval rules, such as exec(go test *) or write(src/**)."`
	Sandbox     Sandbox     `json:"sandbox" desc:"What commands may do in mode auto."`
	Environment Environment `json:"environment" desc:"What commands see of your environment."`
	Trust       Trust       `json:"trust" desc:"Projects whose files are trusted without a question."`

	MCP          MCP        `json:"mcp" desc:"MCP servers in general; the servers themselves are configured in mcp.json."`
	Skills       Skills     `json:"skills" desc:"Skills."`
	Lua          Lua        `json:"lua" desc:"Lua."`
	LSP          LSP        `json:"lsp" desc:"Language servers."`
	Memory       string     `json:"memory" desc:"Notes from one session to the next: ask shows each before it is kept, auto keeps those without asking that come from your words or the agent's own work, off keeps and reads none." enum:"off,ask,auto" default:"ask" narrow:"earlier"`
	MemoryDrafts *bool      `json:"memory_drafts" desc:"At the end of a longer session, have the model propose notes, which /memory shows as drafts." default:"false" narrow:"false"`
	Docs         Docs       `json:"docs" desc:"Documents of roles and sessions."`
	Compaction   Compaction `json:"compaction" desc:"When a long conversation is summarised."`
	Loop         Loop       `json:"loop" desc:"When a model that repeats itself is stopped."`
	AfterEdit    []Command  `json:"after_edit" desc:"Commands that run after an edit of a matching file."`
	Hooks        Hooks      `json:"hooks" desc:"Commands that run when something happens: at tool calls, prompts, the end of a turn or session. docs/hooks.md has the events and the form."`
	Prelude      Prelude    `json:"prelude" desc:"What a start begins with."`
	Agents       Agents     `json:"agents" desc:"Sub-agents that work in the background."`
	Undo         Undo       `json:"undo" desc:"What /undo can restore."`
	Worktree     Worktree   `json:"worktree" desc:"Worktrees of sub-agents."`
	Tasks        Tasks      `json:"tasks" desc:"Tasks that wait for a worker: jcode tasks, jcode worker."`
	Telemetry    Telemetry  `json:"telemetry" desc:"What a collector of OpenTelemetry is told, if OTEL_EXPORTER_OTLP_ENDPOINT names one."`
	Update       Update     `json:"update" desc:"Newer releases."`
	WebSearch    WebSearch  `json:"web_search" desc:"The tool web_search, with a search service of yours."`

	Remote        *bool  `json:"remote" desc:"Other programs of yours may follow the sessions of this process and, where they may, answer its questions: jcode sessions ps lists them." default:"true" narrow:"false"`
	RemoteAnswers string `json:"remote_answers" desc:"Which answers to approval questions may come from there: those for the session at most, or all." enum:"session,all" default:"session" narrow:"never"`

	Detachable *bool `json:"detachable" desc:"Chats run in the background and go on when their terminal closes: jcode attach shows them again." default:"false" narrow:"never"`

	MaxSteps    int      `json:"max_steps" desc:"Most model requests in one turn." default:"200" min:"1" narrow:"lower"`
	MaxCost     float64  `json:"max_cost" desc:"US dollars that a session may cost; 0 means no limit." min:"0" narrow:"lower"`
	IdleTimeout Duration `json:"idle_timeout" desc:"How long a model may stay silent; its first data may take two and a half times as long." default:"120s"`
	Attempts    int      `json:"attempts" desc:"Most attempts at a model request when the provider or the network fails." default:"5" min:"1" narrow:"lower"`

	Theme         string          `json:"theme" desc:"Colours: auto, dark, light, high-contrast, ansi16, or the name of a file in the folder themes beside this file." known:"auto,dark,light,high-contrast,ansi16" files:"themes" default:"auto"`
	Keys          map[string]List `json:"keys" desc:"Keys by action, as /keys lists them: \"submit\": \"ctrl+s\", or a list of keys."`
	StatusLine    StatusLine      `json:"status_line" desc:"Parts of the status line, in order; or, in your own file only, a command that writes the line."`
	Editor        string          `json:"editor" desc:"Command of the external editor." default:"$VISUAL, then $EDITOR"`
	Vi            *bool           `json:"vi" desc:"Vi keys in the input." default:"false"`
	Leave         string          `json:"leave" desc:"What stays in the terminal after a chat: text is the end of the conversation, at most 200 lines." enum:"text,none" default:"text"`
	Notifications string          `json:"notifications" desc:"How to notify you when a turn ends or waits and the window has no focus: auto notifies and rings the bell." enum:"auto,bell,off" default:"auto"`
}

// StatusLine says what the status line shows: parts in order, or what a command writes. A project's file may name
// parts only.
type StatusLine struct {
	Parts   []string `json:"parts"`
	Command string   `json:"command" personal:"true"`
}

// StatusParts are the parts that a status line may have, in the order that it has without a setting.
func StatusParts() []string {
	return []string{"mode", "model", "role", "branch", "context", "cost", "health", "title", "cwd"}
}

// Hooks are commands by event, as docs/hooks.md lists the events.
type Hooks map[string][]hooks.Group

// Provider is an endpoint, or changes to one that jcode knows.
type Provider struct {
	BaseURL     string            `json:"base_url" desc:"Address of the API, usually ending in /v1. Its query is sent with each request, {model} in it stands for the model's ID, and ${NAME} for a variable of the environment." personal:"variables"`
	Protocol    string            `json:"protocol" desc:"How the endpoint is spoken to: OpenAI's chat completions, OpenAI's Responses, Anthropic's Messages, or Google's generateContent. An address of your own is assumed to speak chat." enum:"chat,responses,messages,gemini"`
	Cache       string            `json:"cache" desc:"How long the prompt cache is kept, if the provider lets one choose." enum:"5m,1h,off" default:"5m"`
	WebSearch   *bool             `json:"web_search" desc:"The provider may search the web while it answers, if it can (protocols responses and messages). It is not asked about each time, and searches cost extra." default:"false"`
	KeyEnv      string            `json:"key_env" desc:"Environment variable that holds the key."`
	KeyCommand  []string          `json:"key_command" desc:"Program with its arguments that writes the key, or JSON with access_token: [\"gcloud\", \"auth\", \"print-access-token\"]. It runs in your home folder when a key is needed, and again when that has expired or is refused." personal:"true"`
	KeyHeader   string            `json:"key_header" desc:"Header that carries the key in place of Authorization." personal:"true"`
	Preset      string            `json:"preset" desc:"Provider that jcode knows, with whose settings this one begins: a second account is a provider of another name." personal:"true"`
	Region      string            `json:"region" desc:"Region of a cloud, such as eu-central-1 or europe-west1." personal:"true"`
	Project     string            `json:"project" desc:"Project of Google Cloud." personal:"true"`
	Profile     string            `json:"profile" desc:"Profile of AWS's configuration." personal:"true"`
	Headers     map[string]string `json:"headers" desc:"Headers of each request. ${NAME} stands for a variable of the environment." secret:"true" personal:"variables"`
	ExtraBody   map[string]any    `json:"extra_body" desc:"Fields of the request's body that only this provider knows."`
	Prefer      []string          `json:"prefer" desc:"Beginnings of model IDs, the first choice first, for when no model is named."`
	Local       *bool             `json:"local" desc:"The endpoint needs no key."`
	MaxTools    int               `json:"max_tools" desc:"Most tools that a request may contain." min:"1" default:"128"`
	IdleTimeout Duration          `json:"idle_timeout" desc:"How long this provider may stay silent."`
	Quirks      Quirks            `json:"quirks" desc:"Peculiarities of the provider."`
}

// Update says where newer releases are announced.
type Update struct {
	URL    string `json:"url" desc:"Address that jcode update --check asks; without one nothing is ever contacted." narrow:"never"`
	Models string `json:"models" desc:"Address or file of a table of models and prices, which jcode models update reads; without one nothing is ever contacted." narrow:"never"`
}

// WebSearch says which service the tool web_search asks. Without an engine the tool is not offered.
type WebSearch struct {
	Engine string `json:"engine" desc:"Service that is asked. The key of the last three is read from BRAVE_API_KEY, EXA_API_KEY or TAVILY_API_KEY." enum:"searxng,brave,exa,tavily" narrow:"never"`
	URL    string `json:"url" desc:"Address of the service: your own server for searxng, otherwise a replacement for the usual one." narrow:"never"`
	KeyEnv string `json:"key_env" desc:"Another environment variable that holds the key." narrow:"never"`
}

// Quirks are the peculiarities of a provider.
type Quirks struct {
	DeveloperRole       *bool    `json:"developer_role" desc:"The system prompt goes under the role developer."`
	MaxCompletionTokens *bool    `json:"max_completion_tokens" desc:"The output limit is called max_completion_tokens."`
	NoStreamOptions     *bool    `json:"no_stream_options" desc:"stream_options is left out."`
	Strict              *bool    `json:"strict" desc:"Tool schemas are marked strict."`
	SimpleSchemas       *bool    `json:"simple_schemas" desc:"Tool schemas are sent without references, formats and look-around patterns."`
	AnswerSchemas       *bool    `json:"answer_schemas" desc:"With --output-schema, the schema is sent in the protocol's own field."`
	NoTemperature       *bool    `json:"no_temperature" desc:"temperature and top_p are left out."`
	NoImages            *bool    `json:"no_images" desc:"Images are replaced by a note."`
	ReasoningBack       *bool    `json:"reasoning_back" desc:"Reasoning is sent back as reasoning_content."`
	ThinkOpen           *bool    `json:"think_open" desc:"Answers begin inside a think block without its opening tag."`
	AlternateTurns      *bool    `json:"alternate_turns" desc:"Consecutive messages of one side are joined, and an answer is inserted between a tool's result and your next message."`
	CappedCallIDs       *bool    `json:"capped_call_ids" desc:"Send call ids of at most 40 characters."`
	ShortCallIDs        *bool    `json:"short_call_ids" desc:"Call IDs have nine letters and digits."`
	CacheMarkers        []string `json:"cache_markers" desc:"Beginnings of model IDs that get prompt cache markers; \"\" is all."`
}

// Model is what is known of a model.
type Model struct {
	ID        string `json:"id" desc:"The model's ID at its provider." required:"true"`
	Window    int    `json:"window" desc:"Context window in tokens." min:"1"`
	MaxOutput int    `json:"max_output" desc:"Longest answer in tokens." min:"1"`
	Prices    Prices `json:"prices" desc:"US dollars per million tokens."`
	Vision    *bool  `json:"vision" desc:"It accepts images."`
	Reasons   *bool  `json:"reasons" desc:"It thinks before it answers."`
	Patches   *bool  `json:"apply_patch" desc:"It was trained to change files with the tool apply_patch and is offered it. OpenAI's models are by default."`
}

// Prices are in US dollars per million tokens.
type Prices struct {
	Input  float64 `json:"input" desc:"Tokens sent." min:"0"`
	Output float64 `json:"output" desc:"Tokens received." min:"0"`
	Cached float64 `json:"cached" desc:"Tokens sent that the provider had in its cache." min:"0"`
}

// Permissions are approval rules; deny takes precedence over ask, and ask over allow.
type Permissions struct {
	Allow []string `json:"allow" desc:"What runs without a question." merge:"append" rule:"allow"`
	Ask   []string `json:"ask" desc:"What asks although a rule allows it." merge:"append" rule:"restrict" narrow:"append"`
	Deny  []string `json:"deny" desc:"What is refused; a tool that is denied entirely isn't offered." merge:"append" rule:"restrict" narrow:"append"`
}

// Sandbox bounds the commands of mode auto.
type Sandbox struct {
	Network *bool    `json:"network" desc:"Commands in the sandbox may use the network." default:"false" narrow:"false"`
	Caches  []string `json:"caches" desc:"Folders outside the project that commands may write, such as ~/.cache/go-build." merge:"append"`
	Protect []string `json:"protect" desc:"Additional files of the project that are never changed silently, such as .env." merge:"append" narrow:"append"`
}

// Undo says what is kept of the files that commands change.
type Undo struct {
	Commands *bool    `json:"commands" desc:"Keep what commands, tools of MCP servers and Lua change in files, so that /undo reverts it." default:"true"`
	LeaveOut []string `json:"leave_out" desc:"Additional names of folders that can be built again and are not looked into, such as coverage." merge:"append"`
	Secrets  *bool    `json:"secrets" desc:"Keep the contents of secrets such as .env and keys, too." default:"false" narrow:"false"`
}

// Environment adapts the environment of commands.
type Environment struct {
	Keep []string `json:"keep" desc:"Variables that commands get although their names or values look like secrets, such as NPM_TOKEN. Keys of providers are never passed." merge:"append"`
}

// Trust lists what needs no question.
type Trust struct {
	Folders []string `json:"folders" desc:"Project folders, absolute or with ~/; a pattern such as ~/code/* is allowed. Only your own file may set this." narrow:"never"`
}

// MCP bounds what MCP servers add to a request.
type MCP struct {
	Tools          string `json:"tools" desc:"Whether the tools of servers are offered one by one, or through three that search and call them." enum:"auto,direct,deferred" default:"auto"`
	DeferThreshold Amount `json:"deferThreshold" desc:"Size of all tool definitions beyond which auto defers: tokens, or a share of the context window such as \"10%\"." default:"10%"`
	MaxTools       int    `json:"maxTools" desc:"Most tools that a request may contain, unless the provider has its own limit." default:"128" min:"1" narrow:"lower"`
	ImportClaude   *bool  `json:"importClaude" desc:"Read the servers of ~/.claude/mcp.json and ~/.claude.json too." default:"true" narrow:"false"`
}

// Skills says where additional skills are.
type Skills struct {
	Folders  []string `json:"folders" desc:"Additional folders of skills, absolute, with ~/, or relative to the config file." merge:"append"`
	Disabled []string `json:"disabled" desc:"Names of skills that are not used." merge:"append" narrow:"append"`
}

// Lua switches optional parts of Lua on or off.
type Lua struct {
	Eval *bool `json:"eval" desc:"Offer lua_eval, which computes without side effects, to the model." default:"false" narrow:"false"`
}

// Docs are the settings of documents that can be searched.
type Docs struct {
	EmbeddingModel string `json:"embedding_model" desc:"Model that ranks passages by meaning as well as by their words: provider/ID, at an endpoint that speaks OpenAI's embeddings. The texts of your documents and notes are sent to it."`
}

// LSP are the settings of language servers.
type LSP struct {
	AfterEdit *bool                     `json:"after_edit" desc:"After an edit, tell the model which errors are new." default:"true" narrow:"false"`
	Servers   map[string]LanguageServer `json:"servers" desc:"Language servers by name: new ones, and changes to those that jcode knows."`
}

// LanguageServer is one language server.
type LanguageServer struct {
	Command  []string          `json:"command" desc:"Program and arguments."`
	Files    []string          `json:"files" desc:"Endings or names of its files, such as .go."`
	Roots    []string          `json:"roots" desc:"Files whose folder is the root of a project, such as go.mod; with ^ in front, the outermost match is used."`
	Settings map[string]any    `json:"settings" desc:"The server's own settings."`
	Env      map[string]string `json:"env" desc:"Variables that are set for it." secret:"true"`
	Disabled *bool             `json:"disabled" desc:"It is never started." default:"false"`
}

// Compaction says when history is summarised.
type Compaction struct {
	Threshold Share `json:"threshold" desc:"Filled part of the context window: 0.85 or \"85%\"." default:"0.85"`
}

// Loop bounds repetition within a turn.
type Loop struct {
	Repeats int `json:"repeats" desc:"Equal calls with equal results after which the next one isn't run." default:"4" min:"2" narrow:"lower"`
	Alerts  int `json:"alerts" desc:"Alerts in one turn that end it." default:"2" min:"1" narrow:"lower"`
}

// Agents bounds sub-agents in the background.
type Agents struct {
	Max int `json:"max" desc:"Agents that work at once." default:"8" min:"1" narrow:"lower"`
}

// Worktree says what a sub-agent's copy of the files contains besides what git has.
type Worktree struct {
	Copy []string `json:"copy" desc:"Paths that git ignores and the work needs, such as .env and node_modules: files are copied, folders linked." merge:"append"`
}

// Tasks are the settings of workers.
type Tasks struct {
	Queue         string   `json:"queue" desc:"Address of a Postgres that has the tasks instead of a file of yours, such as postgres://jcode@db.example.com/jcode: workers of several machines share them. The password belongs into PGPASSWORD or the file of PGPASSFILE." narrow:"never"`
	MaxCostPerDay float64  `json:"max_cost_per_day" desc:"US dollars that the tasks of a day may cost together; one that would pass it waits until the next day. 0 means no limit." min:"0" narrow:"never"`
	Wait          Duration `json:"wait" desc:"How long a task that asks you something keeps its slot: then others work there, and it goes on when you have answered." default:"60s" narrow:"never"`
}

// Telemetry says what a collector of OpenTelemetry is told, if the environment names one.
type Telemetry struct {
	Content bool `json:"content" desc:"Send prompts, answers, and arguments and results of calls too, not only names, times, tokens and costs." narrow:"never"`
}

// Command runs for files that match.
type Command struct {
	Glob string `json:"glob" desc:"Files, such as **/*.go, relative to the project's root." required:"true"`
	Cmd  string `json:"cmd" desc:"Shell command; the file is $FILE in it." required:"true"`
}

// Prelude sets the defaults of a start for what the command line doesn't say.
type Prelude struct {
	Role    string `json:"role" desc:"Role to start in."`
	Session string `json:"session" desc:"What to start with: a new session, or the last one of the folder." enum:"new,continue" default:"new"`
	Command string `json:"command" desc:"Slash command to run first, such as /init."`
}

// IsOn reports whether a setting that may be left out is on.
func IsOn(b *bool) bool { return b != nil && *b }

// IsOff reports whether a setting that may be left out is off.
func IsOff(b *bool) bool { return b != nil && !*b }
