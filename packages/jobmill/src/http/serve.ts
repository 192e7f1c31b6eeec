/** The API on a socket of its own. Bound to this machine it works at once; bound elsewhere it wants to know who asks. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { createAdaptorServer } from '@hono/node-server'
import { JobmillError, shown } from '../job/errors.ts'
import { systemPlatform } from '../platform/platform.ts'
import type { Mill } from '../runtime/mill.ts'
import { ownAnswer } from './apps.ts'
import { checkBasePath } from './base-path.ts'
import { ARRIVES_WITHIN_MS } from './door/body.ts'
import { apiFor, handlerOf, httpApi, type HttpApi, type HttpOptions } from './api.ts'

export interface ServeOptions extends HttpOptions {
  /** Default 8787; 0 for any that is free. */
  readonly port?: number
  /** The address to listen on (default 127.0.0.1). */
  readonly bind?: string
}

export interface Served {
  /** With its base path. */
  readonly url: string
  /** Whether Mission Control is there. */
  readonly hasPage: boolean
  /** Takes no more requests, and ends what is being listened to. */
  readonly close: () => Promise<void>
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/
/** How long the last answers may take. */
const LAST_MS = 2_000
const IDLE_MS = 50
/** Of a body that nobody reads yet, and of an answer that its caller does not: with many of them at once this is what memory goes to. */
const HOLD_BYTES = 16 * 1_024

export async function serve(mill: Mill<never>, options: ServeOptions = {}): Promise<Served> {
  const { port = 8787, bind = '127.0.0.1', ...rest } = options
  const api = doorFor(mill, bind, rest)
  const { platform = systemPlatform } = rest
  let closing: Promise<void> | null = null
  const server = createAdaptorServer({
    async fetch(request, env) {
      const response = await api.fetch(request, env)
      if (closing === null) return response
      const last = ownAnswer(response)
      // Who has a connection open would go on asking.
      last.headers.set('connection', 'close')
      return last
    },
    overrideGlobalObjects: false,
    serverOptions: { highWaterMark: HOLD_BYTES },
  }) as Server
  // What stands beside the API may take as long as it likes for its bodies; of ours the door says it too.
  server.requestTimeout = rest.beside === undefined ? ARRIVES_WITHIN_MS : 0
  server.headersTimeout = ARRIVES_WITHIN_MS
  server.listen(port, bind)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw notListening(error, port, bind)
  }
  async function close(): Promise<void> {
    api.stop()
    const closed = once(server, 'close')
    server.close()
    // What is in flight is answered, and then its connection ends; callers that do not read their answer are not waited for.
    const endIdle = (): void => {
      server.closeIdleConnections()
      idle = platform.timer(IDLE_MS, endIdle)
    }
    let idle = platform.timer(0, endIdle)
    const late = platform.timer(LAST_MS, () => server.closeAllConnections())
    await closed
    idle.cancel()
    late.cancel()
  }
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}${checkBasePath(rest.basePath ?? '')}`,
    hasPage: api.hasPage,
    close: () => (closing ??= close()),
  }
}

function doorFor(mill: Mill<never>, bind: string, options: HttpOptions): HttpApi {
  const isOpen = options.tokens === undefined && options.whoIs === undefined && options.insecure !== true
  if (!isOpen) return httpApi(mill, options)
  if (!LOOPBACK.test(bind))
    throw new JobmillError(
      'OPTION_INVALID',
      'others than this machine could reach it, and nobody would have to say who they are',
      {
        field: 'bind',
        value: shown(bind),
        fix: 'Give tokens (JOBMILL_TOKENS or JOBMILL_TOKENS_FILE: a line "name role token" for each), or say --insecure',
      },
    )
  return handlerOf(
    apiFor(mill, {
      ...options,
      onlyLocal: true,
      whoIs: () => ({ name: 'local', role: 'admin' }),
    }),
  )
}

function notListening(error: unknown, port: number, bind: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  const field = code === 'EADDRINUSE' || code === 'EACCES' ? 'port' : code === 'EADDRNOTAVAIL' ? 'bind' : null
  if (field === null) return error
  const why = { EADDRINUSE: 'somebody else listens there', EACCES: 'this user may not listen there' }[
    String(code)
  ]
  return new JobmillError('OPTION_INVALID', why ?? 'this machine has no such address', {
    field,
    value: shown(field === 'port' ? port : bind),
    fix: field === 'port' ? 'Choose another with --port' : 'Choose another with --bind',
    cause: error,
  })
}
