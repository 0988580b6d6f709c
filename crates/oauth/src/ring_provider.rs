//! Signatures of JWTs by ring, so that the process has one provider of cryptography. Nothing is signed here.

use jsonwebtoken::crypto::{CryptoProvider, JwkUtils, JwtVerifier};
use jsonwebtoken::errors::{Error, ErrorKind, Result};
use jsonwebtoken::signature::{Error as SignatureError, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

/// The algorithms that are accepted: with a public key, and no weaker than SHA-256. `none` and shared secrets are not
/// among them.
pub(crate) const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(to_error(ErrorKind::InvalidAlgorithm)),
    verifier_factory: |algorithm, key| Ok(Box::new(SignatureCheck::new(*algorithm, key)?)),
    jwk_utils: JwkUtils {
        extract_rsa_public_key_components: |_| Err(to_error(ErrorKind::InvalidKeyFormat)),
        extract_ec_public_key_coordinates: |_, _| Err(to_error(ErrorKind::InvalidKeyFormat)),
        compute_digest: |_, _| Vec::new(),
    },
};

/// Makes ring the provider of `jsonwebtoken`. Later calls change nothing.
pub(crate) fn install() {
    let _ = PROVIDER.install_default();
}

fn to_error(kind: ErrorKind) -> Error {
    kind.into()
}

/// Checks signatures of one algorithm with one key.
struct SignatureCheck {
    algorithm: Algorithm,
    key: PublicKey,
}

enum PublicKey {
    Rsa { parameters: &'static RsaParameters, components: RsaPublicKeyComponents<Vec<u8>> },
    Other(UnparsedPublicKey<Vec<u8>>),
}

impl SignatureCheck {
    fn new(algorithm: Algorithm, key: &DecodingKey) -> Result<Self> {
        // A key is only used with algorithms of its own kind: no public key becomes a shared secret.
        if key.family() != algorithm.family() || !ALGORITHMS.contains(&algorithm) {
            return Err(to_error(ErrorKind::InvalidAlgorithm));
        }
        let key = match (key.family(), key.kind()) {
            (AlgorithmFamily::Rsa, DecodingKeyKind::RsaModulusExponent { n, e }) => PublicKey::Rsa {
                parameters: rsa_parameters(algorithm)?,
                components: RsaPublicKeyComponents { n: n.clone(), e: e.clone() },
            },
            (AlgorithmFamily::Ec, DecodingKeyKind::SecretOrDer(point)) => {
                let kind: &'static dyn VerificationAlgorithm = match algorithm {
                    Algorithm::ES256 => &ECDSA_P256_SHA256_FIXED,
                    Algorithm::ES384 => &ECDSA_P384_SHA384_FIXED,
                    _ => return Err(to_error(ErrorKind::InvalidAlgorithm)),
                };
                PublicKey::Other(UnparsedPublicKey::new(kind, point.clone()))
            }
            (AlgorithmFamily::Ed, DecodingKeyKind::SecretOrDer(point)) => {
                PublicKey::Other(UnparsedPublicKey::new(&ED25519, point.clone()))
            }
            _ => return Err(to_error(ErrorKind::InvalidKeyFormat)),
        };
        Ok(Self { algorithm, key })
    }
}

fn rsa_parameters(algorithm: Algorithm) -> Result<&'static RsaParameters> {
    Ok(match algorithm {
        Algorithm::RS256 => &RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &RSA_PSS_2048_8192_SHA512,
        _ => return Err(to_error(ErrorKind::InvalidAlgorithm)),
    })
}

impl Verifier<Vec<u8>> for SignatureCheck {
    fn verify(&self, message: &[u8], signed: &Vec<u8>) -> std::result::Result<(), SignatureError> {
        let verified = match &self.key {
            PublicKey::Rsa { parameters, components } => components.verify(parameters, message, signed),
            PublicKey::Other(key) => key.verify(message, signed),
        };
        verified.map_err(|_| SignatureError::new())
    }
}

impl JwtVerifier for SignatureCheck {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
