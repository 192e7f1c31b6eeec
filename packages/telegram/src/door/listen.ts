/** The socket of the gateway. Closing it answers what is being asked, and takes nothing more. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address } from '../config/config.ts'

export interface Door {
  readonly url: string
  readonly close: () => Promise<void>
}

/** A body that takes longer than this is nobody's update. */
const REQUEST_MS = 30_000

export async function listen(
  { host, port }: Address,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Door> {
  let isClosing = false
  const server = createServer((request, response) => {
    // Who has a connection open would go on asking.
    if (isClosing) response.setHeader('connection', 'close')
    answer(request, response).catch(() => response.destroy())
  })
  server.requestTimeout = REQUEST_MS
  server.listen(port, host)
  await once(server, 'listening')
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    async close() {
      isClosing = true
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}
