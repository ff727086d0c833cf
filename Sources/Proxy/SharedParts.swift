internal import Dictionaries
internal import Dispatch
internal import HTTP

/// What a proxy keeps over a reload of its configuration: the store, the budgets and what is cached.
///
/// Safe from any thread.
final class SharedParts: Sendable {
    let store: DictionaryStore
    /// How many loops share all this.
    let loopCount: Int
    let compressionPool: CompressionPool
    /// Live encoders, and bodies that are held until they are whole.
    let compressionMemory: MemoryBudget
    /// Indexed dictionaries for their next use: about fifty of 250 KB.
    let preparedDictionaries = PreparedDictionaries(bytesMax: 64 << 20)
    /// Which versions Links name.
    let linkDesk: LinkDesk
    let dictionarySwitch = DictionarySwitch()
    let connectionCount = ConnectionCount()
    let maintenance = DispatchQueue(label: "dictum.maintenance", qos: .utility)
    /// Is told what an operator should know; on any thread.
    let report: @Sendable (StoreEvent) -> Void

    init(
        store: DictionaryStore, loopCount: Int, compressionPool: CompressionPool, compressionMemory: Int,
        report: @escaping @Sendable (StoreEvent) -> Void
    ) {
        self.store = store
        self.loopCount = max(1, loopCount)
        self.compressionPool = compressionPool
        self.compressionMemory = MemoryBudget(bytes: compressionMemory)
        self.report = report
        linkDesk = LinkDesk(store: store, pool: compressionPool)
    }
}
