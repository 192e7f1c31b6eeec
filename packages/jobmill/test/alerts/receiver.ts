/** A real receiver of webhooks on loopback, which checks signatures as the documentation shows. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { isSigned } from '../../../../examples/alert-receiver/verify.ts'

export const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
export const OTHER_SECRET = `whsec_${Buffer.from('fedcba9876543210fedcba9876543210').toString('base64')}`

interface Received {
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly path: string
  readonly text: string
  readonly body: {
    readonly type: string
    readonly timestamp: string
    readonly data: Readonly<Record<string, unknown>>
  }
}

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** The next answers, by their status. Then 204. */
  readonly answers: number[]
  /** Resolves once that many requests have arrived. */
  until(count: number): Promise<void>
  /** Whether the signature of a request is right, for the clock of its sender. */
  isSigned(request: Received, secret?: string): boolean
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}

export async function receiver(): Promise<Receiver> {
  const received: Received[] = []
  const answers: number[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      const { headers, url: path = '' } = request
      const body = JSON.parse(text) as Received['body']
      received.push({ id: String(headers['webhook-id']), headers, path, text, body })
      response.writeHead(answers.shift() ?? 204, { location: '/elsewhere', connection: 'close' }).end()
      server.emit('received')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answers,
    async until(count) {
      while (received.length < count) await once(server, 'received')
    },
    isSigned({ headers, text }, secret = SECRET) {
      const now = Number(headers['webhook-timestamp']) * 1_000
      return isSigned({ headers, body: text, secret, now })
    },
  }
}
