//! TLS to the server, as `sslmode` means it in libpq.
//!
//! | mode | connects without TLS | the server's certificate |
//! |---|---|---|
//! | `disable` | always | |
//! | `allow` | if the server takes it | any |
//! | `prefer`, the default | if the server has no TLS | any |
//! | `require` | never | any; as `verify-ca` if an authority is named or the user has a `root.crt` |
//! | `verify-ca` | never | of a known authority |
//! | `verify-full` | never | of a known authority, and for the server's name |
//!
//! Authorities are those in `sslrootcert`, else in `~/.postgresql/root.crt`; `sslrootcert=system` means the system's, and
//! then the name counts too. A client's own certificate is `sslcert` with `sslkey`, else `~/.postgresql/postgresql.crt` and
//! `.key` where they are.
//! Source: *PostgreSQL 17 Documentation*, 32.19 *SSL Support*.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use statemark_runs::store::StoreError;

/// The part of an address that is about TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tls {
    pub(super) mode: Mode,
    /// `sslrootcert`.
    pub(super) authorities: Option<String>,
    /// `sslcert`.
    pub(super) certificate: Option<PathBuf>,
    /// `sslkey`.
    pub(super) key: Option<PathBuf>,
}

/// The values of `sslmode`.
/// A later one asks for more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    Disable,
    Allow,
    #[default]
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Mode {
    const NAMES: [(&'static str, Self); 6] = [
        ("disable", Self::Disable),
        ("allow", Self::Allow),
        ("prefer", Self::Prefer),
        ("require", Self::Require),
        ("verify-ca", Self::VerifyCa),
        ("verify-full", Self::VerifyFull),
    ];

    /// Returns the mode of a name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(super) fn parse(name: &str) -> Result<Self, StoreError> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, mode)| *mode).ok_or_else(|| {
            let names = Self::NAMES.map(|(name, _)| name).join("`, `");
            invalid(format!("there is no `sslmode={name}`; there are `{names}`"))
        })
    }

    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, known)| *known == self);
        found.map_or("", |(name, _)| name)
    }

    /// Returns what the connection itself has to know.
    pub(super) const fn negotiated(self) -> SslMode {
        match self {
            Self::Disable | Self::Allow => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => SslMode::Require,
        }
    }
}

/// A check of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    Nothing,
    Authority,
    AuthorityAndName,
}

impl Tls {
    /// Makes the connector.
    ///
    /// # Errors
    ///
    /// A file that is named can't be read, or isn't what it has to be.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, StoreError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| invalid(error.to_string()))?;
        let verifier = self.verifier(provider)?;
        let builder = builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let config = match self.identity()? {
            Some((chain, key)) => builder.with_client_auth_cert(chain, key),
            None => Ok(builder.with_no_client_auth()),
        };
        let config = config.map_err(|error| {
            invalid(format!(
                "`sslkey` doesn't fit the certificate in `sslcert`: {error}"
            ))
        })?;
        Ok(MakeRustlsConnect::new(config))
    }

    fn verifier(&self, provider: Arc<CryptoProvider>) -> Result<Verifier, StoreError> {
        let (check, roots) = self.authorities()?;
        let authorities = match check {
            Check::Nothing => None,
            _ => {
                let builder = WebPkiServerVerifier::builder_with_provider(
                    roots.into(),
                    Arc::clone(&provider),
                );
                Some(
                    builder
                        .build()
                        .map_err(|error| invalid(error.to_string()))?,
                )
            }
        };
        Ok(Verifier {
            check,
            authorities,
            provider,
        })
    }

    /// Returns what is asked of the server's certificate, and the authorities for it.
    fn authorities(&self) -> Result<(Check, RootCertStore), StoreError> {
        let nothing = Ok((Check::Nothing, RootCertStore::empty()));
        let mut check = match self.mode {
            Mode::Disable | Mode::Allow | Mode::Prefer => return nothing,
            Mode::Require => Check::Nothing,
            Mode::VerifyCa => Check::Authority,
            Mode::VerifyFull => Check::AuthorityAndName,
        };
        if self.authorities.as_deref() == Some("system") {
            return match check {
                Check::AuthorityAndName => Ok((check, system_authorities()?)),
                _ => Err(invalid(
                    "`sslrootcert=system` knows many authorities, so the name has to count: write `sslmode=verify-full`",
                )),
            };
        }
        let own = user_file("root.crt").filter(|it| it.exists());
        let named = self.authorities.as_ref().map(PathBuf::from);
        let Some(file) = named.or(own) else {
            return match check {
                Check::Nothing => nothing,
                _ => Err(invalid(
                    "the server's certificate is to be verified, and no authority is known: \
                     `sslrootcert=FILE` names one, `sslrootcert=system` means the system's",
                )),
            };
        };
        if check == Check::Nothing {
            check = Check::Authority;
        }
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&file)? {
            roots
                .add(certificate)
                .map_err(|error| unusable(&file, &error))?;
        }
        Ok((check, roots))
    }

    /// Returns the client's own certificates and key, if it has any.
    fn identity(
        &self,
    ) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>, StoreError> {
        let own = |named: &Option<PathBuf>, name| {
            let file = || user_file(name).filter(|it| it.exists());
            named.clone().or_else(file)
        };
        let (Some(certificate), Some(key)) = (
            own(&self.certificate, "postgresql.crt"),
            own(&self.key, "postgresql.key"),
        ) else {
            return match &self.certificate {
                Some(_) => Err(invalid("`sslcert` needs `sslkey`, the file with its key")),
                None => Ok(None),
            };
        };
        check_private(&key)?;
        let chain = certificates(&certificate)?;
        let read = PrivateKeyDer::from_pem_file(&key);
        let read = read.map_err(|error| unusable(&key, &error))?;
        Ok(Some((chain, read)))
    }
}

fn system_authorities() -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        return Err(invalid(
            "this system has no list of authorities: `sslrootcert=FILE` names one",
        ));
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let all = CertificateDer::pem_file_iter(file).map_err(|error| unusable(file, &error))?;
    let all: Result<Vec<_>, _> = all.collect();
    let all = all.map_err(|error| unusable(file, &error))?;
    if all.is_empty() {
        return Err(unusable(file, &"it has no certificate (PEM)"));
    }
    Ok(all)
}

/// Returns a file of the user's own settings for PostgreSQL.
fn user_file(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").filter(|it| !it.is_empty())?;
    Some(PathBuf::from(home).join(".postgresql").join(name))
}

/// Checks that nobody else can read a file with a secret.
///
/// # Errors
///
/// Others can, or it isn't there.
pub(super) fn check_private(file: &Path) -> Result<(), StoreError> {
    let about = fs::metadata(file).map_err(|error| unusable(file, &error))?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 != 0 {
        let file = file.display();
        return Err(invalid(format!(
            "others can read `{file}`, which has a secret: `chmod 600 {file}`"
        )));
    }
    Ok(())
}

pub(super) fn unusable(file: &Path, error: &dyn std::fmt::Display) -> StoreError {
    invalid(format!("`{}` can't be used: {error}", file.display()))
}

pub(super) fn invalid(what: impl Into<String>) -> StoreError {
    StoreError::Invalid { what: what.into() }
}

/// Verifies a server's certificate as far as the mode asks.
#[derive(Debug)]
struct Verifier {
    check: Check,
    authorities: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        match authorities.verify_server_cert(certificate, chain, name, response, now) {
            // The name is looked at once the chain has been found good.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Authority => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
