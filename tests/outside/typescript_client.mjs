// One client of the TypeScript SDK against the server under test; prints what it saw as one line of JSON.
//   node typescript_client.mjs PACKAGE URL TOKEN     PACKAGE: the folder of the SDK; version 1 or 2
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , folder, url, token] = process.argv;
const require = createRequire(`${folder}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const two = folder.endsWith("client");
const { Client } = await load(two ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load(
  two ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client/streamableHttp.js",
);

async function connected(secret) {
  const options = two ? { versionNegotiation: { mode: "auto" } } : {};
  const client = new Client({ name: "judge", version: "1" }, options);
  const headers = secret === null ? {} : { Authorization: `Bearer ${secret}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  return { client, transport };
}

const { client, transport } = await connected(token);
const seen = { protocol: transport.protocolVersion ?? client.getNegotiatedProtocolVersion?.() };
seen.tools = (await client.listTools()).tools.filter((tool) => tool.name === "test_simple_text").length;
const call = (name, more = []) => client.callTool({ name, arguments: {} }, ...more);
seen.text = (await call("test_simple_text")).content[0].text;
const failed = await call("test_error_handling");
seen.error = [failed.isError, failed.content[0].text];
seen.unknown = await call("nothing").then(() => null, (error) => error.code);
seen.resource = (await client.readResource({ uri: "test://static-text" })).contents[0].text;
seen.missing = await client.readResource({ uri: "test://nothing" }).then(() => null, (error) => error.code);
seen.prompt = (await client.getPrompt({ name: "test_simple_prompt" })).messages[0].content.text;
seen.progress = [];
const report = { onprogress: ({ progress, total }) => seen.progress.push([progress, total]) };
await call("test_tool_with_progress", two ? [report] : [undefined, report]);
await client.close();
seen.refused = await connected(null).then(() => false, () => true);
console.log(JSON.stringify(seen));
process.exit(0);
