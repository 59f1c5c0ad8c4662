//! State diagrams.
pub mod ast;
/// x
pub mod entity {
    /// x
    pub fn decode(t: &str) -> String { t.to_owned() }
}
/// Stand-in until the parser lands.
pub fn parse_diagram(excerpt: &crate::excerpt::Excerpt, _diags: &mut crate::diag::Diags) -> ast::Diagram {
    ast::Diagram { span: excerpt.full_span(), header: None, title: None, body: ast::Body::default() }
}
/// Stand-in until the parser lands.
pub fn is_state_diagram(text: &str) -> bool { text.trim_start().starts_with("stateDiagram") }
