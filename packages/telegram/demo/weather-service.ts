/** An example of your own service: it verifies the signature and answers with a text. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signature } from 'jobmill-telegram'

export async function weatherService(
  secret: string,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer((request, response) => void take(request, response))
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const signatureHeader = String(request.headers['x-jobmill-signature'])
    const seconds = Number(/^t=(\d+)/.exec(signatureHeader)?.[1])
    if (signatureHeader !== signature(secret, body, seconds)) return void response.writeHead(401).end()
    const { message } = JSON.parse(body) as { message: { text: string } }
    response.end(JSON.stringify({ text: `In ${message.text} it is sunny, as always.` }))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      await closed
    },
  }
}
