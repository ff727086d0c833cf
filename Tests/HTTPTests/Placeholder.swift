// replaced by the tests of the wire
