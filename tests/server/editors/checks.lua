-- What every Neovim has to see, once a client is attached to the buffer.
local checks = {}

-- Fails with a message, which the script that started us looks for.
local function expect(is_so, what)
  if not is_so then
    error('failed: ' .. what)
  end
end

local function ask(method, line, character, more)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(0) },
    position = { line = line, character = character },
  }
  for key, value in pairs(more or {}) do
    params[key] = value
  end
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000)
  expect(answers ~= nil, method .. ' has no answer')
  for _, answer in pairs(answers) do
    expect(not answer.error, method .. ': ' .. vim.inspect(answer.error))
    return answer.result
  end
end

function checks.run()
  expect(
    vim.wait(20000, function()
      return #vim.diagnostic.get(0) > 0
    end),
    'no finding came'
  )
  local found = vim.diagnostic.get(0)
  expect(#found == 1, vim.inspect(found))
  expect(found[1].code == 'SM105' and found[1].lnum == 6, vim.inspect(found))
  local text = vim.api.nvim_buf_get_lines(0, 6, 7, true)[1]
  expect(text:sub(found[1].col + 1, found[1].end_col) ~= '', 'the finding has no text')

  local hover = ask('textDocument/hover', 7, 5)
  expect(hover.contents.value:find('`shut`', 1, true), vim.inspect(hover))
  -- In prose after a sign of two UTF-16 units.
  local line = vim.api.nvim_buf_get_lines(0, 12, 13, true)[1]
  local byte = line:find('shut', 1, true) - 1
  local encoding = checks.encoding()
  local column = byte
  if encoding == 'utf-16' then
    local _, units = vim.str_utfindex(line, byte)
    column = units
  end
  local more = { context = { includeDeclaration = true } }
  local places = ask('textDocument/references', 12, column, more)
  -- The line with the mistake has no names yet.
  expect(#places == 3 and places[3].range.start.character == column, vim.inspect(places))

  local actions = ask('textDocument/codeAction', 6, 9, {
    range = { start = { line = 6, character = 9 }, ['end'] = { line = 6, character = 9 } },
    context = { diagnostics = {}, only = { 'quickfix' } },
  })
  expect(actions[1].isPreferred, vim.inspect(actions))
  vim.lsp.util.apply_workspace_edit(actions[1].edit, encoding)
  expect(vim.api.nvim_buf_get_lines(0, 6, 7, true)[1] == '    [*] --> shut', 'the fix was applied')
  expect(
    vim.wait(20000, function()
      return #vim.diagnostic.get(0) == 0
    end, 50),
    'the finding is still there'
  )

  local renamed = ask('textDocument/rename', 7, 5, { newName = 'closed' })
  vim.lsp.util.apply_workspace_edit(renamed, encoding)
  local whole = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')
  expect(not whole:find('shut', 1, true), whole)
  expect(whole:find('that is `closed` may', 1, true), whole)
  io.stderr:write('all is well, counted in ' .. encoding .. '\n')
end

return checks
