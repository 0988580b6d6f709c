//! A small authorization server for tests: it publishes keys and signs access tokens.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

/// A key that signs nothing but test tokens.
const RSA_KEY: &[u8] = include_bytes!("../keys/rsa.pkcs8.der");

pub(crate) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs()
}

/// A key of the issuer.
pub(crate) enum SigningKey {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    pub(crate) fn ed25519() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("a key"))
    }

    pub(crate) fn p256() -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random);
        Self::P256(key.expect("a key"))
    }

    pub(crate) fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(RSA_KEY).expect("a key"))
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::Ed25519(_) => "EdDSA",
            Self::P256(_) => "ES256",
            Self::Rsa(_) => "RS256",
        }
    }

    /// The public key, as the issuer publishes it.
    pub(crate) fn jwk(&self, id: &str) -> Value {
        match self {
            Self::Ed25519(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "use": "sig", "x": base64url(key.public_key().as_ref())})
            }
            Self::P256(key) => {
                let point = key.public_key().as_ref();
                let (x, y) = (base64url(&point[1..33]), base64url(&point[33..]));
                json!({"kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "alg": "ES256", "x": x, "y": y})
            }
            Self::Rsa(key) => {
                let public: PublicKeyComponents<Vec<u8>> = key.public().into();
                let (n, e) = (base64url(&public.n), base64url(&public.e));
                json!({"kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": n, "e": e})
            }
        }
    }

    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        let message =
            format!("{}.{}", base64url(header.to_string().as_bytes()), base64url(claims.to_string().as_bytes()));
        let signature = match self {
            Self::Ed25519(key) => key.sign(message.as_bytes()).as_ref().to_vec(),
            Self::P256(key) => {
                key.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature").as_ref().to_vec()
            }
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let signed = key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature);
                signed.expect("a signature");
                signature
            }
        };
        format!("{message}.{}", base64url(&signature))
    }
}

/// An authorization server with a set of keys, which a test may change.
pub(crate) struct TestIssuer {
    address: SocketAddr,
    keys: Arc<Mutex<Vec<Value>>>,
    fetches: Arc<AtomicUsize>,
    /// The least bytes of the document with the keys.
    bytes: Arc<AtomicUsize>,
}

impl TestIssuer {
    pub(crate) fn start(keys: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (keys, fetches) = (Arc::new(Mutex::new(keys)), Arc::new(AtomicUsize::new(0)));
        let bytes = Arc::new(AtomicUsize::new(0));
        let (served, counted, padded) = (Arc::clone(&keys), Arc::clone(&fetches), Arc::clone(&bytes));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
                let first = lines.next().and_then(Result::ok).unwrap_or_default();
                while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
                let body = match first.split(' ').nth(1) {
                    Some("/.well-known/openid-configuration") => {
                        json!({"issuer": format!("http://{address}"), "jwks_uri": format!("http://{address}/keys")})
                    }
                    Some("/keys") => {
                        counted.fetch_add(1, Ordering::SeqCst);
                        json!({"keys": *served.lock().expect("keys")})
                    }
                    _ => Value::Null,
                };
                let length = if first.contains("/keys") { padded.load(Ordering::SeqCst) } else { 0 };
                let mut body = body.to_string();
                body.push_str(&" ".repeat(length.saturating_sub(body.len())));
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        Self { address, keys, fetches, bytes }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn set_keys(&self, keys: Vec<Value>) {
        *self.keys.lock().expect("keys") = keys;
    }

    /// Makes the document with the keys so long.
    pub(crate) fn pad_keys(&self, bytes: usize) {
        self.bytes.store(bytes, Ordering::SeqCst);
    }

    /// How often the keys were fetched.
    pub(crate) fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}
