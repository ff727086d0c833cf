/// The destination and format of the access log.
package struct AccessLogOutput: Sendable {
    package let sink: LogSink
    package let isJSON: Bool

    package init(sink: LogSink, isJSON: Bool) {
        self.sink = sink
        self.isJSON = isJSON
    }

    /// Returns the log of one loop, or nil if the configuration disables it.
    func log(for context: ProxyContext) -> AccessLog? {
        let configuration = context.configuration
        guard configuration.log.accessShare > 0 else { return nil }
        return AccessLog(
            format: AccessLogFormat(
                isJSON: isJSON, configuration: configuration, routes: context.routeNames),
            share: configuration.log.accessShare, sink: sink)
    }
}
