/** A webhook on a real socket that answers as a test prescribes and records its requests. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Received {
  readonly update_id: number
  readonly message: { readonly text: string; readonly chat: { readonly id: number } }
}

export interface Receiver {
  readonly url: string
  /** In the order of arrival, refused ones included. */
  readonly updates: readonly Received[]
  readonly headers: readonly IncomingMessage['headers'][]
  /** The maximum number of concurrent requests. */
  readonly most: () => number
}

export type Answer = (update: Received, response: ServerResponse) => void | undefined | Promise<void>

export async function receiver(answer: Answer = () => {}): Promise<Receiver> {
  const updates: Received[] = []
  const headers: IncomingMessage['headers'][] = []
  let here = 0
  let most = 0
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    most = Math.max(most, (here += 1))
    response.on('close', () => (here -= 1))
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const update = JSON.parse(Buffer.concat(chunks).toString()) as Received
    updates.push(update)
    headers.push(request.headers)
    await answer(update, response)
    response.end()
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return { url, updates, headers, most: () => most }
}
