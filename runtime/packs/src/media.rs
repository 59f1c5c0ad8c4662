//! The pack `media`: images, sounds and documents, as a model sees them.
//!
//! What a file is, its first bytes tell, never its name. A client that shows a kind of content gets it inline: images and
//! sounds as such, anything else as an embedded resource. Deliberately not here: references that are read later. A server
//! isn't told what a client's model can look at, so a file that is too large is an error that says so.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_tools::{Annotations, Ctx, Outcome, Set, Tool};

use crate::workspace::Workspace;
use crate::{Spec, error_object, tool};

/// The set of these tools.
pub(crate) const SET: Set = Set::Pack("media");

/// Largest file that is shown. Unit: bytes.
///
/// Why: models take no more, and a message of the protocol hardly does.
const MAX_SIZE: u64 = 5_000_000;

/// The characters that a path keeps in an address.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

pub(crate) fn all() -> Vec<Tool> {
    let annotations = Annotations::READ_ONLY;
    let media = tool(
        SET,
        &Spec {
            name: "read_media",
            title: "Look at a file",
            description: "Shows an image, a sound, a video or a document such as a PDF.",
            annotations,
            run: read_media,
        },
    );
    let image = tool(
        SET,
        &Spec {
            name: "read_image",
            title: "Look at an image",
            description: "Shows an image: read_media for images alone.",
            annotations,
            run: read_image,
        },
    );
    vec![media.giving_results(), image.giving_results()]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadMedia {
    /// The file.
    path: String,
    /// Most bytes of it; 5000000 without it, which is the most.
    #[serde(default)]
    max_bytes: Option<u64>,
}

fn read_media(ctx: &Ctx<'_>, call: &ReadMedia) -> Outcome {
    show(ctx, call, None)
}

fn read_image(ctx: &Ctx<'_>, call: &ReadMedia) -> Outcome {
    show(ctx, call, Some("image/"))
}

/// Shows a file, of one kind if one is named.
fn show(ctx: &Ctx<'_>, call: &ReadMedia, wanted: Option<&str>) -> Outcome {
    let workspace = Workspace::open(ctx)?;
    let place = workspace.find(&call.path)?;
    let shown = workspace.display_path(&place.relative);
    let (_, facts) = place.open_file(&call.path)?;
    let most = call.max_bytes.filter(|it| *it != 0).unwrap_or(MAX_SIZE);
    let most = most.min(MAX_SIZE);
    if facts.len() > most {
        let error = format!("it has {} bytes, and {most} are shown at most", facts.len());
        return Err(error_object(
            "oversize",
            json!({"path": shown, "error": error, "total_bytes": facts.len(), "max_bytes": most}),
        ));
    }
    let bytes = place.read(&call.path, most)?;
    let media_type = infer::get(&bytes).map(|kind| kind.mime_type());
    let Some(media_type) = media_type.filter(|kind| is_shown(kind)) else {
        let error = "it is no image, sound, video or document that is known: read_file reads texts";
        return Err(error_object(
            "unsupported_media",
            json!({"path": shown, "error": error, "media_type": media_type}),
        ));
    };
    if wanted.is_some_and(|wanted| !media_type.starts_with(wanted)) {
        let error = format!("it is `{media_type}`, and no image: read_media shows it");
        return Err(error_object(
            "not_an_image",
            json!({"path": shown, "error": error, "media_type": media_type}),
        ));
    }
    let about = json!({
        "path": shown,
        "media_type": media_type,
        "bytes": bytes.len(),
        "delivery": "inline",
    });
    let data = BASE64_STANDARD.encode(&bytes);
    let content = match media_type.split('/').next() {
        Some(kind @ ("image" | "audio")) => {
            json!({"type": kind, "data": data, "mimeType": media_type})
        }
        _ => {
            let uri = address(&shown);
            json!({"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": data}})
        }
    };
    Ok(json!({
        "content": [{"type": "text", "text": about.to_string()}, content],
        "structuredContent": about,
    }))
}

/// Reports whether a kind of file is something to look at, and neither a program nor an archive.
fn is_shown(media_type: &str) -> bool {
    const DOCUMENTS: [&str; 6] = [
        "application/epub+zip",
        "application/msword",
        "application/pdf",
        "application/rtf",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
    ];
    const OFFICE: &str = "application/vnd.openxmlformats-officedocument.";
    let mut kinds = ["image/", "audio/", "video/", OFFICE].iter();
    kinds.any(|kind| media_type.starts_with(kind)) || DOCUMENTS.contains(&media_type)
}

/// Returns the address of a file.
fn address(path: &str) -> String {
    format!("file://{}", utf8_percent_encode(path, PATH))
}
