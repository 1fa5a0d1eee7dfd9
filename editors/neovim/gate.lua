-- gate lsp for Neovim from 0.7 on, without plugins: put this file where init.lua can
-- require it, or its text into init.lua.
vim.filetype = vim.filetype or {}
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = { "*.rego" },
  callback = function() vim.bo.filetype = "rego" end,
})

local gate -- the id of the one server

local function attach(args)
  gate = gate or vim.lsp.start_client({
    name = "gate",
    cmd = { vim.env.GATE or "gate", "lsp" },
    root_dir = vim.fn.getcwd(),
    init_options = { tryLine = true },
    on_exit = function() gate = nil end,
  })
  if gate then vim.lsp.buf_attach_client(args.buf, gate) end
end

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = { "*.rego", "*_cases.yaml", "*/.gate/*.yaml", "*/.gate/*.toml", "*/.gate/*.json" },
  callback = attach,
})

-- The code lens at package asks for a line; vim.lsp.codelens.run() runs lenses.
vim.lsp.commands["gate.tryLine"] = function(command)
  vim.ui.input({ prompt = "Line to try: " }, function(line)
    if not line or line == "" then return end
    vim.lsp.buf_request(0, "workspace/executeCommand", { command = "gate.try", arguments = { command.arguments[1], line } }, function() end)
  end)
end
