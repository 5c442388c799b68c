package proc

// maxrssUnit is the unit of Maxrss: a byte.
const maxrssUnit = 1
