"""The server with what editors announce: as pytest-lsp has recorded it, and for Helix as its `helix-lsp` has it."""

import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import converters, types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

URI = "file:///specs/door.md"
TEXT = pathlib.Path(__file__).with_name("door.md").read_text(encoding="utf-8")
PROFILES = ["visual-studio-code", "neovim@0.11", "neovim@0.6", "emacs", "helix"]

# As far as it concerns a server of ours.
HELIX = {
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "applyEdit": True,
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "failureHandling": "abort",
        },
        "didChangeWatchedFiles": {
            "dynamicRegistration": True,
            "relativePatternSupport": False,
        },
    },
    "textDocument": {
        "completion": {
            "completionItem": {
                "snippetSupport": True,
                "insertReplaceSupport": True,
                "resolveSupport": {
                    "properties": ["documentation", "detail", "additionalTextEdits"]
                },
            }
        },
        "hover": {"contentFormat": ["markdown"]},
        "rename": {"dynamicRegistration": False, "prepareSupport": True},
        "codeAction": {
            "codeActionLiteralSupport": {
                "codeActionKind": {"valueSet": ["", "quickfix", "refactor", "source"]}
            },
            "isPreferredSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
        "publishDiagnostics": {"versionSupport": True},
        "inlayHint": {"dynamicRegistration": False},
    },
    "window": {"workDoneProgress": True},
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
}


def announced(profile: str) -> types.ClientCapabilities:
    if profile == "helix":
        return converters.get_converter().structure(HELIX, types.ClientCapabilities)
    return client_capabilities(profile)


@pytest_lsp.fixture(
    params=PROFILES,
    config=ClientServerConfig(server_command=[os.environ["STATEMARK_BINARY"], "lsp"]),
)
async def client(request, lsp_client: LanguageClient):
    capabilities = announced(request.param)
    registered = []

    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams):
        registered.extend(it.method for it in params.registrations)

    answer = await lsp_client.initialize_session(
        types.InitializeParams(capabilities=capabilities, root_uri="file:///specs")
    )
    lsp_client.answer = answer
    lsp_client.offered = (
        capabilities.general and capabilities.general.position_encodings
    ) or ["utf-16"]
    lsp_client.registered = registered
    watched = capabilities.workspace and capabilities.workspace.did_change_watched_files
    lsp_client.watches = bool(watched and watched.dynamic_registration)
    text = capabilities.text_document
    lsp_client.pulls = bool(text and text.diagnostic)
    yield
    await lsp_client.shutdown_session()


def at(line: int, character: int) -> dict:
    return {
        "text_document": types.TextDocumentIdentifier(uri=URI),
        "position": types.Position(line=line, character=character),
    }


@pytest.mark.asyncio
async def test_an_editor_is_served(client: LanguageClient):
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(
            text_document=types.TextDocumentItem(
                uri=URI, language_id="markdown", version=1, text=TEXT
            )
        )
    )
    chosen = "utf-8" if "utf-8" in client.offered else "utf-16"
    assert client.answer.capabilities.position_encoding == chosen
    assert (client.answer.capabilities.diagnostic_provider is not None) == client.pulls
    if client.pulls:
        report = await client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(
                text_document=types.TextDocumentIdentifier(uri=URI)
            )
        )
        found = report.items
    else:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        found = client.diagnostics[URI]
    assert [it.code for it in found] == ["SM105"]
    assert found[0].code_description.href.endswith("/SM105.md")

    watches = ["workspace/didChangeWatchedFiles"] if client.watches else []
    assert client.registered == watches

    hover = await client.text_document_hover_async(types.HoverParams(**at(7, 5)))
    assert "`shut`" in hover.contents.value

    symbols = await client.text_document_document_symbol_async(
        types.DocumentSymbolParams(
            text_document=types.TextDocumentIdentifier(uri=URI)
        )
    )
    assert [it.name for it in symbols] == ["door"]

    end = types.Position(line=7, character=13)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(uri=URI, version=2),
            content_changes=[
                types.TextDocumentContentChangePartial(
                    range=types.Range(start=end, end=end), text="\n    open --> "
                )
            ],
        )
    )
    words = await client.text_document_completion_async(
        types.CompletionParams(**at(8, 13))
    )
    items = words if isinstance(words, list) else words.items
    assert {"shut", "open", "[*]"} <= {it.label for it in items}
