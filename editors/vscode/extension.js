// Starts gate lsp for policies and what belongs to them. The server does the work; the
// one command of the extension asks for a line to try.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate(context) {
	const settings = vscode.workspace.getConfiguration("gate");
	const as = settings.get("as");
	const server = { command: settings.get("path"), args: as ? ["lsp", "--as", as] : ["lsp"] };
	const files = (pattern) => ({ scheme: "file", pattern });
	client = new LanguageClient("gate", "gate", server, {
		documentSelector: [
			files("**/*.rego"),
			files("**/*_cases.yaml"),
			files("**/{settings,settings.local,hooks}.{json,toml,yaml,yml}"),
			files("**/hooks.d/*"),
		],
		initializationOptions: { tryLine: true },
		synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{rego,yaml,yml,toml,json}") },
	});
	context.subscriptions.push(vscode.commands.registerCommand("gate.tryLine", tryLine));
	await client.start();
}

// tryLine asks for a line, and has the server decide about it. uri is the policy's; from
// the list of commands it is the one that is being edited.
async function tryLine(uri) {
	const of = uri || vscode.window.activeTextEditor?.document.uri.toString();
	if (!of) return;
	const line = await vscode.window.showInputBox({ prompt: "A shell line; gate decides about it, and it does not run", placeHolder: "git push --force" });
	if (line) await vscode.commands.executeCommand("gate.try", of, line);
}

function deactivate() {
	return client?.stop();
}

module.exports = { activate, deactivate };
