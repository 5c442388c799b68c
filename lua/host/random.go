package host

import (
	"math"
	"math/rand/v2"

	lua "github.com/yuin/gopher-lua"
)

// openMath returns the math library with a random generator per state: the engine's belongs to
// the process, can't be seeded, and panics on an empty range.
func (e *engine) openMath(lib *lua.LTable) *lua.LTable {
	t := e.plain(lib)
	source := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	t.RawSetString("randomseed", e.RegisterHost("math.randomseed", func(L *lua.LState) int {
		source = rand.New(rand.NewPCG(math.Float64bits(float64(L.CheckNumber(1))), 0))
		return 0
	}))
	t.RawSetString("random", e.RegisterHost("math.random", func(L *lua.LState) int {
		low, high := 1.0, 0.0
		switch L.GetTop() {
		case 0:
			return pushAll(L, lua.LNumber(source.Float64()))
		case 1:
			high = math.Floor(float64(L.CheckNumber(1)))
		default:
			low, high = math.Floor(float64(L.CheckNumber(1))), math.Floor(float64(L.CheckNumber(2)))
		}
		const most = 1 << 53 // whole numbers are exact up to here
		if !(low <= high) || low < -most || high > most {
			L.ArgError(L.GetTop(), "interval is empty or too large")
		}
		return pushAll(L, lua.LNumber(low+float64(source.Int64N(int64(high-low)+1))))
	}))
	return t
}
