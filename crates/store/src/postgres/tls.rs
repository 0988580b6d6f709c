//! TLS to PostgreSQL: which certificates are trusted, and the messages about those that are not.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Which certificates of the database are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Any certificate. The connection is encrypted, but the server may be an impostor.
    Anybody,
    /// Certificates of the authorities in this file, or a certificate that is itself in the file.
    Authority(PathBuf),
    /// Like `Authority`, and the certificate must match the host name. Without a file, the system's authorities.
    AuthorityAndName(Option<PathBuf>),
}

/// The TLS configuration of connections.
pub(super) fn client_config(trust: &Trust, is_direct: bool) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(trust, Arc::clone(&provider))?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.dangerous();
    let mut config = builder.with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    if is_direct {
        // Direct TLS skips the negotiation, so ALPN says that the protocol is PostgreSQL.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Ok(config)
}

#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None` accepts every certificate.
    issuer: Option<KnownIssuer>,
}

#[derive(Debug)]
struct KnownIssuer {
    authorities: Arc<WebPkiServerVerifier>,
    /// The certificates in the file. A self-signed certificate is accepted if it is one of these.
    certificates: Vec<CertificateDer<'static>>,
    is_name_checked: bool,
}

impl Verifier {
    fn new(trust: &Trust, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let (file, is_name_checked) = match trust {
            Trust::Anybody => return Ok(Self { provider, issuer: None }),
            Trust::Authority(file) => (Some(file), false),
            Trust::AuthorityAndName(file) => (file.as_ref(), true),
        };
        let (roots, certificates) = match file {
            Some(file) => roots_from_file(file)?,
            None => (roots_from_system()?, Vec::new()),
        };
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let authorities = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { provider, issuer: Some(KnownIssuer { authorities, certificates, is_name_checked }) })
    }
}

fn roots_from_file(file: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let unreadable = |why: &dyn std::fmt::Display| format!("sslrootcert {}: {why}", file.display());
    let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = certificates.map_err(|error| unreadable(&error))?;
    if certificates.is_empty() {
        return Err(unreadable(&"it holds no certificate; PEM is expected"));
    }
    let mut roots = RootCertStore::empty();
    for certificate in &certificates {
        roots.add(certificate.clone()).map_err(|error| unreadable(&error))?;
    }
    Ok((roots, certificates))
}

fn roots_from_system() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(roots);
    }
    let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
    Err(format!("this system has no certificate authorities{why}; name a file with sslrootcert=FILE"))
}

impl KnownIssuer {
    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        if self.certificates.contains(certificate) {
            return if self.is_name_checked {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)
            } else {
                Ok(())
            };
        }
        match self.authorities.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is verified last, so everything else is valid.
            Err(error) if is_name_mismatch(&error) && !self.is_name_checked => Ok(()),
            verified => verified.map(drop),
        }
    }
}

fn is_name_mismatch(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(error) = error else { return false };
    matches!(error, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(issuer) = &self.issuer {
            issuer.verify(certificate, intermediates, name, ocsp, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Whether a connection failed because one side does not accept the other's encryption or certificate.
pub(super) fn is_tls_error(error: &io::Error) -> bool {
    tls_error(error).is_some()
}

/// What to do about a certificate that is not trusted, if that is what went wrong.
pub(super) fn hint(error: &(dyn Error + 'static)) -> Option<&'static str> {
    match tls_error(error.downcast_ref()?)? {
        error if is_name_mismatch(error) => {
            Some("call the database by a name that its certificate has, or use sslmode=verify-ca")
        }
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            Some("if this is the right database, name its certificate authority with sslrootcert=FILE")
        }
        rustls::Error::InvalidCertificate(_) => Some("the database needs another certificate"),
        _ => None,
    }
}
