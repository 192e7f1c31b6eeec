/** The fake model and the fake tools behind an HTTP server. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type ChatRequest, complete } from './fake-model.ts'
import { fakeTools } from './fake-tools.ts'

export interface ServedServices {
  readonly url: string
  /** How many flights are booked. */
  readonly bookings: () => number
  close(): Promise<void>
}

interface ServiceOptions {
  /** Called for each request, before its service runs. */
  readonly asked: (idempotencyKey: string) => Promise<void>
  /** Called after the service ran, before it answers. False: it does not answer. */
  readonly mayAnswer: (path: string) => boolean
}

export async function serveServices({ asked, mayAnswer }: ServiceOptions): Promise<ServedServices> {
  const tools = fakeTools()
  async function answer(request: IncomingMessage): Promise<unknown> {
    const { url: path = '' } = request
    const key = String(request.headers['idempotency-key'])
    const body: unknown = await json(request)
    await asked(key)
    if (path === '/v1/chat/completions') return complete(body as ChatRequest)
    return tools.run(path.replace('/tools/', ''), body as Record<string, string>, key)
  }
  const server = createServer((request, response) => {
    const reply = (status: number, body: unknown): void => {
      if (mayAnswer(request.url ?? '')) response.writeHead(status).end(JSON.stringify(body))
    }
    answer(request).then(
      (body) => reply(200, body),
      (error: unknown) => reply(500, { error: String(error) }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    bookings: () => tools.bookings(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
