/** Faults in connections, bodies and event streams: what a caller could hold, fill or outlive. */
import type { TestedMutant } from '../mutant.ts'

const TESTS = 'packages/jobmill/test'

export const CONNECTIONS: readonly TestedMutant[] = [
  {
    name: 'http: requests that a client sends ahead start at once',
    file: 'probes/in-turn.ts',
    find: 'isNext && (connection.isBusy || !socket.writable)',
    replace: 'isNext && !socket.writable',
    test: {
      file: 'packages/server/test/connections.test.ts',
      name: 'S1 few of the requests that a client pipelines',
    },
  },
  {
    name: 'http: all requests of a chunk are parsed at once',
    file: 'probes/in-turn.ts',
    find: 'return found + END.length',
    replace: 'return data.length',
    test: {
      file: 'packages/server/test/connections.test.ts',
      name: 'S1 of the requests that a client pipelines, Node parses one',
    },
  },
  {
    name: 'http: the requests that clients send ahead have no bound in bytes',
    file: 'probes/in-turn.ts',
    find: 'return total <= mostBytes',
    replace: 'return total >= 0',
    test: {
      file: 'packages/server/test/connections.test.ts',
      name: 'S1 while too many bytes of requests wait',
    },
  },
  {
    name: 'http: a response that its client does not read holds its connection',
    file: 'probes/bounded-server.ts',
    find: 'socket.writableLength === 0',
    replace: 'socket.writableLength >= 0',
    test: {
      file: 'packages/server/test/connections.test.ts',
      name: 'S1 a connection is closed when its client reads nothing',
    },
  },
  {
    name: 'http: small chunks of a body are kept one by one',
    file: 'probes/pieces.ts',
    find: 'chunk.length < SMALL_BYTES',
    replace: 'chunk.length < 0',
    test: { file: 'packages/server/test/connections.test.ts', name: 'S1 small chunks of a body are joined' },
  },
  {
    name: 'http: small chunks of a body are parsed in one turn',
    file: 'probes/pieces.ts',
    find: 'areMany = count >= MANY',
    replace: 'areMany = count < 0',
    test: { file: 'packages/server/test/connections.test.ts', name: 'S1 small chunks of a body are joined' },
  },
  {
    name: 'http: the responses that clients do not read have no bound in bytes',
    file: 'probes/unsent.ts',
    find: 'if (total > mostBytes) closeOthers(socket)',
    replace: 'if (total < 0) closeOthers(socket)',
    test: {
      file: 'packages/server/test/connections.test.ts',
      name: 'S1 responses that slow clients do not read share a bound',
    },
  },
  {
    name: 'http: each response copies the file that it sends',
    package: 'server',
    file: 'page.ts',
    find: 'controller.enqueue(bytes)',
    replace: 'controller.enqueue(bytes.slice())',
    test: {
      file: 'packages/server/test/connections.test.ts',
      name: 'S1 the files of Mission Control are shared',
    },
  },
  {
    name: 'http: an unread body holds its connection',
    package: 'server',
    file: 'server/socket.ts',
    find: 'if (incoming.complete) return',
    replace: 'if (!incoming.destroyed) return',
    test: { file: 'packages/server/test/connections.test.ts', name: 'S1 GET with a body that never ends' },
  },
  {
    name: 'http: an event stream outlives the session of its reader',
    package: 'server',
    file: 'routes/observe/events.ts',
    find: 'if (!(await isAllowed())) return',
    replace: 'await isAllowed()',
    test: { file: 'packages/server/test/feed.test.ts', name: 'S is closed before it sends' },
  },
  {
    name: 'http: an event stream keeps the role of its start',
    package: 'server',
    file: 'routes/observe/events.ts',
    find: '    who = known\n',
    replace: '',
    test: { file: 'packages/server/test/feed.test.ts', name: 'S sends only what a lowered role' },
  },
  {
    name: 'http: the missed entries of an event stream have no bound in bytes',
    package: 'server',
    file: 'feed.ts',
    find: 'mostBytes: MOST_MISSED_BYTES, ',
    replace: '',
    test: { file: 'packages/server/test/feed.test.ts', name: 'S1 a reader that reconnects gets at most' },
  },
  {
    name: 'http: an event stream of a viewer reads audit entries',
    package: 'server',
    file: 'feed.ts',
    find: 'seesAudit ? STREAMED : WITHOUT_AUDIT',
    replace: 'STREAMED',
    test: { file: 'packages/server/test/feed.test.ts', name: 'S1 audit entries are not read' },
  },
  {
    name: 'http: a reader shares a read that lacks an entry sent before it connected',
    package: 'server',
    file: 'feed.ts',
    find: "if (news.type === 'timeline') reads.clear()",
    replace: '',
    test: { file: 'packages/server/test/feed.test.ts', name: 'S1 a reader does not share' },
  },
  {
    name: 'http: a new connection to the probes is refused while others are idle',
    file: 'probes/probes.ts',
    find: 'const [longest = socket] = idle',
    replace: 'const longest = socket',
    test: { file: `${TESTS}/probes/probes.test.ts`, name: 'S1 N17 a liveness probe' },
  },
  {
    name: 'http: the body of a response is not cancelled if its client has left',
    package: 'server',
    file: 'server/socket.ts',
    find: 'if (outgoing.destroyed) cancel()',
    replace: 'if (outgoing.destroyed) return true',
    test: {
      file: 'packages/server/test/connections.test.ts',
      name: 'S1 the body of a response is cancelled if the client left',
    },
  },
  {
    name: 'http: the body of a response is not cancelled while its first bytes are read',
    package: 'server',
    file: 'server/socket.ts',
    find: '{ value: () => (holder = read()) }',
    replace: '{ value: () => read() }',
    test: {
      file: 'packages/server/test/connections.test.ts',
      name: 'S1 the body of a response is cancelled if the client leaves',
    },
  },
]
