package changes

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/paths"
	"jcode/tools"
)

// Agents knows the files of a kind that runs which this session's agents changed in the project, by their
// tools or while their commands ran. It is a hook of the dispatcher, implements mcp.Changes, and is safe for
// concurrent use.
type Agents struct {
	root string // of the project

	mu    sync.Mutex
	count int
	last  map[string]int // by file, relative to the root: the number of its last change
}

// OfAgents returns what knows them; root is the project's.
func OfAgents(root string) *Agents { return &Agents{root: root} }

// BeforeCall implements tools.Hook and changes nothing.
func (c *Agents) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook.
func (c *Agents) AfterCall(call tools.Call, out tools.Outcome) {
	if !out.Ran || call.Caller.Origin == tools.OriginPerson {
		return
	}
	for _, access := range call.Plan.Accesses {
		if access.Kind == tools.AccessWrite || access.Kind == tools.AccessDelete {
			c.note(access.Path)
		}
	}
}

// ran notes what changed while a command ran.
func (c *Agents) ran(files map[string]time.Time) {
	for path := range files {
		c.note(path)
	}
}

func (c *Agents) note(path string) {
	rel, err := filepath.Rel(paths.Real(c.root), paths.Real(path))
	if err != nil || !filepath.IsLocal(rel) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if c.last == nil {
		c.last = map[string]int{}
	}
	c.last[filepath.ToSlash(rel)] = c.count
}

// Count implements mcp.Changes.
func (c *Agents) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Since implements mcp.Changes.
func (c *Agents) Since(n int, files []string) []string {
	c.mu.Lock()
	var changed []string
	for file, at := range c.last {
		if at > n {
			changed = append(changed, file)
		}
	}
	c.mu.Unlock()
	changed = slices.DeleteFunc(changed, func(file string) bool { return !c.runs(file) && !besides(file, files) })
	slices.Sort(changed)
	return changed
}

// besides reports whether a file is in the folder of one of the files of a program, which is a package's: the
// root itself is none.
func besides(file string, files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool {
		dir, _, ok := cutLast(f, "/")
		return ok && strings.HasPrefix(file, dir+"/")
	})
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// runs reports whether a file is of a kind that runs, or says what does.
func (c *Agents) runs(file string) bool {
	base := strings.ToLower(filepath.Base(file))
	switch filepath.Ext(base) {
	case ".sh", ".bash", ".zsh", ".fish", ".py", ".pyc", ".pth", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb", ".pl", ".pm", ".lua", ".php", ".ps1", ".bat", ".cmd",
		".mk", ".go", ".rs", ".c", ".cc", ".cpp", ".h", ".java", ".kt", ".kts", ".gradle", ".cs", ".fs", ".swift", ".zig", ".ex", ".exs", ".erl", ".hs", ".ml", ".scala", ".clj", ".dart", ".r", ".jl", ".nim",
		".so", ".dll", ".dylib", ".jar", ".class", ".wasm", ".node", ".exe", ".toml", ".cfg", ".json", ".jsonc", ".json5", ".yaml", ".yml", ".ini", ".env":
		return true
	}
	switch base {
	case "makefile", "gnumakefile", "justfile", ".justfile", "rakefile", "dockerfile", "gemfile", "procfile", "go.mod", "go.sum", ".npmrc", ".pnpmfile.cjs", "build.xml", "cmakelists.txt":
		return true
	}
	info, err := os.Stat(filepath.Join(c.root, filepath.FromSlash(file)))
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
