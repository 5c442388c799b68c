package switching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"gopkg.in/yaml.v3"

	"jcode/internal/atomicfile"
	"jcode/internal/paths"
	"jcode/internal/pattern"
)

// markdown lists the files of a folder, up to two folders deep, by their path below it.
func markdown(dir, extension string) (out []string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what can't be listed offers nothing
		}
		rel, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.Count(rel, string(filepath.Separator)) >= 2:
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(rel, extension) && len(out) < 500:
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}

// commandFolder offers the commands of a folder: Markdown, or Gemini CLI's TOML.
func (f *finder) commandFolder(dir string) {
	for _, rel := range markdown(dir, ".md") {
		file := filepath.Join(dir, rel)
		data, err := paths.ReadFile(file, maxFile)
		if err != nil {
			f.refuse(Command, rel, file, "%v", err)
			continue
		}
		f.command(strings.TrimSuffix(filepath.ToSlash(rel), ".md"), file, strings.ReplaceAll(string(data), "$@", "$ARGUMENTS"))
	}
	for _, rel := range markdown(dir, ".toml") {
		file := filepath.Join(dir, rel)
		var c struct{ Prompt, Description string }
		if _, err := toml.DecodeFile(file, &c); err != nil || c.Prompt == "" {
			f.refuse(Command, rel, file, "it is not valid TOML with a prompt")
			continue
		}
		f.command(strings.TrimSuffix(filepath.ToSlash(rel), ".toml"), file, front(c.Description, "", geminiText(c.Prompt)))
	}
}

var (
	geminiShell = pattern.Lazy(`!\{([^{}]*)\}`)
	geminiFile  = pattern.Lazy(`@\{([^{}]*)\}`)
	namedValue  = pattern.Lazy(`\$([A-Z][A-Z0-9_]+)`)
)

// geminiText writes what Gemini CLI inserts as jcode does.
func geminiText(prompt string) string {
	prompt = strings.ReplaceAll(prompt, "{{args}}", "$ARGUMENTS")
	prompt = geminiShell().ReplaceAllString(prompt, "!`$1`")
	return geminiFile().ReplaceAllString(prompt, `@"$1"`)
}

// front writes a command file.
func front(description, hint, body string) string {
	keys := map[string]string{}
	if description != "" {
		keys["description"] = description
	}
	if hint != "" {
		keys["argument-hint"] = hint
	}
	if len(keys) == 0 {
		return body
	}
	head, err := yaml.Marshal(keys)
	if err != nil {
		return body
	}
	return "---\n" + string(head) + "---\n" + body
}

// command offers a command that there is not yet.
func (f *finder) command(name, from, content string) {
	dir := filepath.Join(f.Paths.Config, "commands")
	if f.project {
		dir = filepath.Join(f.Root, ".jcode", "commands")
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		f.refuse(Command, name, from, "its name is no name of a file")
		return
	}
	file := filepath.Join(dir, filepath.FromSlash(name)+".md")
	if _, err := os.Lstat(file); err == nil {
		return
	}
	for _, m := range namedValue().FindAllStringSubmatch(content, -1) {
		if m[1] != "ARGUMENTS" {
			f.refuse(Command, name, from, "it asks for values by name (%s), which commands here don't have: write $1, $2 …", m[0])
			return
		}
	}
	does := "add the command /" + strings.ReplaceAll(name, "/", ":")
	if strings.Contains(content, "!`") {
		does += ", which asks once before its shell lines run"
	}
	f.offer(Command, name, from, does, func(context.Context) error {
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("there is %s already", f.short(file))
		}
		return atomicfile.Write(file, []byte(content), atomicfile.Options{})
	})
}

// instructions offers to include a file in AGENTS.md of jcode's folder or of the project.
func (f *finder) instructions(file string) {
	data, err := paths.ReadFile(file, maxFile)
	if err != nil || strings.TrimSpace(string(data)) == "" {
		return
	}
	target, line := filepath.Join(f.Paths.Config, "AGENTS.md"), "@"+f.short(file)
	if f.project {
		target, line = filepath.Join(f.Root, "AGENTS.md"), "@"+filepath.Base(file)
	}
	for _, known := range []string{target, filepath.Join(f.Home, ".claude", "CLAUDE.md"), filepath.Join(f.Root, "CLAUDE.md"), filepath.Join(f.Root, "AGENTS.md")} {
		if paths.Real(known) == paths.Real(file) {
			return // it is read already
		}
	}
	have := func() string {
		data, err := paths.ReadFile(target, maxFile)
		if err != nil {
			return ""
		}
		return string(data)
	}
	if included(have(), line) {
		return
	}
	f.offer(Instructions, "", file, "read it too, by the line "+line+" in "+f.short(target), func(context.Context) error {
		if info, err := os.Stat(target); err == nil && info.Size() > maxFile {
			return errors.New(target + " is too large")
		}
		text := have()
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return atomicfile.Write(target, []byte(text+line+"\n"), atomicfile.Options{})
	})
}

func included(text, line string) bool {
	for have := range strings.Lines(text) {
		if strings.TrimSpace(have) == line {
			return true
		}
	}
	return false
}
