/** The HTTP server of the gateway. Closing it answers open requests and accepts no new ones. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { JobmillError } from 'jobmill'
import { boundedServer } from 'jobmill-server'
import type { Address } from '../config/config.ts'
import { codeOf } from '../work/call.ts'

/** Far longer than Telegram takes to send an update. */
const REQUEST_MS = 30_000

export async function listen(
  { host, port }: Address,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  headersMs = REQUEST_MS,
) {
  let answering = 0
  let onQuiet: (() => void) | null = null
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answering += 1
    // Without this header, a keep-alive client would keep sending requests.
    if (onQuiet !== null) response.setHeader('connection', 'close')
    response.once('close', () => {
      answering -= 1
      if (answering === 0) onQuiet?.()
    })
    answer(request, response).catch(() => response.destroy())
  }
  const server = boundedServer(listener, { headersMs, requestMs: REQUEST_MS })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw notListening(error, { host, port }, 'listen', 'LISTEN')
  }
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    /** Answers open requests until `late` resolves. */
    close: async (late: Promise<void>): Promise<void> => {
      const closed = once(server, 'close')
      server.close()
      // Wait for open requests, then close all connections, including idle ones and half-sent requests.
      const quiet = Promise.withResolvers<void>()
      onQuiet = quiet.resolve
      if (answering === 0) quiet.resolve()
      await Promise.race([quiet.promise, late])
      server.closeAllConnections()
      await closed
    },
  }
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address is already in use',
  EACCES: 'this user has no permission to listen on this address',
}

/** An address of another machine, a name that does not resolve, and an invalid address. */
const NO_ADDRESS = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL', 'EAFNOSUPPORT'])

/** Names the setting to change: the system error, which is `error` or its cause, has only a code. */
export function notListening(
  error: unknown,
  { host, port }: Address,
  field: string,
  variable: string,
): unknown {
  const code = codeOf(error instanceof Error ? (error.cause ?? error) : error)
  const why = NO_ADDRESS.has(code) ? 'address does not exist on this machine' : WHY[code]
  if (why === undefined) return error
  return new JobmillError('OPTION_INVALID', why, {
    field,
    value: `${host}:${port}`,
    fix: `Set another address: ${field} in the config, or ${variable}`,
    cause: error,
  })
}
