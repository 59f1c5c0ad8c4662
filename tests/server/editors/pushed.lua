-- A Neovim to which findings are pushed, and which counts in UTF-16 units.
local folder = debug.getinfo(1, 'S').source:match('@(.*)/')
local checks = dofile(folder .. '/checks.lua')

local id = vim.lsp.start_client({
  name = 'statemark',
  cmd = { vim.env.STATEMARK_BINARY, 'lsp' },
  root_dir = vim.fn.getcwd(),
})
assert(id, 'failed: no client')
vim.bo.filetype = 'markdown'
vim.lsp.buf_attach_client(0, id)
checks.encoding = function()
  return vim.lsp.get_client_by_id(id).offset_encoding or 'utf-16'
end
checks.run()
