package permission

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine bounds what is parsed, in bytes: the parser recurses, and nobody vouches for
// more.
const maxLine = 64 << 10

// maxInner bounds how deep `sh -c` inside `sh -c` is followed.
const maxInner = 6

// Line is a shell text taken apart into its simple commands.
type Line struct {
	// Text is the whole text, blanks around taken away.
	Text string
	// Commands are the simple commands in the order in which they stand, those inside
	// substitutions and wrappers included.
	Commands []Command
	// Doubt says why the line as a whole is not vouched for, "" when each of its simple
	// commands stands for itself.
	Doubt string
	// Opaque is set when the text could not be taken apart at all.
	Opaque bool

	elsewhere bool // it runs outside the workspace
}

// Command is one simple command of a line.
type Command struct {
	// Text is the command as a rule would name it.
	Text string
	// ReadOnly says that it changes nothing, by the table of commands.
	ReadOnly bool
	// Why gives the reason for ReadOnly, or against it.
	Why string
	// Doubt says why rules with wildcards don't vouch for it: an assignment, a
	// redirection, a substitution, another command inside.
	Doubt string
	// Inner commands run inside a substitution or a wrapper.
	Inner bool

	words   []word
	wrapper bool
	wrapped int      // 1 + the index of the wrapper that holds it, else 0
	later   [][]word // what it may run besides, as far as that is known
	exact   bool     // the words say it all: no expansion, redirection or assignment
	touches []string // resolved paths that the words and redirections name
}

// scene is where a line would run.
type scene struct {
	places places
	dir    string
	// denied says which rule forbids reading a path, "" if none; ruled whether there is
	// any such rule.
	denied func(path string) string
	ruled  bool
}

// analyse takes a line apart. It never fails: what it can't read is opaque.
func analyse(text string, at scene) Line {
	a := &analysis{scene: at, dirs: []string{at.dir}}
	a.line.Text = strings.TrimSpace(text)
	a.text(a.line.Text)
	return a.line
}

// analyseArgv judges a command that no shell reads.
func analyseArgv(argv []string, at scene) Line {
	a := &analysis{scene: at, dirs: []string{at.dir}, noShell: true}
	words := make([]word, len(argv))
	for i, s := range argv {
		words[i] = static(s)
	}
	a.line.Text = join(words)
	if len(argv) > 0 {
		a.command(words, "")
	}
	return a.line
}

type analysis struct {
	scene
	line  Line
	dirs  []string // where the commands may find themselves
	moved bool     // a cd came before
	depth int      // inside sh -c
	inner int      // inside a substitution or wrapper
	holds int      // 1 + the index of the wrapper around
	fed   bool     // the input comes from another command of the line

	loops   map[string]bool // variables that the line sets to what may be more than a word
	noShell bool            // no shell reads the words
}

// doubt notes why the line is not vouched for. What stands inside a wrapper's text is
// that wrapper's affair: nobody vouches for one but to the letter.
func (a *analysis) doubt(format string, args ...any) {
	if a.line.Doubt == "" && a.depth == 0 {
		a.line.Doubt = fmt.Sprintf(format, args...)
	}
}

// text parses a shell text and visits it.
func (a *analysis) text(src string) {
	if why := unreadable(src); why != "" {
		a.opaque(why)
		return
	}
	file, err := parse(src, syntax.LangBash)
	if errors.Is(err, errImpatient) {
		a.opaque(err.Error())
		return
	}
	posix, posixErr := parse(src, syntax.LangPOSIX)
	switch {
	case err != nil && posixErr != nil:
		a.opaque("it is no complete shell command: " + parseReason(posixErr))
		return
	case err != nil:
		a.doubt("bash and sh read it differently")
		file = posix
	case posixErr != nil || printed(file) != printed(posix):
		a.doubt("bash and sh read it differently")
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if iter, ok := n.(*syntax.WordIter); ok && !tame(iter.Items) {
			if a.loops == nil {
				a.loops = map[string]bool{}
			}
			a.loops[iter.Name.Value] = true
		}
		return true
	})
	a.stmts(file.Stmts)
}

func (a *analysis) opaque(why string) {
	a.line.Opaque = true
	a.doubt("%s", why)
}

// unreadable names what makes a text not worth parsing: a shell and a parser may not
// agree on such bytes.
func unreadable(src string) string {
	if len(src) > maxLine {
		return fmt.Sprintf("it is longer than %d KiB", maxLine>>10)
	}
	if !utf8.ValidString(src) {
		return "it holds bytes that are no text"
	}
	for _, r := range src {
		switch {
		case r == '\n' || r == '\t':
		case unicode.IsControl(r):
			return fmt.Sprintf("it holds the control character %U", r)
		case unicode.Is(unicode.Cf, r) || r != ' ' && unicode.IsSpace(r):
			return fmt.Sprintf("it holds the invisible character %U", r)
		}
	}
	return ""
}

// maxParse bounds the time of one parse: a text that nests thousands of brackets takes
// seconds, and is nobody's honest command.
const maxParse = 150 * time.Millisecond

func parse(src string, lang syntax.LangVariant) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(lang)).Parse(&impatient{r: strings.NewReader(src), until: time.Now().Add(maxParse)}, "")
}

var errImpatient = errors.New("it takes too long to read")

// impatient is a reader that ends with an error when a moment has passed.
type impatient struct {
	r     io.Reader
	until time.Time
}

func (i *impatient) Read(p []byte) (int, error) {
	if time.Now().After(i.until) {
		return 0, errImpatient
	}
	return i.r.Read(p)
}

func printed(f *syntax.File) string {
	var b bytes.Buffer
	if err := syntax.NewPrinter().Print(&b, f); err != nil {
		return "\x00" + err.Error() // equal to nothing that was printed
	}
	return b.String()
}

func parseReason(err error) string {
	_, reason, ok := strings.Cut(err.Error(), ": ")
	if !ok {
		return err.Error()
	}
	return reason
}

func (a *analysis) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		a.stmt(s)
	}
}

func (a *analysis) stmt(s *syntax.Stmt) {
	if s.Coprocess || s.Disown {
		a.doubt("it detaches a command")
	}
	redirs := a.redirections(s.Redirs)
	call, ok := s.Cmd.(*syntax.CallExpr)
	if ok {
		a.call(call, redirs)
		return
	}
	if redirs.doubt != "" {
		a.doubt("%s", redirs.doubt)
	}
	if len(redirs.touches) > 0 {
		a.line.Commands = append(a.line.Commands, Command{Text: "a redirection", Why: redirs.doubt, Doubt: redirs.doubt, touches: redirs.touches, Inner: a.inner > 0, wrapped: a.holds})
	}
	a.compound(s.Cmd)
}

// compound visits what is no simple command.
func (a *analysis) compound(c syntax.Command) {
	switch c := c.(type) {
	case nil:
	case *syntax.BinaryCmd:
		dirs, moved := a.dirs, a.moved
		a.stmt(c.X)
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			a.stmt(c.Y)
			return
		}
		// Each side of a pipe is a process of its own.
		fed := a.fed
		a.dirs, a.moved, a.fed = dirs, moved, true
		a.stmt(c.Y)
		a.dirs, a.moved, a.fed = dirs, moved, fed
	case *syntax.Block:
		a.stmts(c.Stmts)
	case *syntax.Subshell:
		dirs, moved := a.dirs, a.moved
		a.stmts(c.Stmts)
		a.dirs, a.moved = dirs, moved
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			a.stmts(c.Cond)
			a.stmts(c.Then)
		}
	case *syntax.WhileClause:
		a.twice(func() { a.stmts(c.Cond); a.stmts(c.Do) })
	case *syntax.ForClause:
		a.loop(c)
	case *syntax.CaseClause:
		a.plain(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				a.plain(p)
			}
			a.stmts(item.Stmts)
		}
	case *syntax.TimeClause:
		a.doubt("time runs another command")
		if c.Stmt != nil {
			a.stmt(c.Stmt)
		}
	case *syntax.FuncDecl:
		a.doubt("it defines a function, so names mean other things afterwards")
		a.stmt(c.Body)
	default: // arithmetic, [[ ]], let, declare, coproc: they can run and assign things
		a.doubt("it uses a construct that can't be vouched for")
		a.within(c)
	}
}

// twice visits the body of a loop, and once more when it changed the folder: its second
// round begins where the first one ended. What was found is kept once.
func (a *analysis) twice(body func()) {
	n, dirs := len(a.line.Commands), len(a.dirs)
	body()
	if len(a.dirs) != dirs {
		a.line.Commands = a.line.Commands[:n]
		body()
	}
}

func (a *analysis) loop(c *syntax.ForClause) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select {
		a.doubt("it uses a construct that can't be vouched for")
		a.within(c.Loop)
		a.stmts(c.Do)
		return
	}
	if name := iter.Name.Value; name != strings.ToLower(name) {
		a.doubt("it sets the variable %s", name) // PATH and its like
	}
	for _, w := range iter.Items {
		a.within(w)
		if read := readWord(w); read.dynamic && !read.simple {
			a.doubt("it expands to words that are not known before")
		} else if why := a.outside(read); why != "" {
			a.doubt("%s", why)
		}
	}
	a.twice(func() { a.stmts(c.Do) })
}

// plain visits a word that is compared, and doubts one that does more than read variables:
// arithmetic runs what stands in the index of a variable.
func (a *analysis) plain(w *syntax.Word) {
	if !a.within(w) && !readsOnly(w.Parts) {
		a.doubt("it computes something that can't be vouched for")
	}
}

// tame reports whether words are known, and can't be taken for flags, for several words, or
// for a variable with an index.
func tame(items []*syntax.Word) bool {
	for _, item := range items {
		w := readWord(item)
		if w.dynamic || w.glob || strings.HasPrefix(w.text, "-") || strings.ContainsAny(w.text, "$`[*? \t\n") {
			return false
		}
	}
	return len(items) > 0
}

// within visits the commands in a node's substitutions; found says whether there were
// any.
func (a *analysis) within(n syntax.Node) (found bool) {
	if n == nil {
		return false
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		var stmts []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			stmts = n.Stmts
		case *syntax.ProcSubst:
			stmts = n.Stmts
		case *syntax.Stmt:
			a.stmt(n)
			return false
		default:
			return true
		}
		found = true
		dirs, moved := a.dirs, a.moved
		a.inner++
		a.stmts(stmts)
		a.inner--
		a.dirs, a.moved = dirs, moved
		return false
	})
	return found
}

// redirected is what redirections mean for the command that has them.
type redirected struct {
	doubt   string
	reads   string // why reading one of them is not fine
	touches []string
	feeds   bool // the input stands in the line or in a file
	text    string
}

func (a *analysis) redirections(list []*syntax.Redirect) redirected {
	var out redirected
	doubt := func(format string, args ...any) {
		if out.doubt == "" {
			out.doubt = fmt.Sprintf(format, args...)
		}
	}
	for _, r := range list {
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
			out.feeds = true
		}
		if r.Hdoc == nil && r.Word != nil {
			out.text += " "
			if r.N != nil {
				out.text += r.N.Value
			}
			out.text += r.Op.String() + source(r.Word)
		}
		if r.Hdoc != nil && a.within(r.Hdoc) {
			doubt("its here-document runs commands")
		}
		if r.Hdoc != nil && !readsOnly(r.Hdoc.Parts) {
			doubt("its here-document computes something that can't be vouched for")
		}
		if r.Word != nil && a.within(r.Word) {
			doubt("it redirects to what a command prints")
		}
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			doubt("it sets a variable")
		}
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc {
			continue
		}
		w := readWord(r.Word)
		if w.dynamic || w.glob {
			doubt("it redirects to a file that is not known before")
			continue
		}
		switch r.Op {
		case syntax.RdrIn:
			if why := a.outside(w); why != "" && out.reads == "" {
				out.reads = why
			}
		case syntax.DplIn, syntax.DplOut:
			if w.text == "-" || isNumber(strings.TrimSuffix(w.text, "-")) {
				continue
			}
			fallthrough
		default:
			if w.text == "/dev/null" || w.text == "/dev/stdout" || w.text == "/dev/stderr" {
				continue
			}
			doubt("it writes to %s", w.text)
			out.touches = append(out.touches, a.targets(w)...)
		}
	}
	return out
}

func isNumber(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// call visits a simple command.
func (a *analysis) call(c *syntax.CallExpr, redirs redirected) {
	doubt := redirs.doubt
	add := func(format string, args ...any) {
		if doubt == "" {
			doubt = fmt.Sprintf(format, args...)
		}
	}
	for _, as := range c.Assigns {
		name := ""
		if as.Name != nil {
			name = as.Name.Value
		}
		add("it sets the variable %s", name)
		a.within(as)
	}
	words := make([]word, 0, len(c.Args))
	substituted := false
	for _, w := range c.Args {
		substituted = a.within(w) || substituted
		words = append(words, readWord(w))
	}
	if substituted {
		add("it runs a command inside another (substitution)")
	}
	if len(words) == 0 {
		text := "a redirection"
		if len(c.Assigns) > 0 {
			text = source(c)
		}
		if doubt == "" && redirs.reads == "" {
			return // `< file` alone
		}
		if doubt == "" {
			doubt = redirs.reads
		}
		a.line.Commands = append(a.line.Commands, Command{Text: text, Why: doubt, Doubt: doubt, touches: redirs.touches, Inner: a.inner > 0, wrapped: a.holds})
		return
	}
	n := len(a.line.Commands)
	a.command(words, doubt)
	cmd := &a.line.Commands[n]
	cmd.later = a.later(cmd, redirs.feeds, c.Assigns)
	cmd.touches = append(cmd.touches, redirs.touches...)
	switch {
	case redirs.reads != "":
		cmd.ReadOnly, cmd.Why, cmd.Doubt = false, redirs.reads, redirs.reads
	case cmd.ReadOnly || cmd.Doubt != "" && !cmd.wrapper:
	case redirs.feeds:
		cmd.Doubt = "its input stands in the line"
		cmd.Why = cmd.Doubt
	case a.fed && (cmd.wrapper || interprets(words[0].text)):
		cmd.Doubt = "another command tells it what to do"
		cmd.Why = cmd.Doubt
	}
	cmd.exact = cmd.exact && !redirs.feeds && doubt == "" && redirs.reads == "" && !(a.fed && (cmd.wrapper || interprets(words[0].text)))
	if doubt != "" || !cmd.exact && hasDynamic(words) {
		cmd.Text = strings.TrimSpace(source(c) + redirs.text)
	}
}

// later gives what a command may run that its words don't say: what a shell or xargs is
// fed, what git is configured for on the spot.
func (a *analysis) later(c *Command, feeds bool, assigns []*syntax.Assign) (out [][]word) {
	unknown := word{dynamic: true}
	name, _ := program(c.words[0])
	switch {
	case isShell(name) && (feeds || a.fed):
		out = append(out, []word{unknown})
	case name == "xargs" || name == "parallel":
		for _, s := range suffixes(c.words) {
			out = append(out, append(s[:len(s):len(s)], unknown))
		}
	}
	steered := c.wrapper && name == "git"
	for _, as := range assigns {
		steered = steered || as.Name != nil && strings.HasPrefix(as.Name.Value, "GIT_CONFIG")
	}
	if steered {
		out = append(out, []word{static("git"), unknown})
	}
	return out
}

// source prints a node as shell text.
func source(n syntax.Node) string {
	var b bytes.Buffer
	if err := syntax.NewPrinter().Print(&b, n); err != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}

// command judges one simple command and appends it, then those inside it.
func (a *analysis) command(words []word, doubt string) {
	c := Command{words: words, Text: join(words), Doubt: doubt, Inner: a.inner > 0, wrapped: a.holds, exact: true}
	for _, w := range words {
		c.exact = c.exact && !w.dynamic
		if w.dynamic && !w.simple && c.Doubt == "" {
			c.Doubt = "its words are not known before it runs"
		}
	}
	name, known := program(words[0])
	if !known && c.Doubt == "" {
		c.Doubt = "the program is not known before it runs"
	}
	c.wrapper = known && isWrapper(name, words)
	if c.wrapper && c.Doubt == "" {
		c.Doubt = name + " runs another command"
	}
	c.ReadOnly, c.Why = a.readOnly(name, c)
	if !c.ReadOnly {
		for _, w := range words[1:] {
			c.touches = append(c.touches, a.targets(w)...)
		}
	}
	a.line.Commands = append(a.line.Commands, c)
	if name == "cd" {
		a.chdir(words)
	}
	if c.wrapper {
		a.unwrap(name, words)
	}
}

// program gives the name by which a command's program is known: without a folder where
// that is one of the system's.
func program(w word) (name string, known bool) {
	if w.dynamic || w.glob || w.tilde || w.text == "" {
		return w.text, false
	}
	for _, dir := range []string{"/bin/", "/usr/bin/"} {
		if rest, ok := strings.CutPrefix(w.text, dir); ok && !strings.Contains(rest, "/") && rest != "" {
			return rest, true
		}
	}
	return w.text, true
}

// chdir follows a cd, as far as it is known where it leads.
func (a *analysis) chdir(words []word) {
	a.moved = true
	if len(words) != 2 || words[1].dynamic || words[1].glob || words[1].tilde || strings.HasPrefix(words[1].text, "-") {
		a.dirs = append(a.dirs, "") // anywhere
		return
	}
	now := a.dirs
	for _, d := range now {
		if d == "" {
			continue
		}
		// cd takes ".." away as text, unless it was told otherwise.
		for _, next := range []string{climb(d, words[1].text), lexical(d, words[1].text)} {
			if !slices.Contains(a.dirs, next) {
				a.dirs = append(a.dirs[:len(a.dirs):len(a.dirs)], next)
			}
		}
	}
	if len(a.dirs) > 8 {
		a.dirs = []string{""}
	}
}

// unwrap visits the shell texts that a wrapper is given (sh -c 'text', eval text).
func (a *analysis) unwrap(name string, words []word) {
	if a.depth >= maxInner {
		a.doubt("it nests shells too deep")
		return
	}
	var texts []string
	switch name {
	case "eval":
		texts = []string{strings.TrimSpace(joinPlain(words[1:]))}
	case "alias":
		for _, w := range words[1:] {
			if _, value, ok := strings.Cut(w.text, "="); ok && !w.dynamic {
				texts = append(texts, value)
			}
		}
	default:
		for _, w := range words[1:] {
			if !w.dynamic && strings.ContainsAny(w.text, " \t\n;|&") {
				texts = append(texts, w.text)
			}
		}
	}
	dirs, moved, was, holds := a.dirs, a.moved, a.line.Opaque, a.holds
	a.depth++
	a.inner++
	a.holds = len(a.line.Commands)
	for _, t := range texts {
		a.text(t)
	}
	a.inner--
	a.depth--
	a.dirs, a.moved, a.holds = dirs, moved, holds
	a.line.Opaque = was || a.line.Opaque && isShell(name)
}

func joinPlain(words []word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return strings.Join(out, " ")
}
