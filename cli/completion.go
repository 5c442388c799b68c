package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"jcode/agent/model/provider"
	rolescli "jcode/cli/roles"
	taskscli "jcode/cli/tasks"
	"jcode/internal/commandline"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/mcp"
	"jcode/session"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/command"
)

// completionCommand is what the scripts of `jcode completion` call on each Tab.
const completionCommand = "__complete"

// completionCmd prints a script that completes jcode's command line.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"${enum}."`
}

// Help implements commandline.Detailed: the line that installs the script in each shell.
func (*completionCmd) Help() string {
	return `bash, in ~/.bashrc:
  source <(jcode completion bash)
zsh, in ~/.zshrc, after compinit:
  source <(jcode completion zsh)
fish, once:
  jcode completion fish > ~/.config/fish/completions/jcode.fish

Packages of a release install the scripts by themselves.`
}

// The scripts pass the words so far to jcode and read one candidate per line, with its
// description after a tab.
var completionScripts = map[string]string{
	"bash": `_jcode() {
  local word words=()
  # Bash takes --mode=plan and a:b for several words: they are one.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    local last=$((${#words[@]} - 1))
    if ((last >= 0)) && [[ $word == [=:]* || ${words[last]} == *[=:] ]]; then words[last]+=$word; else words+=("$word"); fi
  done
  local whole=${words[${#words[@]} - 1]}
  local before=${whole%"$2"}
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    COMPREPLY+=("${word#"$before"}")
  done < <(jcode ` + completionCommand + ` "${words[@]}" 2>/dev/null)
  ((${#COMPREPLY[@]})) || while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(compgen -f -- "$2")
}
complete -o filenames -F _jcode jcode
`,
	"zsh": `#compdef jcode
_jcode() {
  local -a list
  local line
  for line in ${(f)"$(jcode ` + completionCommand + ` "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"}; do
    list+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if (( $#list )); then _describe jcode list; else _files; fi
}
compdef _jcode jcode
`,
	"fish": `function __jcode
  set -l words (commandline -opc)
  jcode ` + completionCommand + ` $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c jcode -f -a '(__jcode)'
`,
}

// Run prints the script; the shell's start-up file sources it.
func (c *completionCmd) Run(_ context.Context, _ *flags, std Streams) error {
	_, err := io.WriteString(std.Out, completionScripts[c.Shell])
	return err
}

// complete prints what the last of the words can become.
func complete(ctx context.Context, words []string, std Streams) error {
	var g grammar
	line, err := commandLine(&g)
	if err != nil {
		return err
	}
	last := ""
	if len(words) > 0 {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	node, flag := walkWords(line, words)
	var list []candidate
	switch {
	case flag != nil:
		list = flagValues(ctx, flag, std)
		if flag.Name == "var" {
			list = variableWords(ctx, words, std)
		}
	case strings.HasPrefix(last, "--") && strings.Contains(last, "="):
		name, _, _ := strings.Cut(last[2:], "=")
		if found := node.Flag(name, 0); found != nil {
			for _, c := range flagValues(ctx, found, std) {
				list = append(list, candidate{"--" + name + "=" + c.word, c.help})
			}
		}
	case strings.HasPrefix(last, "-"):
		list = flagNames(node)
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				list = append(list, candidate{child.Name, child.Help})
			}
		}
		list = append(list, argumentValues(ctx, node, words, std)...)
	}
	for _, c := range list {
		if strings.HasPrefix(c.word, last) {
			fmt.Fprintf(std.Out, "%s\t%s\n", c.word, text.OneLine(c.help))
		}
	}
	return nil
}

// candidate is a word that can be completed to, and its description.
type candidate struct{ word, help string }

// walkWords follows the words to the command that they name. flag is the one whose value
// is being written.
func walkWords(node *commandline.Command, words []string) (at *commandline.Command, flag *commandline.Flag) {
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			f := flagOf(node, w)
			if f != nil && !f.IsBool() && !strings.Contains(w, "=") && i == len(words)-1 {
				return node, f
			}
			continue
		}
		if i > 0 && strings.HasPrefix(words[i-1], "-") && !strings.Contains(words[i-1], "=") {
			if f := flagOf(node, words[i-1]); f != nil && !f.IsBool() {
				continue // a flag's value
			}
		}
		if child := node.Child(w); child != nil {
			node = child
		}
	}
	return node, nil
}

// flagOf returns the flag that a word names, or nil.
func flagOf(node *commandline.Command, word string) *commandline.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	short := rune(0)
	if len(word) == 2 && word[0] == '-' {
		short = rune(word[1])
	}
	return node.Flag(name, short)
}

// flagNames lists the flags of a command and of those above it.
func flagNames(node *commandline.Command) []candidate {
	var out []candidate
	for ; node != nil; node = node.Parent {
		for _, f := range node.Flags {
			if !f.Hidden {
				out = append(out, candidate{"--" + f.Name, f.Help})
			}
		}
	}
	return out
}

// flagValues lists what a flag can be set to.
func flagValues(ctx context.Context, f *commandline.Flag, std Streams) []candidate {
	var out []candidate
	switch f.Name {
	case "mode":
		out = slicex.Map(tools.Modes(), func(m tools.Mode) candidate { return candidate{string(m), "approval mode"} })
	case "role":
		out = keptNames(ctx, std, nameLists.roleNames)
	case "resume":
		out = keptNames(ctx, std, nameLists.sessionNames)
	case "model":
		out = keptNames(ctx, std, nameLists.modelNames)
	default:
		for _, v := range f.Enum {
			if v != "" {
				out = append(out, candidate{v, ""})
			}
		}
	}
	return out
}

// argumentValues lists the possible next arguments of a command, after words: names of stored things.
func argumentValues(ctx context.Context, node *commandline.Command, words []string, std Streams) []candidate {
	if node.Parent == nil {
		return nil
	}
	switch room := node.Parent.Name; {
	case node.Names && room == "sessions":
		return keptNames(ctx, std, nameLists.sessionNames)
	case node.Names && room == "roles":
		return keptNames(ctx, std, nameLists.roleNames)
	case node.Names && room == "mcp":
		return serverNames(ctx, std)
	case node.Names && room == "tasks":
		return taskNumbers(ctx, std)
	case node.Names && room == "memory":
		return noteNames(ctx, std)
	case node.Names && room == "permissions" && words[len(words)-1] == node.Name: // a right has several words, completed at once
		return rightNames(ctx, std)
	case node.Path() == "jcode completion":
		return []candidate{{"bash", ""}, {"zsh", ""}, {"fish", ""}}
	}
	return nil
}

// keptNames opens the store to list names; on a failure there are no completions.
func keptNames(ctx context.Context, std Streams, names func(nameLists, context.Context) []candidate) []candidate {
	a, err := openKept(ctx, &flags{}, std)
	if err != nil {
		return nil
	}
	defer a.close()
	return names(nameLists{a.store, a.project, newRoleFiles(a).Layers}, ctx)
}

func serverNames(ctx context.Context, std Streams) []candidate {
	a, err := openServers(ctx, &flags{OutputFormat: "text"}, std)
	if err != nil {
		return nil
	}
	defer a.close()
	return slicex.Map(a.mcp.Snapshot(), func(d mcp.Details) candidate { return candidate{d.Name, d.Line} })
}

func taskNumbers(ctx context.Context, std Streams) []candidate {
	return proposed(taskscli.Actions{Setup: newTaskSetup(&flags{}, std)}.Names(ctx))
}

func noteNames(ctx context.Context, std Streams) []candidate {
	a, err := openKept(ctx, &flags{}, std)
	if err != nil {
		return nil
	}
	defer a.close()
	return proposed(notesActions(a).Names(), nil)
}

func rightNames(ctx context.Context, std Streams) []candidate {
	a, err := openJudge(ctx, &flags{}, std)
	if err != nil {
		return nil
	}
	defer a.close()
	return proposed(newPermissionActions(a).Rights.Names(ctx))
}

// proposed are the choices of a room as candidates; on a failure there are none.
func proposed(list []command.Choice, err error) []candidate {
	if err != nil {
		return nil
	}
	return slicex.Map(list, func(c command.Choice) candidate { return candidate{c.Value, c.Info} })
}

// nameLists lists names for completion.
type nameLists struct {
	store   *session.Store
	project string
	roles   func() *role.Layers
}

func (a nameLists) sessionNames(ctx context.Context) []candidate {
	rows, err := a.store.List(ctx, session.Filter{ProjectID: a.project, Limit: 50})
	if err != nil {
		return nil
	}
	return slicex.Map(rows, func(s session.Session) candidate { return candidate{s.ID, s.Title} })
}

func (a nameLists) roleNames(ctx context.Context) []candidate {
	rows, err := a.roles().List(ctx)
	if err != nil {
		return nil
	}
	return slicex.Map(rows, func(l role.Listing) candidate {
		line := rolescli.LineOf(l)
		return candidate{line.Name, line.Description}
	})
}

// modelNames returns the models that this folder's sessions used, and the providers.
func (a nameLists) modelNames(ctx context.Context) []candidate {
	var out []candidate
	rows, err := a.store.List(ctx, session.Filter{All: true, Limit: 200})
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if r.Model != "" && !seen[r.Model] {
			seen[r.Model] = true
			out = append(out, candidate{r.Model, "used before"})
		}
	}
	for _, p := range (provider.Settings{}).Known() {
		out = append(out, candidate{p.Name + "/", "provider"})
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return out
}
