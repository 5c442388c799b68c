package commandline

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"jcode/internal/text"
)

// ErrHelp says that help was asked for, of the command that Parse returned with it.
var ErrHelp = errors.New("help was asked for")

// Parse fills the structs from the words after the program's name, and returns the command that they name.
// With ErrHelp nothing may be filled. A value that begins with "-" must be written --flag=-value.
func (c *Command) Parse(words []string) (*Command, error) {
	named := c
	for at := c; ; {
		next, own, rest := at.follow(words)
		switch {
		case next != nil:
			if _, _, err := at.flagsIn(own); err != nil {
				return at, err
			}
			named = next
		case at.fallback != nil:
			next, rest = at.fallback, words
		default:
			done, err := at.end(words)
			if errors.Is(err, ErrHelp) {
				return named, err
			}
			return done, err
		}
		at, words = next, rest
	}
}

// follow finds the first word that is not a flag or its value: own are the words before it, next is the command
// below this one that it names, nil if it names none.
func (c *Command) follow(words []string) (next *Command, own, rest []string) {
	if c.Children == nil {
		return nil, nil, words
	}
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--":
			return nil, nil, words
		case len(w) > 1 && w[0] == '-':
			if c.wantsNext(w) {
				i++
			}
		default:
			if next = c.Child(w); next == nil || c.Parent == nil && c.fallback != nil && next.refuses(words[i+1:]) {
				return nil, nil, words
			}
			return next, words[:i], words[i+1:]
		}
	}
	return nil, nil, words
}

// refuses reports whether words can't belong to a command, as it takes none or not these: of a program that takes
// words without a command, they are a sentence that begins with its name.
func (c *Command) refuses(words []string) bool {
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }) {
		return false
	}
	if p, ok := c.Target.(Particular); ok {
		return !p.Means(words)
	}
	return c.Children == nil && c.Args == nil && c.dash == nil
}

// wantsNext reports whether the word after a flag is its value. A flag may be the last of several letters
// (-pC DIR).
func (c *Command) wantsNext(word string) bool {
	at := c
	if c.fallback != nil {
		at = c.fallback
	}
	if name, long := strings.CutPrefix(word, "--"); long {
		f := at.Flag(name, 0)
		return f != nil && !f.IsBool()
	}
	letters := []rune(word[1:])
	for i, r := range letters {
		f := at.Flag("", r)
		if f == nil {
			return false
		}
		if !f.IsBool() {
			return i == len(letters)-1 // otherwise the rest of the word is its value
		}
	}
	return false
}

// end parses the words of the last command.
func (c *Command) end(words []string) (*Command, error) {
	args, after, err := c.flagsIn(words)
	if err != nil {
		return c, err
	}
	if c.dash == nil {
		args = append(args, after...)
	} else if after != nil {
		c.dash.value.to.Set(reflect.ValueOf(after))
	}
	if c.Children != nil { // and none is meant without a name
		return c, c.noChild(args)
	}
	for at := c; at != nil; at = at.Parent {
		for _, f := range at.Flags {
			if err := f.start(); err != nil {
				return c, err
			}
		}
	}
	return c, c.fill(args)
}

// noChild says which command is wanted.
func (c *Command) noChild(args []string) error {
	names := make([]string, 0, len(c.Children))
	for _, child := range c.Children {
		names = append(names, child.Name)
	}
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %s%s", args[0], meant(text.Nearest(args[0], names)))
	}
	for i, name := range names {
		names[i] = strconv.Quote(name)
	}
	return fmt.Errorf("expected one of %s", strings.Join(names, ", "))
}

func meant(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", near)
}

// start gives a flag that was not written its value from the environment, or its default.
func (f *Flag) start() error {
	if f.value.given {
		return nil
	}
	if word := os.Getenv(f.env); f.env != "" && word != "" {
		if err := f.value.Set(word); err != nil {
			return fault("$"+f.env, err)
		}
		return nil
	}
	if f.initial != "" {
		return f.value.Set(f.initial)
	}
	return nil
}

// fill gives the arguments their words.
func (c *Command) fill(args []string) error {
	for _, a := range c.Args {
		n := min(1, len(args))
		if a.value.isList() {
			n = len(args)
		}
		if n == 0 {
			if !a.Optional {
				return fmt.Errorf("expected %q", a.Summary())
			}
			if a.initial != "" {
				if err := a.value.Set(a.initial); err != nil {
					return fault("<"+a.Name+">", err)
				}
			}
			continue
		}
		for _, word := range args[:n] {
			if err := a.value.Set(word); err != nil {
				return fault("<"+a.Name+">", err)
			}
		}
		args = args[n:]
	}
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %s", args[0])
	}
	return nil
}

// flagsIn parses flags, of this command and of those above it. args are the other words, after are those behind
// `--`; it is not nil if there is one.
func (c *Command) flagsIn(words []string) (args, after []string, err error) {
	if len(words) == 0 {
		return nil, nil, nil
	}
	if end := slices.Index(words, "--"); end >= 0 && !c.isValue(words, end) {
		words, after = words[:end], append([]string{}, words[end+1:]...)
	}
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	set.Usage = func() {}
	known := map[string]*Flag{}
	for at := c; at != nil; at = at.Parent {
		for _, f := range at.Flags {
			f.register(set, known)
		}
	}
	if err := c.values(words); err != nil {
		return nil, nil, err
	}
	if err := set.Parse(words); err != nil {
		return nil, nil, c.worded(err, known)
	}
	for _, f := range known {
		if f.Name == "help" && f.value.to.Bool() {
			return nil, nil, ErrHelp
		}
	}
	return set.Args(), after, nil
}

// isValue reports whether a word is the value of the flag before it.
func (c *Command) isValue(words []string, at int) bool {
	return at > 0 && len(words[at-1]) > 1 && words[at-1][0] == '-' && c.wantsNext(words[at-1])
}

// values looks whether each flag that needs a value has one: a flag behind it is none.
func (c *Command) values(words []string) error {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if len(w) < 2 || w[0] != '-' || !c.wantsNext(w) {
			continue
		}
		i++
		switch {
		case i == len(words):
			return fmt.Errorf("%s needs a value", w)
		case len(words[i]) > 1 && words[i][0] == '-':
			f := c.Flag(strings.TrimLeft(w, "-"), lastLetter(w))
			return fmt.Errorf("%s needs a value; if %s is meant, write --%s=%s", w, words[i], f.Name, words[i])
		}
	}
	return nil
}

// lastLetter returns the last of several short flags, 0 for a long one.
func lastLetter(word string) rune {
	if strings.HasPrefix(word, "--") {
		return 0
	}
	letters := []rune(word)
	return letters[len(letters)-1]
}

// register adds a flag under its names, as far as a command below has not taken them.
func (f *Flag) register(set *pflag.FlagSet, known map[string]*Flag) {
	short := ""
	if f.Short != 0 && set.ShorthandLookup(string(f.Short)) == nil {
		short = string(f.Short)
	}
	for i, name := range append([]string{f.Name}, f.aliases...) {
		if set.Lookup(name) != nil {
			name = "\x00" + name // only its letter is left
		}
		if i > 0 {
			short = ""
		}
		added := set.VarPF(marked{f.value}, name, short, "")
		if f.IsBool() {
			added.NoOptDefVal = "true"
		}
		known[name] = f
	}
}

// marked notes that a value was given.
type marked struct{ *value }

// Set takes a word.
func (m marked) Set(word string) error {
	err := m.value.Set(word)
	m.given = true
	return err
}

// worded says what is wrong with a flag.
func (c *Command) worded(err error, known map[string]*Flag) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &invalid):
		return fault("--"+strings.TrimPrefix(invalid.GetFlag().Name, "\x00"), invalid.Unwrap())
	case !errors.As(err, &unknown):
		return err
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("unknown flag -%s", unknown.GetSpecifiedName())
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(known)), func(n string) bool { return n[0] == 0 })
	near := text.Nearest(unknown.GetSpecifiedName(), names)
	if near != "" {
		near = "--" + near
	}
	return fmt.Errorf("unknown flag --%s%s", unknown.GetSpecifiedName(), meant(near))
}

// fault names what a word was wrong for.
func fault(what string, err error) error {
	var other *notOneOf
	if errors.As(err, &other) {
		return fmt.Errorf("%s %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
