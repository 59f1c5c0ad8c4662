//! Signatures of decisions: the SSH key of the one who decides, and the agent that holds it.
//!
//! A key is named by `--sign-with`, by `STATEMARK_SIGNING_KEY`, or by the first line of `~/.config/statemark/signing-key`; never
//! by a file of a project. The file of a public key stands for its private one in `ssh-agent`, which may ask for a
//! confirmation or a touch. The file of a private key is used itself, after its passphrase was typed at the terminal.
//!
//! Deliberately not here: a wall around keys. A private key without a passphrase, and an agent that signs without asking,
//! sign for every program of the same user.

use std::path::{Path, PathBuf};

use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey};
use statemark_runs::signing::{NAMESPACE, Signature, signed_time};

use crate::failure::Failure;
use crate::{files, places, printer};

/// Largest file with a key or a signature. Unit: bytes. Why: the longest key has some thousands.
const MAX_FILE: usize = 64 << 10;

/// The key that decisions are signed with, and its place.
#[derive(Debug)]
pub(crate) struct SigningKey {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The public key of one that an agent holds.
    Agent(PublicKey),
    /// A private key.
    Private(Box<PrivateKey>),
}

impl SigningKey {
    /// Finds the caller's key. Returns none if no key is named.
    pub(crate) fn find(flag: Option<&Path>) -> Result<Option<Self>, Failure> {
        let path = match flag {
            Some(path) => Some(path.to_owned()),
            None => places::signing_key()?,
        };
        path.map(Self::read).transpose()
    }

    /// Reads a key from the file of the public or of the private one.
    fn read(path: PathBuf) -> Result<Self, Failure> {
        let text = read_text(&path)?;
        let shown = files::display(&path);
        let unreadable = || {
            Failure::new(format!("`{shown}` isn't a key of SSH")).with_help(
                "it is the file that `ssh-keygen -t ed25519` writes, or the one with its public key (`….pub`)",
            )
        };
        let kind = if text.contains("PRIVATE KEY-----") {
            let key = PrivateKey::from_openssh(&text).map_err(|_| unreadable())?;
            match key.algorithm() {
                // The file only names the key in the device, which `ssh-agent` talks to.
                Algorithm::SkEd25519 | Algorithm::SkEcdsaSha2NistP256 => {
                    Kind::Agent(key.public_key().clone())
                }
                _ => Kind::Private(Box::new(key)),
            }
        } else {
            let key = PublicKey::from_openssh(text.trim()).map_err(|_| unreadable())?;
            Kind::Agent(key)
        };
        Ok(Self { path, kind })
    }

    /// Signs a text as somebody. Asks for a passphrase at the terminal, or has the agent ask.
    pub(crate) fn sign(&self, text: &str, by: &str, time: u64) -> Result<Signature, Failure> {
        let path = files::display(&self.path);
        let signed = match &self.kind {
            Kind::Agent(key) => sign_by_agent(key, text, &path)?,
            Kind::Private(key) => {
                let unlocked = match key.is_encrypted() {
                    true => Some(unlock(key, &path)?),
                    false => None,
                };
                let key = unlocked.as_ref().unwrap_or(key);
                key.sign(NAMESPACE, HashAlg::Sha512, text.as_bytes())
                    .map_err(|error| cannot_sign(&path, &error))?
            }
        };
        let signature = signed
            .to_pem(LineEnding::LF)
            .map_err(|error| cannot_sign(&path, &error))?;
        Ok(Signature {
            by: by.to_owned(),
            time,
            signature,
        })
    }
}

fn cannot_sign(path: &str, error: &ssh_key::Error) -> Failure {
    Failure::new(format!("`{path}` can't sign: {error}")).with_help(
        "decisions are signed with ed25519 or ecdsa (nistp256) keys, or those in a security key",
    )
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = files::read_whole(path, MAX_FILE)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Unlocks a private key with the passphrase that somebody types at the terminal.
fn unlock(key: &PrivateKey, path: &str) -> Result<PrivateKey, Failure> {
    let passphrase = printer::ask_secret(&format!("Passphrase of {path}: "));
    let Some(passphrase) = passphrase else {
        return Err(Failure::new(format!(
            "`{path}` has a passphrase, and nobody can be asked for it"
        ))
        .with_help(
            "at a terminal you are asked; or `ssh-add` it, and name its public key (`….pub`)",
        ));
    };
    key.decrypt(passphrase.as_bytes()).map_err(|_| {
        Failure::new(format!(
            "that isn't the passphrase of `{path}`; nothing was signed"
        ))
    })
}

/// Reads a signature that was made elsewhere, such as by `ssh-keygen -Y sign`, and the text beside it.
///
/// `ssh-keygen` writes the signature of `decision` to `decision.sig`.
pub(crate) fn read_signature(path: &Path, by: &str) -> Result<(Signature, String), Failure> {
    let signature = read_text(path)?;
    let shown = files::display(path);
    let text = path.extension().filter(|it| *it == "sig");
    let Some(text) = text.map(|_| path.with_extension("")) else {
        return Err(Failure::new(format!("the name of `{shown}` doesn't end with `.sig`")).with_help(
            "`--to-sign` writes what is signed; `ssh-keygen -Y sign -n statemark -f KEY FILE` writes the signature to FILE.sig",
        ));
    };
    let text = read_text(&text)?;
    let Some(time) = signed_time(&text) else {
        return Err(Failure::new(format!(
            "what `{shown}` is a signature of isn't what `--to-sign` wrote"
        )));
    };
    let signature = Signature {
        by: by.to_owned(),
        time,
        signature,
    };
    Ok((signature, text))
}

#[cfg(not(unix))]
fn sign_by_agent(_: &PublicKey, _: &str, path: &str) -> Result<ssh_key::SshSig, Failure> {
    Err(Failure::new(format!(
        "`{path}` is a public key, and no agent can be asked on this system"
    )))
}

#[cfg(unix)]
use agent::sign_by_agent;

/// The client of `ssh-agent`: one message of its protocol, and the answer.
///
/// Source: <https://datatracker.ietf.org/doc/html/draft-ietf-sshm-ssh-agent>, sections 3 and 3.6.
#[cfg(unix)]
mod agent {
    use std::io::{self, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use ssh_key::{HashAlg, PublicKey, SshSig};
    use statemark_runs::signing::NAMESPACE;

    use crate::environment;
    use crate::failure::{Failure, system_message};

    /// `SSH_AGENTC_SIGN_REQUEST`.
    const SIGN_REQUEST: u8 = 13;
    /// `SSH_AGENT_SIGN_RESPONSE`.
    const SIGN_RESPONSE: u8 = 14;

    /// Longest answer. Unit: bytes. Why: a signature has some hundreds, and OpenSSH's own bound is this.
    const MAX_ANSWER: usize = 256 << 10;

    /// Longest wait for an answer. Why: somebody may have to look for the key and touch it.
    const PATIENCE: Duration = Duration::from_secs(300);

    /// Lets the agent sign a text with the private key of a public one.
    pub(super) fn sign_by_agent(
        key: &PublicKey,
        text: &str,
        path: &str,
    ) -> Result<SshSig, Failure> {
        let socket = environment::SSH_AGENT.value();
        let Some(socket) = socket else {
            return Err(Failure::new(format!(
                "`{path}` is a public key, and there is no `ssh-agent` to sign with it: SSH_AUTH_SOCK isn't set"
            ))
            .with_help("`eval \"$(ssh-agent)\"`, then `ssh-add` the key; or name the file of the private key"));
        };
        let refused = || {
            Failure::new(format!("`ssh-agent` didn't sign with `{path}`")).with_help(
                "`ssh-add -L` lists its keys; one that asks is signed with once somebody has confirmed or touched it",
            )
        };
        let unreachable = |error: io::Error| {
            let why = system_message(&error);
            Failure::new(format!("`ssh-agent` can't be asked: {why}"))
                .with_help("SSH_AUTH_SOCK names its socket; `ssh-add -L` shows whether it answers")
        };
        let data = SshSig::signed_data(NAMESPACE, HashAlg::Sha512, text.as_bytes());
        let (data, blob) = match (data, key.to_bytes()) {
            (Ok(data), Ok(blob)) => (data, blob),
            _ => return Err(refused()),
        };
        let mut request = vec![SIGN_REQUEST];
        put(&mut request, &blob);
        put(&mut request, &data);
        request.extend(0_u32.to_be_bytes());
        let answer = UnixStream::connect(socket)
            .and_then(|stream| ask(stream, &request))
            .map_err(unreachable)?;
        let signature = answer
            .split_first()
            .filter(|(kind, _)| **kind == SIGN_RESPONSE)
            .and_then(|(_, rest)| take(rest))
            .and_then(|blob| ssh_key::Signature::try_from(blob).ok())
            .ok_or_else(refused)?;
        SshSig::new(
            key.key_data().clone(),
            NAMESPACE,
            HashAlg::Sha512,
            signature,
        )
        .map_err(|_| refused())
    }

    /// Sends a message, and returns the answer.
    fn ask(mut stream: UnixStream, request: &[u8]) -> io::Result<Vec<u8>> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut message = Vec::new();
        put(&mut message, request);
        stream.write_all(&message)?;
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > MAX_ANSWER {
            return Err(io::Error::other("its answer is too long"));
        }
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer)?;
        Ok(answer)
    }

    /// Writes a string of the protocol: its length, and its bytes.
    fn put(message: &mut Vec<u8>, bytes: &[u8]) {
        // INVARIANT: keys and texts are bounded to far less.
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        message.extend(length.to_be_bytes());
        message.extend(bytes);
    }

    /// Reads a string of the protocol.
    fn take(bytes: &[u8]) -> Option<&[u8]> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)
    }
}
