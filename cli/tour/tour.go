// Package tour owns the offline tour: the project that it works on and the script that
// plays the model. It must not know how a conversation is run or shown.
package tour

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed all:project
var project embed.FS

//go:embed script.jsonl
var script string

// Places are the addresses and folders that the script refers to.
type Places struct {
	// Program is jcode's own, which the script connects as an MCP server, and Command how a
	// shell calls it.
	Program, Command string
	// Home is the folder for its files.
	Home string
	// Board is the address of the server that requires a sign-in.
	Board string
}

// Script returns what the model says, in the form of a replay file.
func Script(p Places) ([]byte, error) {
	out := script
	for mark, value := range map[string]string{"{{jcode}}": p.Program, "{{command}}": p.Command, "{{home}}": p.Home, "{{board}}": p.Board} {
		quoted, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("write the tour's script: %w", err)
		}
		out = strings.ReplaceAll(out, mark, strings.Trim(string(quoted), `"`))
	}
	return []byte(out), nil
}

// Settings returns the tour's own config.json: its language server, and none of the machine's.
func Settings(program string) ([]byte, error) {
	servers := map[string]any{
		"tour":                 map[string]any{"command": []string{program, LanguageServer}, "files": []string{".sh"}},
		"bash-language-server": map[string]any{"disabled": true},
	}
	out, err := json.Marshal(map[string]any{"lsp": map[string]any{"servers": servers}})
	if err != nil {
		return nil, fmt.Errorf("write the tour's settings: %w", err)
	}
	return out, nil
}

// Head says at the start what is simulated and what is not.
const Head = "This is a tour: a script plays the model, the rest is real: tools, files, questions. A question opens in a moment; y answers it. The language server and the server that wants a sign-in are played on this machine; nothing is sent anywhere."

// End says how to continue.
const End = "That was the tour. Now: /quit, then run jcode in a project of yours; it leads you to a model, and /login changes it at any time."

// endings is how many questions after the end are answered.
const endings = 50

// WithEnd adds the end to a script: to its last answer, and as the answer to anything that is asked
// afterwards.
func WithEnd(script []byte) ([]byte, error) {
	lines := strings.Split(strings.TrimRight(string(script), "\n"), "\n")
	last := map[string]any{}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		return nil, fmt.Errorf("read the tour's script: %w", err)
	}
	text, _ := last["text"].(string)
	last["text"] = text + "\n\n" + End
	whole, err := json.Marshal(last)
	if err != nil {
		return nil, fmt.Errorf("write the tour's script: %w", err)
	}
	again, err := json.Marshal(map[string]string{"text": End})
	if err != nil {
		return nil, fmt.Errorf("write the tour's script: %w", err)
	}
	lines[len(lines)-1] = string(whole)
	for range endings {
		lines = append(lines, string(again))
	}
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// Prompt is what the person asks for.
const Prompt = "The check of this project, sh check.sh, fails. Find out why, fix it, and check. Then write the change down as our changelog skill says, and tell me how many words the changelog has."

// WriteProject writes the tour's project into an empty folder. Files have the ending `.txt` in the source
// tree, so that they are not part of this module.
func WriteProject(dir string) error {
	err := fs.WalkDir(project, "project", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := project.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimSuffix(strings.TrimPrefix(path, "project/"), ".txt"))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
	if err != nil {
		return fmt.Errorf("lay out the tour's project: %w", err)
	}
	return nil
}
