internal import COpenSSL

extension TLSTicketKeys {
    /// Makes the context protect its tickets with these keys.
    ///
    /// The owner of both must keep the keys longer than the context.
    func serve(_ context: OpaquePointer) {
        // Safe: the owner of the context holds this object while a connection of it lives.
        unsafe dictum_ssl_set_app_data(context, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(context) {
            connection, name, vector, cipher, code, isMaking in
            guard let context = unsafe SSL_get_SSL_CTX(connection),
                let data = unsafe dictum_ssl_app_data(context),
                let name = unsafe name, let vector = unsafe vector, let cipher = unsafe cipher,
                let code = unsafe code
            else { return -1 }
            let keys = unsafe Unmanaged<TLSTicketKeys>.fromOpaque(data).takeUnretainedValue()
            return unsafe isMaking == 1
                ? keys.make(name, vector, cipher, code) : keys.open(name, vector, cipher, code)
        }
    }

    /// Sets the keys for a new ticket, by SSL_CTX_set_tlsext_ticket_key_evp_cb(3): 1 for success, -1 for a
    /// failure.
    private func make(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ code: OpaquePointer
    ) -> Int32 {
        guard let key = current() else { return -1 }
        // Safe: OpenSSL gives 16 bytes for the name and EVP_MAX_IV_LENGTH for the vector; AES uses 16.
        unsafe name.update(from: key.name, count: TLSTicketKey.nameBytes)
        guard unsafe RAND_bytes(vector, 16) == 1,
            unsafe EVP_EncryptInit_ex2(cipher, EVP_aes_256_cbc(), key.cipher, vector, nil) == 1,
            unsafe Self.setCode(code, key)
        else { return -1 }
        return 1
    }

    /// Sets the keys of a received ticket: 0 for an unknown ticket, 1 to accept it, 2 to accept and replace it.
    private func open(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ code: OpaquePointer
    ) -> Int32 {
        // Safe: OpenSSL gives 16 bytes of name.
        let asked = unsafe Array(UnsafeBufferPointer(start: name, count: TLSTicketKey.nameBytes))
        guard let (key, isCurrent) = find(asked) else { return 0 }
        guard unsafe EVP_DecryptInit_ex2(cipher, EVP_aes_256_cbc(), key.cipher, vector, nil) == 1,
            unsafe Self.setCode(code, key)
        else { return -1 }
        return isCurrent ? 1 : 2
    }

    private static func setCode(_ context: OpaquePointer, _ key: TLSTicketKey) -> Bool {
        var bytes = key.code
        // Safe: the key is only read, during the call, and outlives it.
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            let parameters = unsafe [
                dictum_param_mac_key(bytes.baseAddress, bytes.count), dictum_param_mac_sha256(),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_MAC_CTX_set_params(context, parameters) == 1
        }
    }
}
