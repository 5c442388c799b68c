package cli

import (
	"errors"
	"fmt"
	"strconv"

	backgroundcli "jcode/cli/background"
	"jcode/cli/config"
	"jcode/cli/demo"
	doctorcli "jcode/cli/doctor"
	documentscli "jcode/cli/documents"
	editorscli "jcode/cli/editors"
	"jcode/cli/eval"
	luacli "jcode/cli/lua"
	"jcode/cli/manual"
	mcpcli "jcode/cli/mcp"
	"jcode/cli/memory"
	modelscli "jcode/cli/models"
	permissionscli "jcode/cli/permissions"
	pluginscli "jcode/cli/plugins"
	"jcode/cli/review"
	rolescli "jcode/cli/roles"
	servecli "jcode/cli/serve"
	sessionscli "jcode/cli/sessions"
	skillscli "jcode/cli/skills"
	"jcode/cli/switching"
	taskscli "jcode/cli/tasks"
	updatecli "jcode/cli/update"
	"jcode/cli/usage"
	workercli "jcode/cli/worker"
	"jcode/tools"
)

// flags are the root's flags, which apply to all commands.
type flags struct {
	Print        bool      `short:"p" help:"Answer one prompt without a terminal UI; piped input is appended to it."`
	OutputFormat string    `enum:"text,json,stream-json" default:"text" help:"Output with -p: ${enum}." placeholder:"FORMAT"`
	InputFormat  string    `enum:"text,stream-json" default:"text" help:"Input with -p: ${enum}, which takes prompts, answers and interrupts while it runs, one object a line." placeholder:"FORMAT"`
	OutputSchema string    `name:"output-schema" aliases:"json-schema" help:"With -p: the answer is one JSON value that fits this JSON Schema, a file or the schema itself." placeholder:"FILE"`
	Output       string    `short:"o" help:"With -p: write the answer alone to this file too." placeholder:"FILE"`
	Model        string    `short:"m" help:"Model: ID, provider/model, or replay:FILE." placeholder:"ID" env:"JCODE_MODEL"`
	BaseURL      string    `name:"base-url" help:"OpenAI-compatible endpoint." placeholder:"URL" env:"OPENAI_BASE_URL"`
	Role         string    `help:"Start in a role." placeholder:"NAME"`
	Var          []string  `help:"Value of a variable of the role, as NAME=VALUE; repeatable." placeholder:"NAME=VALUE" sep:"none"`
	Continue     bool      `short:"c" help:"Continue the last session in this folder."`
	Resume       string    `short:"r" help:"Resume a session, by its ID or title, or @claude, @codex and so on for their last one here; without one, pick it." placeholder:"ID"`
	Worktree     string    `short:"w" help:"Work in a git worktree of this name, made if there is none; without a name, in a new one." placeholder:"NAME"`
	Carry        bool      `help:"With -w: what is not committed comes along into a new worktree."`
	Detachable   bool      `help:"Let the session go on when this terminal closes: jcode attach shows it again, ctrl+\\ d leaves it."`
	Detach       bool      `help:"Begin in the background, without showing it: jcode attach does."`
	Fork         bool      `help:"With -c or -r: fork the session instead of continuing it."`
	Mode         string    `help:"Approval mode: ask, edits, plan, auto or yolo." placeholder:"MODE"`
	Allow        []string  `help:"Allow what matches a rule, such as 'exec(go test *)'; repeatable." placeholder:"RULE" sep:"none"`
	Deny         []string  `help:"Deny what matches a rule; repeatable." placeholder:"RULE" sep:"none"`
	MaxSteps     stepLimit `help:"Stop a turn after N model requests (exit 3)." placeholder:"N"`
	MaxCost      costLimit `help:"Stop when the session has cost this much (exit 3)." placeholder:"USD"`
	AppendPrompt string    `name:"append-system-prompt" help:"Add to the system prompt." placeholder:"TEXT"`
	Plain        bool      `help:"No alternate screen and no redraws: for screen readers and logs."`
	Private      bool      `help:"Keep nothing of the conversation on the disk; /save does after all."`
	Debug        bool      `help:"Log in detail to the data folder (never a key)."`
	MCPConfig    string    `name:"mcp-config" help:"Use the MCP servers of this file too." placeholder:"FILE"`
	NoMCP        bool      `name:"no-mcp" help:"Connect no MCP servers."`
	NoLua        bool      `name:"no-lua" help:"Run no Lua."`
	NoSkills     bool      `name:"no-skills" help:"Load no skills."`
	Memory       string    `enum:"read,write" help:"With -p, use the notes from earlier sessions: ${enum}." placeholder:"read|write"`
	NoMemory     bool      `name:"no-memory" help:"Use no notes from earlier sessions, and keep none."`
	Elicit       string    `enum:"decline,accept-defaults" default:"decline" help:"With -p, what to answer when an MCP server asks something: ${enum}."`
	Trust        bool      `help:"Trust this folder's configuration for this run."`
	Cwd          string    `short:"C" help:"Work in this folder." placeholder:"DIR"`
	AddDir       []string  `help:"Let the tools work in this folder too; repeatable." placeholder:"DIR" sep:"none"`
	Version      bool      `help:"Print the version."`
}

// grammar is the whole command line.
type grammar struct {
	flags

	Chat   chatCmd                 `cmd:"" default:"withargs" hidden:"" help:"Chat in the terminal."`
	Attach backgroundcli.AttachCmd `cmd:"" help:"Show a session here that runs in the background, or continue one there."`
	Demo   demo.Cmd                `cmd:"" help:"Take the offline tour: real tools, scripted model."`
	Tools  toolsCmd                `cmd:"" help:"List the tools with their state and why."`

	Doctor   doctorcli.Cmd    `cmd:"" help:"Look at configuration, keys, endpoint, database, terminal and servers, and say what to do."`
	MCP      mcpcli.Cmd       `cmd:"" name:"mcp" help:"List, add, test and call MCP servers, and serve jcode's own tools."`
	Sessions sessionscli.Cmd  `cmd:"" help:"List, show, search, rename, delete and export sessions."`
	Roles    rolescli.Cmd     `cmd:"" help:"List, show, edit, import, export and delete roles."`
	Skills   skillscli.Cmd    `cmd:"" help:"List and check skills, and write new ones."`
	Plugins  pluginscli.Cmd   `cmd:"" help:"Add, list, update and remove plugins."`
	Lua      luacli.Cmd       `cmd:"" help:"Write, check and run Lua tools."`
	Config   config.Cmd       `cmd:"" help:"Show and change settings."`
	Docs     documentscli.Cmd `cmd:"" help:"Index documents for a session, and search them."`

	Memory memory.Cmd `cmd:"" name:"memory" help:"List, show, forget, export and import notes from earlier sessions."`

	ACP editorscli.Cmd `cmd:"" name:"acp" help:"Serve an editor over the Agent Client Protocol on stdin and stdout."`

	Serve servecli.Cmd `cmd:"" help:"Serve a page on which open sessions are followed and answered in a browser."`

	Usage  usage.Cmd     `cmd:"" help:"Show tokens and money used, as a table, JSON or a page."`
	Models modelscli.Cmd `cmd:"" help:"Say what models cost, and read a newer table of prices."`
	Eval   eval.Cmd      `cmd:"" help:"Try out tasks with a model, or compare set-ups."`
	Review review.Cmd    `cmd:"" help:"Review a change: findings as text, JSON or SARIF."`
	Import switching.Cmd `cmd:"" help:"Offer what other agents have set up: settings, servers, rules, hooks, commands, instructions."`
	Update updatecli.Cmd `cmd:"" help:"Say whether there is a newer release, where update.url is set."`

	Help manual.Cmd `cmd:"" hidden:"" help:"Show the manual: a page, a section, or what fits words."`

	Tasks  taskscli.Cmd  `cmd:"" help:"Queue tasks, list them, answer their questions, take what they changed."`
	Worker workercli.Cmd `cmd:"" help:"Work on queued tasks."`

	Completion completionCmd `cmd:"" help:"Print a script that completes the command line in bash, zsh or fish."`

	Permissions permissionscli.Cmd `cmd:"" help:"List rules and grants, and explain what would happen to a line."`
}

// chatCmd is the default command: interactive, or one-shot with -p.
type chatCmd struct {
	Prompt []string `arg:"" optional:"" help:"What the agent should do."`
}

// stepLimit and costLimit are limits on the command line: a value must actually limit.
type (
	stepLimit int
	costLimit float64
)

// UnmarshalText reads a whole number above 0.
func (l *stepLimit) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a whole number", text)
	}
	if n < 1 {
		return errors.New("a limit is a number above 0")
	}
	*l = stepLimit(n)
	return nil
}

// UnmarshalText reads a number above 0.
func (l *costLimit) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", text)
	}
	if !(n > 0) { // NaN too
		return errors.New("a limit is a number above 0")
	}
	*l = costLimit(n)
	return nil
}

// mode returns the mode of --mode, or fallback without the flag.
func (f *flags) mode(fallback tools.Mode) (tools.Mode, error) {
	if f.Mode == "" {
		return fallback, nil
	}
	return tools.ParseMode(f.Mode)
}

// again returns the command line on which a session goes on with this one's settings.
func (f *flags) again(to *backgroundcli.Detached) []string {
	return append([]string{"--resume=" + to.Session, "--mode=" + to.Mode}, f.passed(to.Model)...)
}

// passed returns the settings of this command line for another run of jcode with a model.
func (f *flags) passed(model string) (args []string) {
	add := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	add("model", model)
	add("base-url", f.BaseURL)
	add("append-system-prompt", f.AppendPrompt)
	add("mcp-config", f.MCPConfig)
	add("elicit", f.Elicit)
	for _, rule := range f.Allow {
		add("allow", rule)
	}
	for _, rule := range f.Deny {
		add("deny", rule)
	}
	for _, dir := range f.AddDir {
		add("add-dir", dir)
	}
	if f.MaxSteps > 0 {
		add("max-steps", fmt.Sprint(int(f.MaxSteps)))
	}
	if f.MaxCost > 0 {
		add("max-cost", fmt.Sprint(float64(f.MaxCost)))
	}
	for name, on := range map[string]bool{"debug": f.Debug, "no-mcp": f.NoMCP, "no-lua": f.NoLua, "no-skills": f.NoSkills, "no-memory": f.NoMemory, "trust": f.Trust} {
		if on {
			args = append(args, "--"+name)
		}
	}
	return args
}
