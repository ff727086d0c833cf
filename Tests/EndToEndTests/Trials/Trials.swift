internal import Testing

/// The built program under conditions that no unit test has; one at a time, since each takes the machine for itself.
@Suite(.serialized) struct Trials {}
