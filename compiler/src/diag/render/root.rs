//! Paths as services want them: from the root of the repository, whatever folder a program ran in.

/// The root of a repository, and the folder that names of files are relative to.
///
/// Both are absolute paths with `/`.
#[derive(Clone, Debug, Default)]
pub struct Root {
    root: Vec<String>,
    folder: Vec<String>,
    is_known: bool,
}

impl Root {
    /// Creates the root of a repository, seen from a folder.
    #[must_use]
    pub fn new(root: &str, folder: &str) -> Self {
        Self {
            root: parts(root, &[]),
            folder: parts(folder, &[]),
            is_known: true,
        }
    }

    /// Returns the path of a file from the root, or the name as it is if it lies elsewhere.
    #[must_use]
    pub fn relative(&self, name: &str) -> String {
        if !self.is_known {
            return name.to_owned();
        }
        let path = match is_absolute(name) {
            true => parts(name, &[]),
            false => parts(name, &self.folder),
        };
        match path.strip_prefix(self.root.as_slice()) {
            Some(inside) if !inside.is_empty() => inside.join("/"),
            _ => name.to_owned(),
        }
    }

    /// Returns a path from the root as a reference of RFC 3986; a file elsewhere is a `file:` URI.
    #[must_use]
    pub(super) fn uri(&self, name: &str) -> String {
        let path = self.relative(name);
        let encoded = encode(&path);
        match path.chars().next() {
            Some('/') => format!("file://{encoded}"),
            _ if is_absolute(&path) => format!("file:///{encoded}"),
            _ => encoded,
        }
    }
}

/// Reports whether a path begins at a root, of Unix or of a drive.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.chars().nth(1) == Some(':')
}

/// Returns the parts of a path that starts in a folder, without `.` and `..`.
fn parts(path: &str, folder: &[String]) -> Vec<String> {
    let mut parts = folder.to_vec();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    parts
}

/// Returns a path whose characters are unreserved, or encoded as bytes of UTF-8.
fn encode(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_root() {
        let root = Root::new("/home/ann/shop", "/home/ann/shop/docs");
        for (name, relative, uri) in [
            ("a.md", "docs/a.md", "docs/a.md"),
            ("../spec b/é.md", "spec b/é.md", "spec%20b/%C3%A9.md"),
            ("./x/../a.md", "docs/a.md", "docs/a.md"),
            ("/home/ann/shop/c.md", "c.md", "c.md"),
            ("../../other/d.md", "../../other/d.md", "../../other/d.md"),
            ("/etc/e.md", "/etc/e.md", "file:///etc/e.md"),
            ("C:/e.md", "C:/e.md", "file:///C%3A/e.md"),
        ] {
            assert_eq!(root.relative(name), relative, "{name}");
            assert_eq!(root.uri(name), uri, "{name}");
        }
        assert_eq!(Root::default().relative("../a.md"), "../a.md");
    }
}
