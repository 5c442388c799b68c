package passage

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Known reports whether documents with an extension such as ".md" have a form of their own.
func Known(ext string) bool { return isMarkdown(ext) || isSource(ext) }

// Markdown reports whether a name is that of a Markdown file.
func Markdown(name string) bool { return isMarkdown(strings.ToLower(filepath.Ext(name))) }

func isMarkdown(ext string) bool {
	switch ext {
	case ".md", ".markdown", ".mdx", ".mdown", ".qmd", ".rmd":
		return true
	}
	return false
}

// markdownHeadings finds the sections of a Markdown text: lines with number signs, and lines
// that are underlined, outside of fenced code. Front matter is part of the first section.
func markdownHeadings(lines []string) []mark {
	var out []mark
	var path [7]string // headings by level
	fence := ""
	begin := frontMatter(lines)
	for i := begin; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		trimmed := strings.TrimLeft(line, " ")
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if mark := fenceOf(trimmed); mark != "" {
			fence = mark
			continue
		}
		level, title, at := 0, "", i
		switch {
		case strings.HasPrefix(line, "#"):
			level = len(line) - len(strings.TrimLeft(line, "#"))
			rest := line[level:]
			if level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				continue
			}
			title = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "#"))
		case i > begin && underline(line) > 0 && isTitle(lines[i-1]) && (i-1 == begin || strings.TrimSpace(lines[i-2]) == ""):
			level, title, at = underline(line), strings.TrimSpace(lines[i-1]), i-1
		default:
			continue
		}
		path[level] = title
		for deeper := level + 1; deeper < len(path); deeper++ {
			path[deeper] = ""
		}
		var parts []string
		for _, p := range path[1 : level+1] {
			if p != "" {
				parts = append(parts, p)
			}
		}
		out = append(out, mark{at, strings.Join(parts, " › ")})
	}
	return out
}

// frontMatter returns the line after the front matter, 0 if there is none.
func frontMatter(lines []string) int {
	if len(lines) == 0 || strings.TrimRight(lines[0], " \t") != "---" {
		return 0
	}
	for i := 1; i < len(lines) && i < 200; i++ {
		if strings.TrimRight(lines[i], " \t") == "---" {
			return i + 1
		}
	}
	return 0
}

func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && (c == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// underline returns the level of the heading above a line of equals signs or dashes.
func underline(line string) int {
	switch {
	case len(line) >= 2 && strings.Trim(line, "=") == "":
		return 1
	case len(line) >= 2 && strings.Trim(line, "-") == "":
		return 2
	}
	return 0
}

// isTitle reports whether a line can be a heading that the next line underlines: not a list,
// a quote, a table or code.
func isTitle(line string) bool {
	title := strings.TrimSpace(line)
	return title != "" && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t") && !strings.ContainsAny(title[:1], "-*+>|#`~=")
}

func isSource(ext string) bool {
	switch ext {
	case ".go", ".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm", ".java", ".kt", ".kts", ".scala", ".cs", ".swift", ".dart",
		".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".py", ".pyi", ".rb", ".php", ".lua", ".zig", ".ex", ".exs",
		".erl", ".hs", ".ml", ".mli", ".clj", ".lisp", ".el", ".r", ".jl", ".pl", ".pm", ".sh", ".bash", ".zsh", ".fish", ".sql", ".proto", ".nim", ".v":
		return true
	}
	return false
}

// declares matches a line that begins a top-level declaration in most languages.
func declares() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|async|pub(?:\([a-z]+\))?|unsafe|extern|inline|local|partial|open|override|declare)\s+)*` +
		`(?:func|function|fn|def|defp|defmodule|class|struct|enum|interface|trait|impl|type|module|namespace|object|record|protocol|extension|macro|message|service|create|sub|proc|data|instance|const|var|let|val)\b` +
		`|^[A-Za-z_][\w:<>,*&\s]*\([^;]*\)?\s*\{\s*$|^\((?:def|defn|defun|defmacro)\w*\s`)
}

// declarations finds the parts of a source file: each begins at a declaration at the left margin,
// with the comments directly above it. Small ones are joined.
func declarations(lines []string) []mark {
	var out []mark
	re := declares()
	last, size := 0, minText
	for i, line := range lines {
		size += len(line) + 1
		if line == "" || line[0] == ' ' || line[0] == '\t' || line[0] == '}' || len(line) > 500 || !re.MatchString(line) {
			continue
		}
		at := i
		for at > last && isComment(lines[at-1]) {
			at--
		}
		if size < minText {
			continue // with the one before it
		}
		out = append(out, mark{at, strings.TrimRight(strings.TrimSpace(line), "{ ")})
		last, size = i+1, len(line)+1
	}
	return out
}

func isComment(line string) bool {
	for _, p := range []string{"//", "#", "--", "/*", " *", "*/", ";;", "@", "\"\"\""} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}
