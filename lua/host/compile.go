package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/text"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// Limits of a source text. The compiler is recursive, unlike the parser: it must not get a
// source that is nested too deep.
const (
	maxSource   = 256 << 10
	maxASTDepth = 200
)

// loadError is a source that does not compile.
type loadError struct {
	line int // 0 = unknown
	text string
}

func (e *loadError) Error() string { return e.text }

// compile turns source into a prototype that any state can run. chunk names it in errors.
func compile(chunk, source string) (proto *lua.FunctionProto, err error) {
	if len(source) > maxSource {
		return nil, &loadError{text: fmt.Sprintf("%s: the source has %d KiB, at most %d KiB are allowed", chunk, (len(source)+1023)>>10, maxSource>>10)}
	}
	if strings.HasPrefix(source, "\x1b") {
		return nil, &loadError{text: chunk + ": this is bytecode; only source text is loaded"}
	}
	defer func() {
		if r := recover(); r != nil {
			proto, err = nil, &loadError{text: fmt.Sprintf("%s: the source cannot be compiled: %v", chunk, r)}
		}
	}()
	stmts, err := parse.Parse(strings.NewReader(source), chunk)
	if err != nil {
		return nil, syntaxError(chunk, source, err)
	}
	g := gate{chunk: chunk}
	if deep, ok := errors.AsType[*loadError](g.block(stmts, 0)); ok {
		return nil, deep // the first of those that are joined
	}
	proto, err = lua.Compile(stmts, chunk)
	if err != nil {
		return nil, syntaxError(chunk, source, err)
	}
	return proto, nil
}

func syntaxError(chunk, source string, err error) error {
	var p *parse.Error
	var c *lua.CompileError
	switch {
	case errors.As(err, &p) && p.Pos.Line == parse.EOF:
		last := 1 + strings.Count(strings.TrimRight(source, "\n"), "\n")
		return &loadError{line: last, text: fmt.Sprintf("%s:%d: at the end of the file: %s", chunk, last, p.Message)}
	case errors.As(err, &p):
		return &loadError{line: p.Pos.Line, text: fmt.Sprintf("%s:%d: near '%s': %s", chunk, p.Pos.Line, p.Token, p.Message)}
	case errors.As(err, &c):
		return &loadError{line: c.Line, text: fmt.Sprintf("%s:%d: %s", chunk, c.Line, c.Message)}
	}
	return &loadError{text: chunk + ": " + text.Headline(err.Error())}
}

// gate walks a syntax tree before it is compiled. It refuses deep nesting, and corrects generic
// for loops with fewer than three values in their list, for which the engine would reuse
// registers of an earlier loop.
type gate struct{ chunk string }

func (g gate) block(stmts []ast.Stmt, depth int) error {
	for _, s := range stmts {
		if err := g.stmt(s, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (g gate) deep(at ast.PositionHolder, depth int) error {
	if depth <= maxASTDepth {
		return nil
	}
	return &loadError{line: at.Line(), text: fmt.Sprintf("%s:%d: nested deeper than %d levels; split the expression or block", g.chunk, at.Line(), maxASTDepth)}
}

func (g gate) stmt(s ast.Stmt, depth int) error {
	if err := g.deep(s, depth); err != nil {
		return err
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		return g.all(depth, slices.Concat(s.Lhs, s.Rhs)...)
	case *ast.LocalAssignStmt:
		return g.all(depth, s.Exprs...)
	case *ast.FuncCallStmt:
		return g.expr(s.Expr, depth+1)
	case *ast.DoBlockStmt:
		return g.block(s.Stmts, depth)
	case *ast.WhileStmt:
		return errors.Join(g.expr(s.Condition, depth+1), g.block(s.Stmts, depth))
	case *ast.RepeatStmt:
		return errors.Join(g.expr(s.Condition, depth+1), g.block(s.Stmts, depth))
	case *ast.IfStmt:
		return errors.Join(g.expr(s.Condition, depth+1), g.block(s.Then, depth), g.block(s.Else, depth))
	case *ast.NumberForStmt:
		return errors.Join(g.all(depth, s.Init, s.Limit, s.Step), g.block(s.Stmts, depth))
	case *ast.GenericForStmt:
		padFor(s)
		return errors.Join(g.all(depth, s.Exprs...), g.block(s.Stmts, depth))
	case *ast.FuncDefStmt:
		if s.Name != nil {
			if err := g.all(depth, s.Name.Func, s.Name.Receiver); err != nil {
				return err
			}
		}
		return g.expr(s.Func, depth+1)
	case *ast.ReturnStmt:
		return g.all(depth, s.Exprs...)
	}
	return nil
}

// padFor fills the list of a generic for up to three values with nil.
func padFor(s *ast.GenericForStmt) {
	if n := len(s.Exprs); n > 0 {
		switch last := s.Exprs[n-1].(type) {
		case *ast.FuncCallExpr:
			if !last.AdjustRet {
				return
			}
		case *ast.Comma3Expr:
			if !last.AdjustRet {
				return
			}
		}
	}
	for len(s.Exprs) < 3 {
		null := &ast.NilExpr{}
		null.SetLine(s.Line())
		null.SetLastLine(s.LastLine())
		s.Exprs = append(s.Exprs, null)
	}
}

func (g gate) all(depth int, list ...ast.Expr) error {
	for _, e := range list {
		if err := g.expr(e, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (g gate) expr(e ast.Expr, depth int) error {
	if e == nil {
		return nil
	}
	if err := g.deep(e, depth); err != nil {
		return err
	}
	switch e := e.(type) {
	case *ast.AttrGetExpr:
		return g.all(depth, e.Object, e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			if err := g.all(depth, f.Key, f.Value); err != nil {
				return err
			}
		}
	case *ast.FuncCallExpr:
		if err := g.all(depth, e.Func, e.Receiver); err != nil {
			return err
		}
		return g.all(depth, e.Args...)
	case *ast.LogicalOpExpr:
		return g.all(depth, e.Lhs, e.Rhs)
	case *ast.RelationalOpExpr:
		return g.all(depth, e.Lhs, e.Rhs)
	case *ast.StringConcatOpExpr:
		return g.all(depth, e.Lhs, e.Rhs)
	case *ast.ArithmeticOpExpr:
		return g.all(depth, e.Lhs, e.Rhs)
	case *ast.UnaryMinusOpExpr:
		return g.expr(e.Expr, depth+1)
	case *ast.UnaryNotOpExpr:
		return g.expr(e.Expr, depth+1)
	case *ast.UnaryLenOpExpr:
		return g.expr(e.Expr, depth+1)
	case *ast.FunctionExpr:
		if e == nil {
			return nil
		}
		return g.block(e.Stmts, depth)
	}
	return nil
}
