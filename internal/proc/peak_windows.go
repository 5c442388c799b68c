package proc

import "os"

// peakMemory returns 0: it is unknown here.
func peakMemory(*os.ProcessState) int64 { return 0 }

func ownPeak() int64 { return 0 }
