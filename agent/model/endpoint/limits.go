package endpoint

import (
	"errors"
)

// MaxAnswer bounds the total size of an answer, thinking and calls included: a model that never stops must
// not fill the memory.
const MaxAnswer = 64 << 20

// ErrTooLarge ends an answer that is longer than MaxAnswer.
var ErrTooLarge = errors.New("the answer is too large")
