package tools

import "context"

// TrustKind is a kind of item that needs trust.
type TrustKind string

// The kinds of items, which can run code or extend what runs.
const (
	TrustMCP     TrustKind = "mcp"        // an entry of an MCP file
	TrustLuaTool TrustKind = "lua tool"   // a tool folder
	TrustPlugin  TrustKind = "lua plugin" // a plugin file
	TrustSkill   TrustKind = "skill"      // a skill's allowed-tools
	TrustCommand TrustKind = "command"    // a command file with shell lines or rules
	TrustConfig  TrustKind = "config"     // a setting that allows more
	TrustRole    TrustKind = "role"       // a role with more rights
	TrustHook    TrustKind = "hooks"      // hooks of a settings file
	TrustServer  TrustKind = "language server"
	TrustBundle  TrustKind = "plugin" // a plugin: commands, skills, hooks, servers in one

	// What a program of others may do besides what the sandbox lets it. The name of such an item
	// is the title of the program's own; its hash is that item's, too.
	TrustNetwork TrustKind = "network" // it may use the network
	TrustOutside TrustKind = "outside" // it may write outside the project: it is not confined
)

// More returns the item of a right that the program of an item may have besides.
func (i TrustItem) More(kind TrustKind) TrustItem {
	out := TrustItem{Kind: kind, Name: i.Title(), Hash: i.Hash, File: i.File, Personal: i.Personal, Runs: []string{"may use the network"}}
	if kind == TrustOutside {
		out.Runs = []string{"may write outside this project: it is not confined"}
	}
	return out
}

// TrustItem is one thing that runs only in a version that a person approved. Kind, Name and
// Hash identify that version.
type TrustItem struct {
	Kind TrustKind
	// Name is unique within the kind: a server's key, a setting's dotted key.
	Name string
	// Hash covers everything that decides what would run; after any change the person is asked again.
	Hash string
	// File is the file that contains it.
	File string
	// Runs are the lines that a person must see: the whole command line, the permissions
	// asked for, the shell lines, the setting's value.
	Runs []string
	// Personal says that the file is the person's own, not the project's: its approval applies
	// to every project.
	Personal bool
}

// AllLua is the name of the item for all Lua of a project.
const AllLua = "all Lua of the project"

// Title names the item in a sentence: "mcp server github".
func (i TrustItem) Title() string {
	if i.Kind == TrustLuaTool && i.Name == AllLua {
		return i.Name
	}
	return string(i.Kind) + " " + i.Name
}

// Trust records which versions a person has approved. It is the only owner of approvals; whatever
// runs files of a project asks it. It is safe for concurrent use.
type Trust interface {
	// Trusted reports whether exactly this version was approved. An error means no.
	Trusted(ctx context.Context, item TrustItem) (bool, error)
	// Unconfined reports whether the item was trusted by a version of jcode that did not confine
	// programs: it stays as it was until it changes.
	Unconfined(ctx context.Context, item TrustItem) bool
	// Accept records a person's approval of items as they were shown: permanently with keep,
	// otherwise for this run.
	Accept(ctx context.Context, items []TrustItem, keep bool) error
}
