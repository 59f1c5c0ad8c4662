-- A Neovim with the settings of the book: it asks for findings, and offers to count in bytes.
local folder = debug.getinfo(1, 'S').source:match('@(.*)/')
local checks = dofile(folder .. '/checks.lua')

dofile(vim.env.SETTINGS)
vim.lsp.config('statemark', {
  capabilities = { general = { positionEncodings = { 'utf-8', 'utf-16' } } },
})
vim.bo.filetype = 'markdown'

local pushed = 0
local push = vim.lsp.handlers['textDocument/publishDiagnostics']
vim.lsp.handlers['textDocument/publishDiagnostics'] = function(...)
  pushed = pushed + 1
  return push(...)
end

local function client()
  return vim.lsp.get_clients({ bufnr = 0 })[1]
end
assert(vim.wait(20000, function()
  return client() ~= nil and client().initialized
end), 'failed: no client')
assert(client().server_capabilities.diagnosticProvider, 'failed: findings are not pulled')
checks.encoding = function()
  return client().offset_encoding
end
assert(checks.encoding() == 'utf-8', 'failed: ' .. checks.encoding())
checks.run()
assert(pushed == 0, 'failed: findings were pushed, too')
