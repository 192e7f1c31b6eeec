/** Faults in HTTP access control, redaction, the command line and the log. */
import type { TestedMutant } from './mutant.ts'

const TESTS = 'packages/jobmill/test'

export const ACCESS: readonly TestedMutant[] = [
  {
    name: 'http: the body is read before the role is checked',
    file: 'http/app.ts',
    find: '[allow(role), takesBody,',
    replace: '[takesBody, allow(role),',
    test: { file: `${TESTS}/http/bodies.test.ts`, name: 'S1 no route reads the body' },
  },
  {
    name: 'http: a proxy is treated as a local caller',
    file: 'http/access/local.ts',
    find: "callers === 'loopback-names' ? null : refuseProxies(request, { name, port }, incoming)",
    replace: "name !== '' ? null : refuseProxies(request, { name, port }, incoming)",
    test: { file: `${TESTS}/http/local.test.ts`, name: 'S2 requests that came through a proxy' },
  },
  {
    name: 'http: the dashboard is served to callers that authenticate rejects',
    file: 'http/api.ts',
    find: 'outsider ?? (await refusePage(access.identity, request))',
    replace: 'outsider ?? (request === undefined ? await refusePage(access.identity, request) : null)',
    test: { file: `${TESTS}/http/page.test.ts`, name: 'N5 with authenticate' },
  },
  {
    name: 'http: a redact pattern keeps its position between matches',
    file: 'http/redact-keys.ts',
    find: "flags.replaceAll(/[gy]/g, '')",
    replace: 'flags',
    test: { file: `${TESTS}/http/redact.test.ts`, name: 'S6 flags that make' },
  },
  {
    name: 'the text log writes escape sequences unescaped',
    file: 'observe/text-line.ts',
    find: '`${safeLine(line)}${',
    replace: '`${line}${',
    test: { file: `${TESTS}/observe/log-events.test.ts`, name: 'S3 an error cannot write' },
  },
  {
    name: 'http: an invalid Host header is accepted',
    file: 'http/access/host.ts',
    find: 'URL.canParse(url) && new URL(url).hostname === name.toLowerCase()',
    replace: 'url.length > 0',
    test: { file: `${TESTS}/http/local.test.ts`, name: 'H5 a Host that is no authority' },
  },
  {
    name: 'http: local mode accepts a request for another host',
    file: 'http/access/local.ts',
    find: 'if (!isTargetOf(request)) return',
    replace: "if (!isTargetOf(request) && name === '') return",
    test: { file: `${TESTS}/http/local.test.ts`, name: 'H5 S2 an absolute request target' },
  },
  {
    name: 'http: a proxy header with underscores is not recognized',
    file: 'http/access/local.ts',
    find: "header.replaceAll('_', '-')",
    replace: "header.replaceAll('__', '-')",
    test: { file: `${TESTS}/http/local.test.ts`, name: 'S2 requests that came through a proxy' },
  },
  {
    name: 'http: a caller with an unknown role is accepted',
    file: 'http/access/identity.ts',
    find: 'if (!isRole(role)) throw',
    replace: "if (!isRole(role) && name === '') throw",
    test: { file: `${TESTS}/http/page.test.ts`, name: 'H5 what authenticate returns is checked' },
  },
  {
    name: 'http: a wrong value is reported as missing',
    file: 'http/wrong-value.ts',
    find: "if (value === undefined) return { detail: 'is missing'",
    replace: "if (field !== '') return { detail: 'is missing'",
    test: { file: `${TESTS}/http/access.test.ts`, name: 'H5 a value of the wrong shape' },
  },
  {
    name: 'http: secrets in JSON inside a text are shown',
    file: 'http/redact-json-text.ts',
    find: 'if (!/[:=]/.test(text)) return text',
    replace: 'if (/[:=]/.test(text)) return text',
    test: { file: `${TESTS}/http/redact.test.ts`, name: 'H6 S6 secrets in names and values' },
  },
  {
    name: 'cli: a kind that the config does not define is enqueued',
    file: 'cli/enqueue/known-kind.ts',
    find: "parsed.has('unknown-kind')) return",
    replace: "parsed.has('unknown-kind') || kind !== '') return",
    test: { file: `${TESTS}/cli/enqueue.test.ts`, name: 'a kind that the config does not define is refused' },
  },
  {
    name: 'http: requests that a client sends ahead start at once',
    file: 'http/in-turn.ts',
    find: 'if (before === undefined) {',
    replace: 'if (before === undefined || before.length === 0) {',
    test: { file: `${TESTS}/http/connections.test.ts`, name: 'S1 of the requests that a client sends ahead' },
  },
  {
    name: 'http: each response copies the file that it sends',
    file: 'http/page.ts',
    find: 'controller.enqueue(bytes)',
    replace: 'controller.enqueue(bytes.slice())',
    test: { file: `${TESTS}/http/connections.test.ts`, name: 'S1 the files of Mission Control are shared' },
  },
  {
    name: 'http: an unread body holds its connection',
    file: 'http/socket.ts',
    find: 'if (incoming.complete) return',
    replace: 'if (!incoming.destroyed) return',
    test: { file: `${TESTS}/http/connections.test.ts`, name: 'S1 GET with a body that never ends' },
  },
]
