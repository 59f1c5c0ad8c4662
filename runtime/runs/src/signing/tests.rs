//! Signatures of `ssh-keygen`, and those of a key with a touch.

use serde_json::json;
use ssh_key::private::Ed25519Keypair;
use ssh_key::public::SkEd25519;
use ssh_key::{LineEnding, PrivateKey};

use super::*;

/// A public key that `ssh-keygen -t ed25519` made; its private one is gone.
const ED25519: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPM1SqgILhzyXcHmQcexpuKSQi6kII8MUoRnAYIfjy88";

/// A public key that `ssh-keygen -t ecdsa -b 256` made; its private one is gone.
const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBD6uQweaXp+xGgXXJo4kwuJ7xN0RMPMI2z5aYvGrzIXCAX+LAbGc10KOEcbsLpmfEXuxpnRJPQ2iKggFWIu/f1g=";

/// A public key of a kind that doesn't count.
const RSA: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDhxsQUAcpEmfpIkc1DNyx+lEW84aCJ1zGGvtzzSQMKUdG3R+2TbY3dADXwROJhdfPETTAEbtUcLFNGBtlmQDLtXPseIYnV/xj/CFTbrtchQqrL2yt5KiXHWfQa2/xLWyZgJajRDz92foLQfvv4YidIduJDnd4eLEqnkLTHvdBgDQ==";

/// The signature of [`statement`] with the first key, by `ssh-keygen -Y sign -n statemark`.
const BY_ED25519: &str = "\
-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg8zVKqAguHPJdweZBx7Gm4pJCLq
QgjwxShGcBgh+PLzwAAAAJc3RhdGVtYXJrAAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1l
ZDI1NTE5AAAAQLHFj+EmPg1Y+NsU2QyCZRMJxVphJEkFWNDWjgKgkxylmzKoByNQ8NND4M
WnpnNuaS75r78hsx1ndI7nVXkCIgM=
-----END SSH SIGNATURE-----
";

/// The signature of [`statement`] with the second key.
const BY_ECDSA: &str = "\
-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAAGgAAAATZWNkc2Etc2hhMi1uaXN0cDI1NgAAAAhuaXN0cDI1NgAAAE
EEPq5DB5pen7EaBdcmjiTC4nvE3REw8wjbPlpi8avMhcIBf4sBsZzXQo4RxuwumZ8Re7Gm
dEk9DaIqCAVYi79/WAAAAAlzdGF0ZW1hcmsAAAAAAAAABnNoYTUxMgAAAGUAAAATZWNkc2
Etc2hhMi1uaXN0cDI1NgAAAEoAAAAhAJ6VKH6o1a3hTfMjTM5xV4c/fIra5S7rGZ4FYom1
CsW7AAAAIQDSX9AA2bD5CPhnCVKGoUyBZ9wp7vW8qe9/RGEqoDCzig==
-----END SSH SIGNATURE-----
";

/// A signature of [`statement`] with the first key, for git.
const FOR_GIT: &str = "\
-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg8zVKqAguHPJdweZBx7Gm4pJCLq
QgjwxShGcBgh+PLzwAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5
AAAAQMfAT1T/pqsiJsdNZvzhHsQFrIVS4aHWxao1X5h8XLBpPyJlChrT/WYcss394CzlIJ
2m+bHQ3+Q2/2wGJZ0HoQI=
-----END SSH SIGNATURE-----
";

fn statement(answer: &Value) -> Statement<'_> {
    Statement {
        store: "5f3c",
        first: "ab".repeat(32).parse().unwrap(),
        request: "build-7:12",
        record: "cd".repeat(32).parse().unwrap(),
        rewinds: 0,
        verdict: "approved",
        answer: Some(answer),
        comment: None,
        by: "ann",
        time: 1_800_000_000_000,
    }
}

fn signer(name: &str, key: &str) -> Signer {
    Signer {
        name: name.to_owned(),
        key: parse_key(key).unwrap(),
    }
}

fn signature(armor: &str) -> Signature {
    Signature {
        by: "ann".to_owned(),
        time: 1_800_000_000_000,
        signature: armor.to_owned(),
    }
}

#[test]
fn the_signatures_of_ssh_keygen_count() {
    let answer = json!({"to": "a\\nb"});
    let text = statement(&answer).text();
    let keys = [signer("ann", ED25519), signer("ann", ECDSA)];
    for (armor, key) in [(BY_ED25519, &keys[0]), (BY_ECDSA, &keys[1])] {
        assert_eq!(verify(&signature(armor), &text, &keys), Ok(key));
    }
    assert_eq!(signed_time(&text), Some(1_800_000_000_000));
}

#[test]
fn a_signature_is_of_one_text_by_one_person() {
    let answer = json!({"to": "a\\nb"});
    let own = statement(&answer);
    let keys = [signer("ann", ED25519), signer("ben", ECDSA)];
    let other = json!({"to": "eve"});
    let digest = Hash::digest(b"");
    for changed in [
        Statement {
            store: "5f3d",
            ..own
        },
        Statement {
            first: digest,
            ..own
        },
        Statement {
            request: "build-8:12",
            ..own
        },
        Statement {
            record: digest,
            ..own
        },
        Statement { rewinds: 1, ..own },
        Statement {
            verdict: "denied",
            ..own
        },
        Statement {
            answer: Some(&other),
            ..own
        },
        Statement {
            comment: Some("fine"),
            ..own
        },
        Statement { by: "ben", ..own },
        Statement { time: 1, ..own },
    ] {
        let found = verify(&signature(BY_ED25519), &changed.text(), &keys);
        assert_eq!(found, Err(SignatureError::OtherText), "{changed:?}");
    }
    let refused = |armor: &str| {
        let found = verify(&signature(armor), &own.text(), &keys);
        found.unwrap_err().to_string()
    };
    assert!(
        refused(FOR_GIT).contains("made for `git`"),
        "{}",
        refused(FOR_GIT)
    );
    // Ben's key doesn't sign for ann.
    assert!(
        refused(BY_ECDSA).contains("isn't one of `ann`"),
        "{}",
        refused(BY_ECDSA)
    );
    let long = format!("{BY_ED25519}{}", "\n".repeat(MAX_TEXT));
    for armor in ["", "-----BEGIN SSH SIGNATURE-----", long.as_str()] {
        assert!(refused(armor).contains("no SSH signature"), "{armor}");
    }
}

#[test]
fn an_answer_is_a_line_of_the_text() {
    let answer = json!("yes\nby eve");
    let text = Statement {
        comment: Some("a\nverdict denied"),
        ..statement(&answer)
    }
    .text();
    assert_eq!(text.lines().count(), 10, "{text}");
}

#[test]
fn keys_are_public_and_of_kinds_that_count() {
    assert_eq!(
        signer("ann", ED25519),
        signer("ann", &format!("{ED25519} ann@laptop\n"))
    );
    let kind = |key: &str| parse_key(key).unwrap_err();
    assert!(matches!(kind(RSA), KeyError::Kind { .. }));
    for text in ["", "hello", "ssh-ed25519", "# a comment"] {
        assert!(!matches!(kind(text), KeyError::Private), "{text}");
    }
    let private = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n";
    assert_eq!(kind(private), KeyError::Private);
}

#[test]
fn a_list_of_allowed_signers_is_read_as_openssh_does() {
    let text = format!(
        "# who may sign\n\nann,anna@example.org {ED25519} laptop\n\
         ben namespaces=\"git,statemark\" {ECDSA}\n\
         carl namespaces=\"git\" {ECDSA}\n\
         *@example.org cert-authority {ED25519}\n"
    );
    let signers = parse_allowed_signers(&text).unwrap();
    let names: Vec<&str> = signers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["ann", "anna@example.org", "ben"]);
    let broken = parse_allowed_signers("ann ssh-ed25519 AAAA\n");
    assert_eq!(broken.unwrap_err().0, 1);
}

/// Signs bytes as they are. The trait that has the method is another crate's.
fn sign_plainly<K: ssh_key::SigningKey>(key: &K, bytes: &[u8]) -> ssh_key::Signature {
    key.try_sign(bytes).unwrap()
}

/// Signs as a security key does: the signature is over the application, flags, a counter and the text.
fn touch(flags: u8, text: &str) -> (Signer, Signature) {
    const APPLICATION: &str = "ssh:";
    let pair = Ed25519Keypair::from_seed(&[7; 32]);
    let public = KeyData::SkEd25519(SkEd25519::new(pair.public, APPLICATION));
    let data = SshSig::signed_data(NAMESPACE, HashAlg::Sha512, text.as_bytes()).unwrap();
    let end = [flags, 0, 0, 0, 9];
    let application = Hash::digest(APPLICATION.as_bytes());
    let message = Hash::digest(&data);
    let signed = [application.as_bytes(), end.as_slice(), message.as_bytes()].concat();
    let made = PrivateKey::from(pair);
    let plain = sign_plainly(&made, &signed);
    let bytes = [plain.as_bytes(), end.as_slice()].concat();
    let touched = ssh_key::Signature::new(Algorithm::SkEd25519, bytes).unwrap();
    let sig = SshSig::new(public.clone(), NAMESPACE, HashAlg::Sha512, touched).unwrap();
    let key = PublicKey::from(public).to_openssh().unwrap();
    let armor = sig.to_pem(LineEnding::LF).unwrap();
    (signer("ann", &key), signature(&armor))
}

#[test]
fn a_key_with_a_touch_was_touched() {
    let answer = Value::Null;
    let text = statement(&answer).text();
    let (key, signed) = touch(0x01, &text);
    assert_eq!(verify(&signed, &text, [&key]), Ok(&key));
    let (key, signed) = touch(0x00, &text);
    assert_eq!(
        verify(&signed, &text, [&key]),
        Err(SignatureError::NotTouched)
    );
}

#[test]
fn what_we_sign_counts() {
    let answer = Value::Null;
    let text = statement(&answer).text();
    let key = PrivateKey::from(Ed25519Keypair::from_seed(&[3; 32]));
    let sig = key
        .sign(NAMESPACE, HashAlg::Sha512, text.as_bytes())
        .unwrap();
    let armor = sig.to_pem(LineEnding::LF).unwrap();
    let key = signer("ann", &key.public_key().to_openssh().unwrap());
    assert_eq!(verify(&signature(&armor), &text, [&key]), Ok(&key));
}
