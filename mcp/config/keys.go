package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonedit"
	"jcode/internal/netaddr"
	"jcode/internal/rawjson"
)

// entryReader reads the keys of one entry under all names that they have in the files of other programs.
type entryReader struct {
	p     *parser
	e     *Entry
	name  string
	typed Transport
}

// read fills in the entry. The first fault is kept; the other keys are still read.
func (r *entryReader) read(fields *hujson.Object) {
	var unknown []string
	for i := range fields.Members {
		m := &fields.Members[i]
		if !r.key(m) {
			unknown = append(unknown, jsonedit.Name(*m))
		}
	}
	if len(unknown) > 0 {
		r.warn(&fields.Members[0], "", "unknown keys are kept and ignored: "+strings.Join(unknown, ", "))
	}
	r.finish(fields)
}

// key reads one key and reports whether it is known.
func (r *entryReader) key(m *hujson.ObjectMember) bool {
	e := r.e
	switch jsonedit.Name(*m) {
	case "type", "transport":
		r.transport(m)
	case "command":
		r.command(m)
	case "args":
		e.Target.Args = append(e.Target.Args, r.texts(m)...)
	case "env", "environment":
		e.Target.Env = r.stringMap(m)
	case "headers", "http_headers":
		for k, v := range r.stringMap(m) {
			r.header(k, v)
		}
	case "cwd", "workingDirectory":
		e.Target.Cwd = r.text(m)
	case "url", "httpUrl", "serverUrl":
		e.Target.URL = r.text(m)
	case "bearer_token_env_var":
		if v := r.text(m); v != "" {
			r.header("Authorization", "Bearer ${"+v+"}")
		}
	case "inheritEnv", "env_vars":
		e.Target.InheritEnv = r.texts(m)
	case "oauth":
		e.Target.OAuth = r.oauth(m)
	case "headersHelper":
		e.Target.HeadersHelper = r.helper(m)
	case "roots":
		e.Target.Roots = r.roots(m)
	case "enabled":
		e.Enabled = r.flag(m)
	case "disabled":
		e.Enabled = !r.flag(m)
	case "enabledTools", "enabled_tools", "includeTools":
		if e.EnabledTools = r.texts(m); e.EnabledTools == nil {
			e.EnabledTools = []string{}
		}
	case "disabledTools", "disabled_tools", "excludeTools":
		e.DisabledTools = r.texts(m)
	case "connectTimeout", "startup_timeout_sec", "startup_timeout_ms":
		r.duration(m, &e.ConnectTimeout)
	case "callTimeout", "timeout", "tool_timeout_sec", "tool_timeout_ms":
		r.duration(m, &e.CallTimeout)
	case "maxCallTime":
		r.duration(m, &e.MaxCallTime)
	case "keepAlive":
		r.duration(m, &e.KeepAlive)
	case "optional":
		e.Optional = r.flag(m)
	case "trusted":
		r.trusted(m)
	case "maxFrame":
		r.positive(m, &e.MaxFrame)
	case "maxResultTokens":
		r.positive(m, &e.MaxResultTokens)
	case "description", "name":
		// Text for people that other programs write.
	default:
		return false
	}
	return true
}

// roots accepts "workspace", "none", or an array of folders.
func (r *entryReader) roots(m *hujson.ObjectMember) []string {
	list, ok := decode[[]string](m)
	if word, isWord := decode[string](m); isWord {
		list, ok = []string{word}, word == RootsWorkspace || word == RootsNone
	} else if ok && len(list) == 0 {
		list = []string{RootsNone}
	}
	if !ok {
		r.fail(m, "roots", `must be "workspace", "none" or an array of folders`)
		return nil
	}
	return list
}

func (r *entryReader) transport(m *hujson.ObjectMember) {
	switch t := r.text(m); t {
	case "stdio":
		r.typed = Stdio
	case "http", "streamable-http", "streamableHttp":
		r.typed = HTTP
	case "sse":
		r.typed = SSE
	default:
		r.fail(m, jsonedit.Name(*m), fmt.Sprintf("unknown transport %q: use stdio, http or sse", t))
	}
}

// command accepts a string, or an array of the program and its first arguments.
func (r *entryReader) command(m *hujson.ObjectMember) {
	if list, ok := decode[[]string](m); ok && len(list) > 0 {
		r.e.Target.Command = list[0]
		r.e.Target.Args = append(slices.Clone(list[1:]), r.e.Target.Args...)
		return
	}
	r.e.Target.Command = r.text(m)
}

func (r *entryReader) header(name, value string) {
	if r.e.Target.Headers == nil {
		r.e.Target.Headers = map[string]string{}
	}
	if _, taken := r.e.Target.Headers[name]; !taken {
		r.e.Target.Headers[name] = value
	}
}

func (r *entryReader) trusted(m *hujson.ObjectMember) {
	if r.e.Source.Scope == ScopeProject {
		r.warn(m, "trusted", "is ignored in files of a project")
		return
	}
	r.e.Trusted = r.flag(m)
}

// finish determines the transport and checks keys that depend on each other.
func (r *entryReader) finish(fields *hujson.Object) {
	at := &hujson.ObjectMember{}
	if len(fields.Members) > 0 {
		at = &fields.Members[0]
	}
	t := &r.e.Target
	switch {
	case r.typed != "":
		t.Type = r.typed
	case t.URL != "" && t.Command != "":
		r.fail(at, "", "has both command and url: add \"type\"")
	case t.URL != "":
		t.Type = HTTP
	default:
		t.Type = Stdio
	}
	if r.e.Err != nil {
		return
	}
	if t.Type == Stdio {
		t.URL, t.Headers = "", nil
	} else {
		t.Command, t.Args, t.Env, t.Cwd, t.InheritEnv = "", nil, nil, "", nil
	}
	if t.Type == Stdio && (t.OAuth != nil || t.HeadersHelper != nil) {
		r.warn(at, "", "oauth and headersHelper are for servers with a url; they are ignored")
		t.OAuth, t.HeadersHelper = nil, nil
	}
	if err := Check(*t); err != nil {
		r.fail(at, "", err.Error())
	}
	if u, err := url.Parse(t.URL); err == nil && u.Scheme == "http" && !netaddr.LoopbackHost(u.Hostname()) {
		r.warn(at, "url", "plain http to another machine: what is sent can be read on the way")
	}
}

// Check says what is wrong with a target before anything is expanded.
func Check(t Target) error {
	switch t.Type {
	case Stdio:
		if strings.TrimSpace(t.Command) == "" {
			return errors.New("needs command (a program) or url")
		}
		for k := range t.Env {
			if k == "" || strings.ContainsAny(k, "=\x00") {
				return fmt.Errorf("env: %q is not a variable name", k)
			}
		}
	case HTTP, SSE:
		if t.URL == "" {
			return errors.New("needs url")
		}
		if strings.Contains(t.URL, "${") {
			return nil
		}
		return checkURL(t.URL)
	default:
		return fmt.Errorf("unknown transport %q: use stdio, http or sse", t.Type)
	}
	return nil
}

// CheckServer checks the name of a server and its target.
func CheckServer(name string, t Target) error {
	if err := CheckKey(name); err != nil {
		return err
	}
	if err := Check(t); err != nil {
		return fmt.Errorf("server %s: %w", name, err)
	}
	return nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return errors.New("url: not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url: only http and https are spoken, not %q", u.Scheme)
	}
	if u.Host == "" {
		return errors.New("url: it names no host")
	}
	return nil
}

func (r *entryReader) fail(m *hujson.ObjectMember, key, what string) {
	if r.e.Err == nil {
		r.e.Err = &Fault{r.at(m, key) + what}
	}
}

func (r *entryReader) warn(m *hujson.ObjectMember, key, what string) {
	r.e.Warnings = append(r.e.Warnings, r.at(m, key)+what)
}

func (r *entryReader) at(m *hujson.ObjectMember, key string) string {
	path := "mcpServers." + r.name
	if key != "" {
		path += "." + key
	}
	line := r.e.Source.Line
	if m.Name.StartOffset > 0 {
		line = r.p.line(m)
	}
	return fmt.Sprintf("%s:%d: %s: ", r.p.path, line, path)
}

func (r *entryReader) text(m *hujson.ObjectMember) string {
	return valueOf[string](r, m, "must be a string")
}

func (r *entryReader) flag(m *hujson.ObjectMember) bool {
	return valueOf[bool](r, m, "must be true or false")
}

func (r *entryReader) texts(m *hujson.ObjectMember) []string {
	return valueOf[[]string](r, m, "must be an array of strings")
}

// valueOf decodes a value; fault says what it must be.
func valueOf[T any](r *entryReader, m *hujson.ObjectMember, fault string) T {
	v, ok := decode[T](m)
	if !ok {
		r.fail(m, jsonedit.Name(*m), fault)
	}
	return v
}

// stringMap reads an object of strings; numbers and booleans are converted to text.
func (r *entryReader) stringMap(m *hujson.ObjectMember) map[string]string {
	raw, ok := decode[map[string]json.RawMessage](m)
	if !ok {
		r.fail(m, jsonedit.Name(*m), "must be an object of strings")
		return nil
	}
	out := map[string]string{}
	for k, v := range raw {
		switch rawjson.Kind(v) {
		case "a string":
			out[k] = rawjson.String(v)
		case "a number", "a boolean":
			out[k] = string(v)
		default:
			r.fail(m, jsonedit.Name(*m)+"."+k, "must be a string, not "+rawjson.Kind(v))
		}
	}
	return out
}

func (r *entryReader) positive(m *hujson.ObjectMember, into *int) {
	n, ok := decode[int](m)
	if !ok || n <= 0 {
		r.fail(m, jsonedit.Name(*m), "must be a whole number above 0")
		return
	}
	*into = n
}

// duration reads a number of milliseconds, or of seconds if the key says so, or a string with a unit.
func (r *entryReader) duration(m *hujson.ObjectMember, into *time.Duration) {
	key := jsonedit.Name(*m)
	unit := time.Millisecond
	if strings.HasSuffix(key, "_sec") {
		unit = time.Second
	}
	d, err := parseDuration(standard(m.Value), unit)
	if err != nil {
		r.fail(m, key, err.Error())
		return
	}
	if d < time.Second {
		r.warn(m, key, fmt.Sprintf("%v is very short; a number means milliseconds", d))
	}
	*into = d
}

func parseDuration(raw []byte, unit time.Duration) (time.Duration, error) {
	s := string(raw)
	if rawjson.Kind(raw) == "a string" {
		s = rawjson.String(raw)
		if d, err := time.ParseDuration(s); err == nil && d > 0 {
			return d, nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f <= 0 || math.IsNaN(f) || f > float64(24*time.Hour/unit) {
		return 0, errors.New("must be a number of milliseconds or a string with a unit such as \"45s\"")
	}
	return time.Duration(f * float64(unit)), nil
}
