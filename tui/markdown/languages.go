package markdown

// kind says how the lines of a language are read.
type kind int

const (
	kindCode kind = iota
	kindJSON
	kindMarkup
	kindDiff
)

// region is a string or comment with a beginning and an end.
type region struct {
	open, close string
	escape      bool // a backslash escapes the next character
	multi       bool // it may continue on the next line
	comment     bool
}

// language is what the highlighter knows of a language. Word lists are separated by spaces.
type language struct {
	names                      string // as code blocks and file endings name it
	kind                       kind
	keywords, types, constants string
	line                       []string // prefixes of comments up to the line's end
	regions                    []region // in the order in which they are tried
	fold                       bool     // words regardless of case
	upper                      bool     // a word with a capital is a type
	at                         bool     // @name is an attribute
	dollar                     bool     // $name is a variable
	hashMeta                   bool     // a line that begins with # is for the preprocessor
	lifetimes                  bool     // 'a is not a string
	noCalls                    bool     // name( is not a call
	keys                       bool     // lines begin with a name
	keyEnd                     string   // what ends such a name
}

var (
	double  = region{open: `"`, close: `"`, escape: true}
	single  = region{open: `'`, close: `'`, escape: true}
	back    = region{open: "`", close: "`", multi: true}
	blockC  = region{open: "/*", close: "*/", multi: true, comment: true}
	triple  = region{open: `"""`, close: `"""`, escape: true, multi: true}
	triple1 = region{open: `'''`, close: `'''`, escape: true, multi: true}
)

// languages are the ones that code blocks usually contain. The table is never written.
var languages = []language{
	{
		names:     "go golang",
		keywords:  "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
		types:     "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
		constants: "true false nil iota",
		line:      []string{"//"}, regions: []region{blockC, double, back, single},
	},
	{
		names:     "py python python3 pyi",
		keywords:  "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
		types:     "int str float bool bytes list dict set tuple object type",
		constants: "True False None self cls",
		line:      []string{"#"}, regions: []region{triple, triple1, double, single}, at: true,
	},
	{
		names:     "js javascript mjs cjs jsx ts typescript tsx mts cts",
		keywords:  "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in instanceof interface keyof let namespace new of private protected public readonly return satisfies set static switch throw try type typeof var void while with yield",
		types:     "any boolean bigint never number object string symbol unknown",
		constants: "true false null undefined this super NaN Infinity",
		line:      []string{"//"}, regions: []region{blockC, double, single, {open: "`", close: "`", escape: true, multi: true}}, at: true, upper: true,
	},
	{
		names:     "rs rust",
		keywords:  "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type unsafe use where while",
		types:     "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
		constants: "true false self Self None Some Ok Err",
		line:      []string{"//"}, regions: []region{blockC, {open: `"`, close: `"`, escape: true, multi: true}, single}, upper: true, lifetimes: true,
	},
	{
		names:     "c h cpp c++ cc cxx hpp hh objc objective-c m cuda cu",
		keywords:  "alignas alignof asm auto break case catch class concept const constexpr consteval constinit continue co_await co_return co_yield decltype default delete do else enum explicit export extern final for friend goto if inline mutable namespace new noexcept operator override private protected public register requires restrict return sizeof static static_assert static_cast dynamic_cast reinterpret_cast const_cast struct switch template this throw try typedef typename union using virtual volatile while",
		types:     "bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t long short signed size_t ssize_t string uint8_t uint16_t uint32_t uint64_t unsigned void wchar_t",
		constants: "true false NULL nullptr",
		line:      []string{"//"}, regions: []region{blockC, double, single}, hashMeta: true,
	},
	{
		names:     "java",
		keywords:  "abstract assert break case catch class const continue default do else enum extends final finally for goto if implements import instanceof interface native new package permits private protected public record return sealed static strictfp super switch synchronized this throw throws transient try var volatile while yield",
		types:     "boolean byte char double float int long short void",
		constants: "true false null",
		line:      []string{"//"}, regions: []region{blockC, triple, double, single}, at: true, upper: true,
	},
	{
		names:     "kt kts kotlin",
		keywords:  "abstract actual annotation as break by catch class companion const constructor continue crossinline data do else enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline object open operator out override package private protected public reified return sealed set super suspend tailrec this throw try typealias val var vararg when where while",
		constants: "true false null it",
		line:      []string{"//"}, regions: []region{blockC, triple, double, single}, at: true, upper: true,
	},
	{
		names:     "cs csharp c# fs fsharp",
		keywords:  "abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach get goto if implicit in init interface internal is let lock namespace new operator out override params private protected public readonly record ref return sealed set sizeof static struct switch this throw try typeof unchecked unsafe using var virtual void volatile when where while with yield",
		types:     "bool byte char decimal double dynamic float int long object sbyte short string uint ulong ushort",
		constants: "true false null value",
		line:      []string{"//"}, regions: []region{blockC, triple, double, single}, upper: true, hashMeta: true,
	},
	{
		names:     "swift",
		keywords:  "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough fileprivate final for func guard if import in indirect init inout internal is lazy let mutating open operator override private protocol public repeat required rethrows return some static struct subscript super switch throw throws try typealias unowned var weak where while",
		constants: "true false nil self Self",
		line:      []string{"//"}, regions: []region{blockC, triple, double}, at: true, upper: true,
	},
	{
		names:     "rb ruby rake gemfile",
		keywords:  "alias and begin break case class def defined do else elsif end ensure extend for if in include module next not or private protected public raise redo require require_relative rescue retry return super then undef unless until when while yield",
		constants: "true false nil self",
		line:      []string{"#"}, regions: []region{double, single}, at: true, upper: true,
	},
	{
		names:     "php",
		keywords:  "abstract and as break case catch class clone const continue declare default do echo else elseif enum extends final finally fn for foreach function global if implements include include_once instanceof interface match namespace new or print private protected public readonly require require_once return static switch throw trait try use var while xor yield",
		types:     "array bool callable float int iterable mixed object string void",
		constants: "true false null parent self",
		line:      []string{"//", "#"}, regions: []region{blockC, double, single}, dollar: true, upper: true,
	},
	{
		names:     "sh bash zsh shell console terminal shellsession ksh fish .bashrc .zshrc .profile",
		keywords:  "break case continue do done elif else esac exit export fi for function if in local readonly return select set shift source then trap unset until while",
		constants: "true false",
		line:      []string{"#"}, regions: []region{{open: `"`, close: `"`, escape: true, multi: true}, {open: `'`, close: `'`, multi: true}}, dollar: true, noCalls: true,
	},
	{
		names:     "ps1 powershell",
		keywords:  "begin break catch class continue data do else elseif end enum exit filter finally for foreach from function if in param process return switch throw trap try until using while",
		constants: "$true $false $null",
		line:      []string{"#"}, regions: []region{{open: "<#", close: "#>", multi: true, comment: true}, double, single}, dollar: true, fold: true,
	},
	{
		names:     "lua",
		keywords:  "and break do else elseif end for function goto if in local not or repeat return then until while",
		constants: "true false nil self",
		line:      []string{}, regions: []region{{open: "--[[", close: "]]", multi: true, comment: true}, {open: "--", close: "\n", comment: true}, {open: "[[", close: "]]", multi: true}, double, single},
	},
	{
		names:     "sql postgres postgresql mysql sqlite plsql",
		keywords:  "add all alter and as asc begin between by case check column commit constraint create cross database default delete desc distinct drop else end exists explain foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction trigger truncate union unique update using values view when where with",
		types:     "bigint blob boolean char date datetime decimal double float int integer json jsonb numeric real serial smallint text time timestamp uuid varchar",
		constants: "true false",
		line:      []string{"--"}, regions: []region{blockC, single, double}, fold: true,
	},
	{
		names: "json jsonc json5 jsonl ndjson", kind: kindJSON, constants: "true false null",
		line: []string{"//"}, regions: []region{blockC, double},
	},
	{
		names: "yaml yml", constants: "true false null yes no on off",
		line: []string{"#"}, regions: []region{double, single}, keys: true, keyEnd: ":", noCalls: true,
	},
	{
		names: "toml ini cfg conf properties env dotenv .env .editorconfig .gitconfig", constants: "true false",
		line: []string{"#", ";"}, regions: []region{triple, triple1, double, single}, keys: true, keyEnd: "=", noCalls: true,
	},
	{
		names: "html htm xml svg vue svelte xhtml plist", kind: kindMarkup,
		regions: []region{{open: "<!--", close: "-->", multi: true, comment: true}},
	},
	{
		names: "css scss less sass", keywords: "important", at: true,
		line: []string{}, regions: []region{blockC, double, single}, keys: true, keyEnd: ":",
	},
	{names: "diff patch", kind: kindDiff},
	{
		names: "dockerfile docker containerfile", fold: true,
		keywords: "add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal user volume workdir",
		line:     []string{"#"}, regions: []region{double, single}, dollar: true, noCalls: true,
	},
	{
		names: "make makefile mk gnumakefile", keywords: "define endef else endif export ifdef ifeq ifndef ifneq include override",
		line: []string{"#"}, regions: []region{double, single}, dollar: true, noCalls: true,
	},
	{
		names:     "zig",
		keywords:  "align allowzero and anyframe anytype asm async await break catch comptime const continue defer else enum errdefer error export extern fn for if inline noalias nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while",
		types:     "bool f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize void type",
		constants: "true false null undefined",
		line:      []string{"//"}, regions: []region{double, single}, at: true,
	},
	{
		names:     "ex exs elixir erl erlang hs haskell ml ocaml clj clojure scala dart r julia jl",
		keywords:  "abstract after alias and as begin case catch class cond data def default defmodule defp deriving do else end extends fn for fun function if import in instance let match module mutable new object of open or override private public raise receive rec require rescue return sealed struct super then this throw trait try type use val var when where while with yield",
		constants: "true false nil null None Some Nothing Just TRUE FALSE NULL",
		line:      []string{"#", "//", "--"}, regions: []region{blockC, triple, double}, upper: true,
	},
}
