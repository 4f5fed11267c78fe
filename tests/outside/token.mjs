// Puts the token into every request that goes to the server under test: the suite knows no way to be given one.
// It asks through fetch and through undici (both use undici's global dispatcher) and through node:http.
import { createRequire } from "node:module";
import http from "node:http";

const { JUDGED_ORIGIN: origin, JUDGED_TOKEN: token } = process.env;
const judged = new URL(origin);
const authorization = `Bearer ${token}`;
const { Agent, setGlobalDispatcher } = createRequire(process.argv[1])("undici");

function withToken(headers) {
  if (Array.isArray(headers)) return [...headers, "authorization", authorization];
  if (headers && typeof headers[Symbol.iterator] === "function") return [...headers, ["authorization", authorization]];
  return { ...headers, authorization };
}

setGlobalDispatcher(
  new Agent().compose((dispatch) => (options, handler) => {
    const target = new URL(String(options.origin));
    const ours = target.port === judged.port;
    return dispatch(ours ? { ...options, headers: withToken(options.headers) } : options, handler);
  }),
);

const request = http.request;
http.request = function (target, ...rest) {
  const made = request.call(http, target, ...rest);
  if (made.getHeader("host")?.endsWith(`:${judged.port}`) || made.host === judged.hostname) {
    made.setHeader("authorization", authorization);
  }
  return made;
};
