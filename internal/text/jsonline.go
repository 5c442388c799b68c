package text

import "bytes"

// JSONLine returns JSON that json.Marshal wrote, as one line for every reader: Marshal
// escapes U+2028 and U+2029, but not U+0085, where many readers end a line as well.
func JSONLine(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\u0085"), []byte(`\u0085`)) }
