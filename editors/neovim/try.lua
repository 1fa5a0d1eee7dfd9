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
local answers = vim.lsp.buf_request_sync(0, "textDocument/hover", vim.lsp.util.make_position_params(), 60000)
local text = vim.inspect(answers)
if not text:find("a boolean", 1, true) then fail("hover: " .. text) end
print("neovim: diagnostics and hover as expected\n")
vim.cmd("qall!")
