// Package commandline reads a command line into structs. A struct is a command: its fields are flags, arguments
// and further commands, described by their tags.
//
//	type grammar struct {
//		Verbose bool    `short:"v" help:"Say more."`                 // a flag
//		List    listCmd `cmd:"" default:"withargs" help:"List them."` // a command; also without its name
//	}
//	type listCmd struct {
//		Names []string `arg:"" optional:"" help:"Which."` // an argument
//	}
//
// The tags of a flag: name, short, aliases, help, placeholder, default, enum ("a,b"), env, hidden, and sep ("none"
// for a list that is one value per flag). Those of an argument: name, help, optional, enum, default; with dash it
// takes the words after `--`. `type:"path"` makes a path absolute. Fields of an embedded
// struct belong to the struct around it. A command that is [Tabled] has the help of those below it in a table.
package commandline

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Command is a command with what it takes.
type Command struct {
	Name, Help string
	// Detail is a longer text for the command's own help.
	Detail   string
	Hidden   bool
	Names    bool     // its arguments name what its parent is about, by the parent's table
	Parent   *Command // nil for the program
	Children []*Command
	Flags    []*Flag
	Args     []*Argument
	// Target points to the command's struct.
	Target any

	fallback *Command // the child that is meant without a name
	dash     *Argument
	said     func(command string) (help string, names bool) // of the children; nil if their tags say it
}

// Flag is a flag of a command, which holds for the commands below it too.
type Flag struct {
	Name, Help, Placeholder string
	Short                   rune // 0 if there is none
	Hidden                  bool
	Enum                    []string
	env, initial            string
	aliases                 []string
	value                   *value
}

// Argument is a word of a command, or all that are left.
type Argument struct {
	Name, Help string
	Optional   bool
	Enum       []string
	initial    string
	value      *value
}

// Detailed is a command with a longer text for its own help.
type Detailed interface{ Help() string }

// Tabled is a command that has what is said of the commands below it in a table, in place of their tags: help is
// theirs, and names reports whether their arguments are names of what it is about.
type Tabled interface {
	Said() func(command string) (help string, names bool)
}

// Particular is a command that only some words mean: others are a sentence that begins with its name.
type Particular interface{ Means(words []string) bool }

// Of describes the command line that target, a pointer to a struct, is filled from.
func Of(name string, target any) (*Command, error) {
	root := &Command{Name: name, Target: target}
	root.Flags = append(root.Flags, &Flag{
		Name: "help", Short: 'h', Help: "Show context-sensitive help.", value: &value{to: reflect.New(reflect.TypeFor[bool]()).Elem()},
	})
	return root, root.read(reflect.ValueOf(target).Elem())
}

// read adds the fields of a struct.
func (c *Command) read(v reflect.Value) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag := field.Tag
		_, isCommand := tag.Lookup("cmd")
		_, isArgument := tag.Lookup("arg")
		_, isDash := tag.Lookup("dash")
		var err error
		switch {
		case field.Anonymous:
			err = c.read(v.Field(i))
		case isCommand:
			err = c.addCommand(field, v.Field(i))
		case isDash:
			c.dash = &Argument{Name: nameOf(field), value: &value{to: v.Field(i), whole: true}}
		case isArgument:
			c.addArgument(field, v.Field(i))
		default:
			c.addFlag(field, v.Field(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Command) addCommand(field reflect.StructField, v reflect.Value) error {
	child := &Command{Name: nameOf(field), Help: field.Tag.Get("help"), Hidden: has(field, "hidden"), Parent: c, Target: v.Addr().Interface()}
	if t, ok := c.Target.(Tabled); ok {
		if c.said == nil {
			c.said = t.Said()
		}
		child.Help, child.Names = c.said(child.Name)
	}
	if d, ok := child.Target.(Detailed); ok {
		child.Detail = d.Help()
	}
	if field.Tag.Get("default") == "withargs" {
		c.fallback = child
	}
	c.Children = append(c.Children, child)
	if v.Kind() != reflect.Struct {
		return fmt.Errorf("command line: %s is no struct", field.Name)
	}
	return child.read(v)
}

func (c *Command) addArgument(field reflect.StructField, v reflect.Value) {
	a := &Argument{Name: nameOf(field), Optional: has(field, "optional"), Enum: enum(field), initial: field.Tag.Get("default")}
	a.Help = interpolate(field.Tag.Get("help"), a.Enum)
	a.value = valueOf(field, v)
	c.Args = append(c.Args, a)
}

func (c *Command) addFlag(field reflect.StructField, v reflect.Value) {
	tag := field.Tag
	f := &Flag{
		Name: nameOf(field), Placeholder: tag.Get("placeholder"), Hidden: has(field, "hidden"), Enum: enum(field),
		env: tag.Get("env"), initial: tag.Get("default"), value: valueOf(field, v),
	}
	f.Help = interpolate(tag.Get("help"), f.Enum)
	f.Short, _ = utf8.DecodeRuneInString(tag.Get("short"))
	if tag.Get("short") == "" {
		f.Short = 0
	}
	if aliases := tag.Get("aliases"); aliases != "" {
		f.aliases = strings.Split(aliases, ",")
	}
	c.Flags = append(c.Flags, f)
}

func has(field reflect.StructField, key string) bool {
	_, ok := field.Tag.Lookup(key)
	return ok
}

func enum(field reflect.StructField) []string {
	if list := field.Tag.Get("enum"); list != "" {
		return strings.Split(list, ",")
	}
	return nil
}

// interpolate puts the values of an enumeration where a help text wants them.
func interpolate(help string, enum []string) string {
	return strings.ReplaceAll(help, "${enum}", strings.Join(enum, ","))
}

// nameOf returns the name of a field on the command line: BaseURL is base-url.
func nameOf(field reflect.StructField) string {
	if name := field.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	runes := []rune(field.Name)
	for i, r := range runes {
		begins := i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Path returns the words that name a command, beginning with the program's.
func (c *Command) Path() string {
	if c.Parent == nil {
		return c.Name
	}
	return c.Parent.Path() + " " + c.Name
}

// Child returns the command of a name below this one, or nil.
func (c *Command) Child(name string) *Command {
	for _, child := range c.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// Flag returns the flag of a name or of a letter, of this command or of one above it; nil if there is none.
func (c *Command) Flag(name string, short rune) *Flag {
	for ; c != nil; c = c.Parent {
		for _, f := range c.Flags {
			if f.is(name) || short != 0 && f.Short == short {
				return f
			}
		}
	}
	return nil
}

func (f *Flag) is(name string) bool {
	if f.Name == name {
		return true
	}
	for _, a := range f.aliases {
		if a == name {
			return true
		}
	}
	return false
}

// IsBool reports whether a flag needs no value.
func (f *Flag) IsBool() bool { return f.value.to.Kind() == reflect.Bool }

// Metavar returns what stands for a flag's value in help.
func (f *Flag) Metavar() string {
	switch {
	case f.Placeholder != "":
		return f.Placeholder
	case f.initial != "":
		return f.initial
	}
	return strings.ToUpper(f.Name)
}

// Summary returns an argument as a usage line shows it.
func (a *Argument) Summary() string {
	s := "<" + a.Name + ">"
	if a.value.isList() {
		s += " ..."
	}
	if a.Optional {
		return "[" + s + "]"
	}
	return s
}
