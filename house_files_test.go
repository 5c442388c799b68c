package main

import (
	"go/ast"
	"path/filepath"
	"strings"
	"testing"
)

// opensPlainly are the files that may call os.Open, os.ReadFile and the other openers of reading, each with what they
// open. These follow a link to a device, wait for the other end of a pipe and believe no limit; what a project brings is
// opened by paths.ReadInside, or paths.Open and paths.ReadFile where a path leads out of it on purpose. A file that is
// only written, and made anew, is not covered: nothing of it is read.
var opensPlainly = map[string]string{
	"internal/ptty/ptty_unix.go":          "the null device",
	"internal/filelock/filelock.go":       "a lock of jcode's own, which is not read",
	"internal/paths/inside.go":            "this is the room",
	"internal/search/handle_unix.go":      "with O_NOFOLLOW and O_NONBLOCK, then looked at",
	"internal/search/list_linux.go":       "a folder below another that is open",
	"lua/host/main.go":                    "the null device",
	"skills/load.go":                      "names of a folder",
	"tools/sandbox/policy.go":             "names of a folder",
	"tools/sandbox/reading_linux.go":      "handles, which are not read",
	"tools/sandbox/shield_linux.go":       "handles, which are not read",
	"agent/model/endpoint/connections.go": "the person's certificates",
	"agent/model/replay/replay.go":        "a script that the person names, which may be a pipe",
	"cli/eval/task.go":                    "the files of a task that the person names",
	"cli/hooks/variables.go":              "a folder of jcode's own",
	"cli/mcp/probe.go":                    "a file that the person names, which may be a pipe",
	"cli/models/command.go":               "a file that the person names, which may be a pipe, and jcode's own",
	"cli/plugins/bundles.go":              "a file of jcode's own",
	"cli/roles/edit.go":                   "a copy that jcode has made for the person's editor",
	"cli/roles/panel.go":                  "a file that the person names",
	"internal/folders/folders.go":         "a folder",
	"internal/jsonedit/jsonedit.go":       "the person's settings, which a command of theirs changes",
	"internal/paths/spelled_darwin.go":    "a folder",
	"internal/proc/tree_linux.go":         "files of the kernel",
	"internal/proc/group_linux.go":        "files of the kernel",
	"internal/protected/links.go":         "a folder",
	"internal/snapshot/contents.go":       "a file of jcode's own",
	"internal/snapshot/save.go":           "a file of jcode's own",
	"internal/snapshot/folder_linux.go":   "a folder, not behind a link",
	"internal/snapshot/folder_unix.go":    "a folder, not behind a link",
	"internal/system/space_linux.go":      "a file of the kernel",
	"internal/watch/folder.go":            "a folder",
	"internal/watch/poll.go":              "a folder",
	"internal/worktree/start.go":          "a list that jcode has written",
	"lua/manifest/folder.go":              "a folder",
	"lua/pool/memory_linux.go":            "a file of the kernel",
	"mcp/auth/store.go":                   "a file of jcode's own",
	"plugins/store.go":                    "a file of jcode's own",
	"session/db/header.go":                "the database",
	"session/db/hold.go":                  "a file of jcode's own",
	"session/db/repair.go":                "the database",
	"session/export/export.go":            "a file that the person names",
	"skills/builtin.go":                   "a copy that jcode has made",
	"tasks/store.go":                      "a file of jcode's own",
	"tools/builtin/files.go":              "a folder",
	"cli/workplace/folder.go":             "a folder",
	"tools/builtin/lookalike.go":          "a folder",
	"internal/capture/output.go":          "a file of jcode's own",
	"tools/lsp/memory_linux.go":           "a file of the kernel",
	"tools/permission/shell/argpath.go":   "a folder",
	"tools/sandbox/blamed.go":             "a folder or file, by whose error it knows what was denied",
	"tools/sandbox/index.go":              "a folder",
	"tools/sandbox/services.go":           "a file of the kernel",
	"tui/outside.go":                      "a copy that jcode has made for the person's editor",
	"tui/pathmenu.go":                     "a folder",
}

// What a project brings is opened as regular files up to a limit, by one room: a link to a device or a pipe neither
// fills the memory nor keeps jcode waiting.
func TestFilesOfAProjectAreOpenedByOneRoom(t *testing.T) {
	opens := map[string]bool{}
	for _, f := range houseFiles(t) {
		path := filepath.ToSlash(f.path)
		if f.test || f.room == "bench" || f.room == "packaging" || strings.HasPrefix(f.room, "internal/testkit/") {
			continue
		}
		written := onlyWritten(f.ast)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || !opener(pkg.Name, sel.Sel.Name) || written[sel] {
				return true
			}
			opens[path] = true
			if opensPlainly[path] == "" {
				t.Errorf("%s: %s.%s: open what a project may bring with internal/paths", path, pkg.Name, sel.Sel.Name)
			}
			return true
		})
	}
	for path := range opensPlainly {
		if !opens[path] {
			t.Errorf("%s opens nothing plainly: take it off opensPlainly", path)
		}
	}
}

// opener reports whether a function opens a file to read it.
func opener(pkg, name string) bool {
	switch pkg {
	case "os":
		return name == "Open" || name == "ReadFile" || name == "OpenFile" || name == "DirFS" || name == "CopyFS"
	case "syscall", "unix":
		return name == "Open" || strings.HasPrefix(name, "Openat") || name == "Mmap"
	case "ioutil":
		return true
	}
	return false
}

// onlyWritten are the calls of os.OpenFile by which nothing can be read.
func onlyWritten(file *ast.File) map[*ast.SelectorExpr]bool {
	out := map[*ast.SelectorExpr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 3 {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "OpenFile" {
			return true
		}
		ast.Inspect(call.Args[1], func(n ast.Node) bool {
			if flag, ok := n.(*ast.SelectorExpr); ok && flag.Sel.Name == "O_WRONLY" {
				out[sel] = true
			}
			return true
		})
		return true
	})
	return out
}
