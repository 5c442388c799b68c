package proc

// maxrssUnit is what one of Maxrss means: a byte.
const maxrssUnit = 1
