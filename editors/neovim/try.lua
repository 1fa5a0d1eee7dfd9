-- Opens a policy in Neovim without a screen, and holds what it is told: run by
-- .ci/with editors, with the policy as the only file.
local function fail(why)
  io.stderr:write(why .. "\n")
  vim.cmd("cquit 1")
end

local function diagnostics(n)
  return function() return #vim.diagnostic.get(0) == n end
end

if not vim.wait(60000, diagnostics(1), 50) then fail("no diagnostic: " .. vim.inspect(vim.diagnostic.get(0))) end
local found = vim.diagnostic.get(0)[1]
if not found.message:find('did you mean "force"', 1, true) then fail(found.message) end
local line = vim.api.nvim_buf_get_lines(0, found.lnum, found.lnum + 1, true)[1]
vim.api.nvim_buf_set_lines(0, found.lnum, found.lnum + 1, true, { (line:gsub("push%.forc$", "push.force")) })
if not vim.wait(60000, diagnostics(0), 50) then fail("after the mistake was mended: " .. vim.inspect(vim.diagnostic.get(0))) end
vim.api.nvim_win_set_cursor(0, { found.lnum + 1, 7 })

-- expect asks about the place of the cursor, and holds what stands in the answer.
local function expect(method, params, part)
  local text = vim.inspect(vim.lsp.buf_request_sync(0, method, params, 60000))
  if not text:find(part, 1, true) then fail(method .. ": no " .. part .. " in " .. text) end
end
expect("textDocument/hover", vim.lsp.util.make_position_params(), "a boolean")
expect("textDocument/completion", vim.lsp.util.make_position_params(), [["force"]])
vim.api.nvim_win_set_cursor(0, { found.lnum, 28 })
expect("textDocument/definition", vim.lsp.util.make_position_params(), "lib.rego")
local document = vim.lsp.util.make_text_document_params()
expect("textDocument/codeLens", { textDocument = document }, "try a line")
expect("workspace/executeCommand", { command = "gate.try", arguments = { document.uri, "git push -f" } }, "deny: acme.push: pushes by force")
print("neovim: as expected\n")
vim.cmd("qall!")
