/** The socket of the gateway. Closing it answers what is being asked, and takes nothing more. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { JobmillError } from 'jobmill'
import type { Address } from '../config/config.ts'

export interface Listener {
  readonly url: string
  readonly close: () => Promise<void>
}

/** A body that takes longer than this is nobody's update. */
const REQUEST_MS = 30_000
/** Node looks for requests that take too long so often; by itself twice a minute, so that 30 s would become 60. */
const CHECK_MS = 1_000
/** How long the last answers may take. */
export const LAST_MS = 40_000

export async function listen(
  { host, port }: Address,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  headersMs = REQUEST_MS,
): Promise<Listener> {
  let answering = 0
  let onQuiet: (() => void) | null = null
  const server = createServer({ connectionsCheckingInterval: CHECK_MS }, (request, response) => {
    answering += 1
    // Who has a connection open would go on asking.
    if (onQuiet !== null) response.setHeader('connection', 'close')
    response.once('close', () => {
      answering -= 1
      if (answering === 0) onQuiet?.()
    })
    answer(request, response).catch(() => response.destroy())
  })
  server.requestTimeout = REQUEST_MS
  server.headersTimeout = headersMs
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw notListening(error, { host, port })
  }
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      // Connections on which nothing is being answered are ended, also those that have said nothing yet or only half of it.
      const quiet = Promise.withResolvers<void>()
      onQuiet = quiet.resolve
      if (answering === 0) quiet.resolve()
      const late = setTimeout(quiet.resolve, LAST_MS)
      await quiet.promise
      clearTimeout(late)
      server.closeAllConnections()
      await closed
    },
  }
}

/** Which variable to change, where the system only says a number. */
function notListening(error: unknown, { host, port }: Address): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const why = { EADDRINUSE: 'somebody else listens there', EACCES: 'this user may not listen there' }[code]
  if (why === undefined && code !== 'EADDRNOTAVAIL') return error
  return new JobmillError('OPTION_INVALID', why ?? 'this machine has no such address', {
    field: 'listen',
    value: `${host}:${port}`,
    fix: 'Choose another: listen in the config, or LISTEN',
    cause: error,
  })
}
